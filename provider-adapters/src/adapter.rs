//! What every model API has in common: a body encoder and a stream decoder.
//! A new API is one module that implements these.

use crate::failure::Failure;
use agentx_core::model::{Delta, ModelRequest};
use std::fmt;

/// A model API at one place, for one model.
pub(crate) trait Adapter: fmt::Debug + Send + Sync {
    /// The request of every call, without its body.
    fn template(&self) -> &crate::http::HttpRequest;

    /// Starts to encode a body.
    fn encoder(&self, request: ModelRequest) -> Box<dyn Encode>;

    /// A decoder for the body of one successful answer.
    fn decoder(&self) -> Box<dyn Decode>;
}

/// Encodes one body in steps, so that a long history never holds up the
/// reader of stdin (DEC-28).
pub(crate) trait Encode: fmt::Debug + Send {
    /// Does one step; the body when it is whole.
    fn step(&mut self) -> Result<Option<Vec<u8>>, Failure>;
}

/// Decodes the body of one answer, given in pieces of any size.
pub(crate) trait Decode: fmt::Debug + Send {
    /// Takes the next bytes and appends what they complete to `out`.
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<Delta>) -> Step;

    /// Takes the end of a body that is complete as its framing says.
    fn end(&mut self, out: &mut Vec<Delta>) -> Step;

    /// Whether anything of an answer has been seen; from then on the request
    /// must not be sent again.
    fn begun(&self) -> bool;
}

/// How far a decoder has come.
#[derive(Debug)]
pub(crate) enum Step {
    /// The answer goes on.
    More,
    /// The answer is whole; its `Delta::Stop` came last. What follows on the
    /// connection is of no interest.
    Finished,
    /// The answer is lost.
    Failed(Failure),
}
