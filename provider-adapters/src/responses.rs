//! The Responses API, as `OpenAI`, Azure and compatible servers speak it.
//!
//! Nothing is kept at the server: every request carries the whole history, and
//! reasoning comes back to us encrypted, to be sent again unchanged.

mod decode;
mod encode;
mod ending;
mod items;
mod parts;

use crate::adapter::{Adapter, Decode, Encode};
use crate::body::OutputLimit;
use crate::http::HttpRequest;
use crate::stream;
use agentx_core::model::ModelRequest;
use std::sync::Arc;

/// One model behind one Responses endpoint.
#[derive(Debug)]
pub(crate) struct Responses {
    template: HttpRequest,
    body: Arc<BodyOptions>,
}

/// What the bodies of all requests share.
#[derive(Debug)]
struct BodyOptions {
    /// The model, in Azure the deployment.
    model: Arc<str>,
    output_limit: OutputLimit,
}

impl Responses {
    /// `untold_from` as in [`OutputLimit`].
    pub(crate) fn new(template: HttpRequest, model: Arc<str>, untold_from: Option<u64>) -> Self {
        let output_limit = OutputLimit {
            member: "max_output_tokens",
            untold_from,
        };
        Self {
            template,
            body: Arc::new(BodyOptions {
                model,
                output_limit,
            }),
        }
    }
}

impl Adapter for Responses {
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
