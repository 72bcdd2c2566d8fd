//! How long the body of an answer is: the rules that two readers must not
//! judge differently.

use super::super::failure::AnswerFault;
use super::head::ParsedHead;

/// How the body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// After so many bytes.
    Counted(u64),
    /// With the last chunk.
    Chunked,
    /// With the stream.
    UntilClose,
}

/// Decides the framing of a final answer.
///
/// Length fields are judged even where no body may come, so that an answer
/// never hangs between two readings. `transfer-encoding` must be exactly one
/// `chunked`, from an HTTP/1.1 peer and without a length beside it.
pub(super) fn of(parsed: &ParsedHead, bodiless: bool) -> Result<Framing, AnswerFault> {
    let mut length = None;
    let mut chunked = false;
    for (name, value) in &parsed.head.headers {
        match name.as_str() {
            "content-length" => {
                for element in value.split(',') {
                    let said = content_length(element)?;
                    if length.is_some_and(|before| before != said) {
                        return Err(AnswerFault::ContentLength);
                    }
                    length = Some(said);
                }
            }
            "transfer-encoding" => {
                if chunked || parsed.http_1_0 || !value.trim().eq_ignore_ascii_case("chunked") {
                    return Err(AnswerFault::TransferEncoding);
                }
                chunked = true;
            }
            _ => {}
        }
    }
    if chunked && length.is_some() {
        return Err(AnswerFault::TwoFramings);
    }
    if bodiless || matches!(parsed.head.status, 204 | 304) {
        return Ok(Framing::Counted(0));
    }
    Ok(match length {
        Some(length) => Framing::Counted(length),
        None if chunked => Framing::Chunked,
        None => Framing::UntilClose,
    })
}

/// One decimal length: digits only, since `u64::from_str` takes a sign.
fn content_length(element: &str) -> Result<u64, AnswerFault> {
    let digits = element.trim_matches([' ', '\t']);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(AnswerFault::ContentLength);
    }
    digits.parse().map_err(|_| AnswerFault::ContentLength)
}
