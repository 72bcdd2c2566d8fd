//! The Chat Completions API, as `OpenAI` and compatible servers speak it.

mod calls;
mod decode;
mod encode;

use crate::adapter::{Adapter, Decode, Encode};
use crate::body::OutputLimit;
use crate::http::HttpRequest;
use crate::stream;
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
        Box::new(encode::encoder(&self.body, request))
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(stream::Decoder::<decode::Answer>::default())
    }
}
