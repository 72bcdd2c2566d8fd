//! Collecting and parsing the head of an answer.

use super::super::failure::AnswerFault;
use super::take;

/// Most header fields in one head.
pub const MAX_FIELDS: usize = 128;

/// What every answer we understand begins with.
const PREFIX: &[u8] = b"HTTP/1.";

/// Status and header fields of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// Status, 200 to 999.
    pub status: u16,
    /// Fields in order; names in lower case, values as text (bytes that are no
    /// UTF-8 become U+FFFD).
    pub headers: Vec<(String, String)>,
}

/// A parsed head and what framing needs beside it.
#[derive(Debug)]
pub(super) struct ParsedHead {
    pub(super) head: ResponseHead,
    /// Whether the peer speaks HTTP/1.0.
    pub(super) http_1_0: bool,
}

/// Collects the bytes of one head, line by line.
#[derive(Debug, Default)]
pub(super) struct HeadReader {
    bytes: Vec<u8>,
    /// Where the line that is being collected starts.
    line: usize,
}

impl HeadReader {
    /// Whether nothing was collected yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes bytes up to and including the blank line. Returns whether it came.
    pub(super) fn fill(&mut self, input: &mut &[u8], limit: usize) -> Result<bool, AnswerFault> {
        while !input.is_empty() {
            let room = limit.saturating_sub(self.bytes.len());
            if room == 0 {
                return Err(AnswerFault::HeadTooLarge);
            }
            let window = input.get(..room).unwrap_or(*input);
            let end = memchr::memchr(b'\n', window).map(|at| at + 1);
            self.bytes
                .extend_from_slice(take(input, end.unwrap_or(window.len())));
            if self.bytes.iter().zip(PREFIX).any(|(is, must)| is != must) {
                return Err(AnswerFault::NotHttp);
            }
            if end.is_some() && self.finish_line()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Judges a collected line. Returns whether it is the blank one.
    fn finish_line(&mut self) -> Result<bool, AnswerFault> {
        let line = self.bytes.get(self.line..).unwrap_or_default();
        let blank = line == b"\r\n";
        if !line.ends_with(b"\r\n") {
            return Err(AnswerFault::LineEnd);
        }
        self.line = self.bytes.len();
        Ok(blank)
    }

    /// Parses the complete head.
    pub(super) fn parse(&self) -> Result<ParsedHead, AnswerFault> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        match response.parse(&self.bytes) {
            Ok(httparse::Status::Complete(end)) if end == self.bytes.len() => {}
            Ok(_) => return Err(AnswerFault::Field),
            Err(httparse::Error::TooManyHeaders) => return Err(AnswerFault::TooManyFields),
            Err(httparse::Error::Status | httparse::Error::Version) => {
                return Err(AnswerFault::StatusLine);
            }
            Err(_) => return Err(AnswerFault::Field),
        }
        let status = response.code.filter(|code| (100..=999).contains(code));
        let headers = response.headers.iter().map(|field| {
            let value = String::from_utf8_lossy(field.value).into_owned();
            (field.name.to_ascii_lowercase(), value)
        });
        Ok(ParsedHead {
            head: ResponseHead {
                status: status.ok_or(AnswerFault::StatusLine)?,
                headers: headers.collect(),
            },
            http_1_0: response.version == Some(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The search for the blank line never looks at a byte twice: one that
    /// appears where it has been is not found, so the work stays linear.
    #[test]
    fn the_search_goes_on_where_it_stopped() {
        let mut reader = HeadReader::default();
        let mut input = b"HTTP/1.1 200 OK\r\nx: 0123456789".as_slice();
        assert_eq!(reader.fill(&mut input, 1000), Ok(false));
        let at = reader.bytes.len() - 8;
        reader.bytes[at..at + 4].copy_from_slice(b"\r\n\r\n");
        assert_eq!(reader.fill(&mut b"more".as_slice(), 1000), Ok(false));
        assert_eq!(reader.fill(&mut b"\r\n".as_slice(), 1000), Ok(false));
        assert_eq!(reader.fill(&mut b"\r\n".as_slice(), 1000), Ok(true));
    }
}
