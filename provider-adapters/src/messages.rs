//! The Messages API, as Anthropic and compatible servers speak it.

mod blocks;
mod decode;
mod encode;

use crate::adapter::{Adapter, Decode, Encode};
use crate::http::HttpRequest;
use crate::stream;
use agentx_core::model::ModelRequest;
use std::sync::Arc;

/// One model behind one Messages endpoint.
#[derive(Debug)]
pub(crate) struct Messages {
    template: HttpRequest,
    body: Arc<BodyOptions>,
}

/// What the bodies of all requests share.
#[derive(Debug)]
struct BodyOptions {
    model: Arc<str>,
    bound: TokenBound,
}

/// Which upper bound of an answer is told. The API asks for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenBound {
    /// That of the request: somebody declared it.
    Declared,
    /// That of the request below `from`, else `told`: a default that nobody
    /// declared may be above the model's own, which servers refuse.
    Default { from: u64, told: u64 },
}

impl TokenBound {
    const fn of(self, requested: u64) -> u64 {
        match self {
            Self::Default { from, told } if requested >= from => told,
            Self::Declared | Self::Default { .. } => requested,
        }
    }
}

impl Messages {
    pub(crate) fn new(template: HttpRequest, model: Arc<str>, bound: TokenBound) -> Self {
        Self {
            template,
            body: Arc::new(BodyOptions { model, bound }),
        }
    }
}

impl Adapter for Messages {
    fn template(&self) -> &HttpRequest {
        &self.template
    }

    fn encoder(&self, request: ModelRequest) -> Box<dyn Encode> {
        Box::new(encode::encoder(&self.body, request))
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(stream::Decoder::<decode::Answer>::default())
    }
}
