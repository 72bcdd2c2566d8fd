//! Lines out of a stream, beside a reader that has all of it at once.

use crate::seed;
use agentx_core::frame::{FrameError, Framer, Line};
use agentx_core::limits::Limits;

/// A ceiling that inputs can reach, in bytes.
const RECORD_BYTES: usize = 96;
/// The same for a line that begins as an import record does.
const IMPORT_RECORD_BYTES: usize = 48;

/// A line, or why there is none: number, byte, reason, what is shown of it.
type Said = Result<(u64, Vec<u8>, bool), (u64, usize, &'static str, Vec<u8>)>;

fn said(line: Result<Line<'_>, FrameError<'_>>) -> Said {
    line.map(|line| (line.number, line.bytes.to_vec(), line.from_end))
        .map_err(|fault| {
            let source = fault.source.to_vec();
            (fault.line, fault.byte, fault.reason, source)
        })
}

/// Any stream: however it is cut, the lines are those that it has.
pub fn target(data: &[u8]) {
    let limits = Limits {
        record_bytes: RECORD_BYTES,
        import_record_bytes: IMPORT_RECORD_BYTES,
        ..Limits::DEFAULT
    };
    let whole = frame(&limits, &[data]);
    assert_eq!(whole, frame(&limits, &seed::pieces(data)), "cut");
    assert_eq!(whole, frame(&limits, &seed::singles(data)), "byte by byte");
    let told: Vec<_> = whole.iter().map(brief).collect();
    assert_eq!(told, plain(data));
}

fn frame(limits: &Limits, pieces: &[&[u8]]) -> Vec<Said> {
    let mut framer = Framer::new(limits);
    let mut all = Vec::new();
    for mut piece in pieces.iter().copied() {
        while let Some(line) = framer.next(&mut piece) {
            all.push(said(line));
        }
        assert!(piece.is_empty() && framer.held() <= RECORD_BYTES);
    }
    all.extend(framer.end().map(said));
    assert_eq!(framer.end(), None);
    all
}

/// What the plain reader tells: a line with its number, or the place of a fault.
type Told = Result<(u64, Vec<u8>), (u64, usize)>;

fn brief(said: &Said) -> Told {
    match said {
        Ok((number, bytes, _)) => Ok((*number, bytes.clone())),
        Err((number, byte, ..)) => Err((*number, *byte)),
    }
}

/// Reads the whole stream with nothing but a split at each newline.
fn plain(data: &[u8]) -> Vec<Told> {
    let mut all = Vec::new();
    let mut lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    // Behind the last newline there is a line only if there is something.
    lines.pop_if(|last| last.is_empty());
    for (number, line) in (1..).zip(lines) {
        let fault = if line.len() > IMPORT_RECORD_BYTES && is_import(line) {
            Some(IMPORT_RECORD_BYTES)
        } else if line.len() > RECORD_BYTES {
            Some(RECORD_BYTES)
        } else {
            line.starts_with(b"\xEF\xBB\xBF").then_some(0)
        };
        if let Some(at) = fault {
            all.push(Err((number, at + 1)));
            break;
        }
        if !line.iter().all(|byte| b" \t\r".contains(byte)) {
            all.push(Ok((number, line.to_vec())));
        }
    }
    all
}

/// Whether a line begins as an import record does, within what of it is kept.
fn is_import(line: &[u8]) -> bool {
    let mut rest = line.get(..RECORD_BYTES).unwrap_or(line);
    let tokens: [&[u8]; 4] = [b"{", b"\"type\"", b":", b"\"attachment_import\""];
    tokens.iter().all(|token| {
        while let Some((b' ' | b'\t' | b'\r', after)) = rest.split_first() {
            rest = after;
        }
        let after = rest.strip_prefix(*token);
        rest = after.unwrap_or(rest);
        after.is_some()
    })
}
