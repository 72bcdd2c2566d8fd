//! The Chat Completions API, as `OpenAI` and compatible servers speak it.

mod calls;
mod decode;
mod encode;

use crate::adapter::{Adapter, Decode, Encode};
use crate::http::HttpRequest;
use agentx_core::model::ModelRequest;
use std::sync::Arc;

/// One model behind one Chat Completions endpoint.
#[derive(Debug)]
pub(crate) struct Chat {
    template: HttpRequest,
    body: Arc<BodyOptions>,
}

/// What the bodies of all requests share.
#[derive(Debug)]
struct BodyOptions {
    model: Arc<str>,
    output_limit: OutputLimit,
}

/// How the upper bound of an answer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputLimit {
    /// Name of the member: `OpenAI` has replaced `max_tokens`, which its newer
    /// models refuse, by `max_completion_tokens`; other servers know the old
    /// name only.
    pub(crate) member: &'static str,
    /// Bounds from here on are not told. They are defaults that nobody has
    /// declared, and servers refuse a bound above their own.
    pub(crate) untold_from: Option<u64>,
}

impl Chat {
    pub(crate) fn new(template: HttpRequest, model: Arc<str>, output_limit: OutputLimit) -> Self {
        Self {
            template,
            body: Arc::new(BodyOptions {
                model,
                output_limit,
            }),
        }
    }
}

impl Adapter for Chat {
    fn template(&self) -> &HttpRequest {
        &self.template
    }

    fn encoder(&self, request: ModelRequest) -> Box<dyn Encode> {
        Box::new(encode::Encoder::new(&self.body, request))
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(decode::Decoder::default())
    }
}
