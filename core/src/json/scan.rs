//! The scanner: one pass over one text.

use super::error::{Reason, ScanError};
use super::names::{Names, Seen};
use super::stops::{Marks, Stops};
use super::text::{Escape, escape};
use super::token::{self, byte, skip_space, unexpected};
use super::value::{Kind, Node, Value};
use alloc::vec::Vec;

/// How deep a text may nest, and how deep the scanner keeps track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// Most arrays and objects that may be open at once (DEC-06). Default 128.
    pub max_depth: usize,
    /// Containers nested up to so deep are indexed while they are scanned.
    /// Deeper ones are checked all the same, but each is kept as one span and
    /// read again from the text when it is looked into. Default 10.
    pub node_depth: usize,
}

impl ScanLimits {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        max_depth: 128,
        node_depth: 10,
    };
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Scratch above so many bytes is given back after a record.
const KEEP: usize = 1 << 20;
/// So many nodes any text may have. A longer text may have one for each
/// sixteen bytes, so that its index is never larger than itself.
const MOST_NODES: usize = 16 * 1024;

/// Reads JSON texts. It owns nothing but scratch memory, so one scanner serves
/// any number of sessions of a thread; in the steady state it allocates nothing.
#[derive(Debug, Default)]
pub struct Scanner {
    stops: Stops,
    nodes: Vec<Node>,
    names: Names,
    open: Vec<Open>,
}

impl Scanner {
    /// A scanner without scratch.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            stops: Stops::new(),
            nodes: Vec::new(),
            names: Names::new(),
            open: Vec::new(),
        }
    }

    /// Checks one text and makes it readable. The text is one JSON value with
    /// whitespace around it; nothing is copied.
    ///
    /// # Errors
    ///
    /// The first fault found and where it stands (WIRE-014, WIRE-021,
    /// DEC-01, DEC-03, DEC-04, DEC-06).
    pub fn scan<'a>(
        &'a mut self,
        text: &'a [u8],
        limits: &ScanLimits,
    ) -> Result<Value<'a>, ScanError> {
        self.shrink();
        if text.starts_with(b"\xEF\xBB\xBF") {
            return Err(ScanError::new(0, Reason::ByteOrderMark));
        }
        if u32::try_from(text.len()).is_err() {
            return Err(ScanError::new(0, Reason::TooLong));
        }
        let text = core::str::from_utf8(text)
            .map_err(|error| ScanError::new(error.valid_up_to(), Reason::InvalidUtf8))?;
        self.nodes.clear();
        self.names.clear();
        self.open.clear();
        let mut walk = Walk {
            text,
            bytes: text.as_bytes(),
            marks: self.stops.mark(text.as_bytes()),
            limits,
            most_nodes: MOST_NODES.max(text.len() / size_of::<Node>()),
            nodes: &mut self.nodes,
            names: &mut self.names,
            outer: &mut self.open,
            top: Open::ROOT,
            unpaired: false,
        };
        let end = walk.run()?;
        let unpaired = walk.unpaired;
        if end < text.len() {
            return Err(ScanError::new(end, Reason::TrailingData));
        }
        if unpaired {
            mark_unpaired(&mut self.nodes, text);
        }
        Value::root(text, &self.nodes).ok_or(ScanError::new(0, Reason::Empty))
    }

    /// Gives back scratch above 1 MiB. A scan does this first of all; whoever
    /// may idle after a large text calls it then.
    pub fn shrink(&mut self) {
        if self.held() > KEEP {
            *self = Self::new();
        }
    }

    /// Bytes of scratch held for later scans.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.stops.held()
            + self.nodes.capacity() * size_of::<Node>()
            + self.names.held()
            + self.open.capacity() * size_of::<Open>()
    }
}

/// Finds the values that hold the unpaired surrogates of a text. This is rare,
/// so the walk notes only that there are any.
#[cold]
fn mark_unpaired(nodes: &mut [Node], text: &str) {
    for node in nodes {
        node.unpaired = node.inside(text).has_unpaired_surrogate();
    }
}

/// An array or object that is not closed yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    seen: Seen,
    /// Its node, or [`Open::NO_NODE`].
    node: u32,
    /// The bracket that closes it.
    closing: u8,
    /// What it holds gets nodes.
    indexed: bool,
}

impl Open {
    const NO_NODE: u32 = u32::MAX;
    /// What is around the whole text.
    const ROOT: Self = Self {
        seen: Seen::NONE,
        node: Self::NO_NODE,
        closing: 0,
        indexed: true,
    };
}

struct Walk<'t, 's> {
    text: &'t str,
    bytes: &'t [u8],
    marks: Marks<'s>,
    limits: &'t ScanLimits,
    most_nodes: usize,
    nodes: &'s mut Vec<Node>,
    names: &'s mut Names,
    /// The open containers around `top`, outermost first.
    outer: &'s mut Vec<Open>,
    top: Open,
    /// An unpaired surrogate was seen.
    unpaired: bool,
}

impl Walk<'_, '_> {
    /// Reads one value and the whitespace around it. Returns where it stopped.
    fn run(&mut self) -> Result<usize, ScanError> {
        let mut at = skip_space(self.bytes, 0);
        if at == self.bytes.len() {
            return Err(ScanError::new(at, Reason::Empty));
        }
        loop {
            let start = at;
            let (kind, end) = match byte(self.bytes, start) {
                b'"' => {
                    let (quote, escaped) = self.string(start)?;
                    self.push(start, quote + 1, Kind::String, escaped);
                    at = quote + 1;
                    (None, at)
                }
                b'{' => {
                    at = self.open(start, Kind::Object, b'}')?;
                    if byte(self.bytes, at) != b'}' {
                        at = self.name(at)?;
                        continue;
                    }
                    (None, at)
                }
                b'[' => {
                    at = self.open(start, Kind::Array, b']')?;
                    if byte(self.bytes, at) != b']' {
                        continue;
                    }
                    (None, at)
                }
                b'-' | b'0'..=b'9' => (Some(Kind::Number), token::number(self.bytes, start)?),
                b'n' => (
                    Some(Kind::Null),
                    token::literal(self.bytes, start, b"null")?,
                ),
                b't' => (
                    Some(Kind::Bool),
                    token::literal(self.bytes, start, b"true")?,
                ),
                b'f' => (
                    Some(Kind::Bool),
                    token::literal(self.bytes, start, b"false")?,
                ),
                _ => return Err(unexpected(self.bytes, start)),
            };
            if let Some(kind) = kind {
                self.push(start, end, kind, false);
                at = end;
            }
            match self.after_value(at)? {
                After::Value(next) => at = next,
                After::End(end) => return Ok(end),
            }
        }
    }

    /// Closes what closes after a value, and goes on to the next one.
    #[inline(always)]
    fn after_value(&mut self, mut at: usize) -> Result<After, ScanError> {
        loop {
            at = skip_space(self.bytes, at);
            let next = byte(self.bytes, at);
            if next == b',' && self.top.closing != 0 {
                at = skip_space(self.bytes, at + 1);
                if self.top.closing == b'}' {
                    at = self.name(at)?;
                }
                return Ok(After::Value(at));
            }
            if self.top.closing == 0 {
                return Ok(After::End(at));
            }
            if next != self.top.closing {
                return Err(unexpected(self.bytes, at));
            }
            at += 1;
            self.close(at)?;
        }
    }

    /// Reads a string whose opening quote is at `start`. Returns where the
    /// closing one is, and whether there are escapes.
    #[inline(always)]
    fn string(&mut self, start: usize) -> Result<(usize, bool), ScanError> {
        let stop = self.marks.next(start + 1);
        if byte(self.bytes, stop) == b'"' {
            return Ok((stop, false));
        }
        let (quote, unpaired) = escaped_string(self.bytes, self.marks, stop)?;
        self.unpaired |= unpaired;
        Ok((quote, true))
    }

    /// Reads a member's name and its colon. Returns where the value starts.
    #[inline(always)]
    fn name(&mut self, start: usize) -> Result<usize, ScanError> {
        if byte(self.bytes, start) != b'"' {
            return Err(unexpected(self.bytes, start));
        }
        let (quote, escaped) = self.string(start)?;
        self.names
            .add(&mut self.top.seen, self.text, start, quote, escaped)?;
        self.push(start, quote + 1, Kind::String, escaped);
        let colon = skip_space(self.bytes, quote + 1);
        if byte(self.bytes, colon) != b':' {
            return Err(unexpected(self.bytes, colon));
        }
        Ok(skip_space(self.bytes, colon + 1))
    }

    /// Opens a container. Returns where its first member or its end is.
    #[inline(always)]
    fn open(&mut self, start: usize, kind: Kind, closing: u8) -> Result<usize, ScanError> {
        if self.outer.len() >= self.limits.max_depth {
            return Err(ScanError::new(start, Reason::TooDeep));
        }
        let node = self.push(start, start, kind, false);
        self.outer.push(self.top);
        self.top = Open {
            seen: self.names.open(),
            node,
            closing,
            indexed: node != Open::NO_NODE && self.outer.len() <= self.limits.node_depth,
        };
        Ok(skip_space(self.bytes, start + 1))
    }

    /// Closes the innermost container, which ends before `end`.
    #[inline(always)]
    fn close(&mut self, end: usize) -> Result<(), ScanError> {
        let closed = self.top;
        self.names.close(closed.seen, self.text)?;
        let total = self.nodes.len();
        if let Some(node) = self.nodes.get_mut(closed.node as usize) {
            node.end = end as u32;
            node.span = total as u32 - closed.node;
            node.folded = !closed.indexed;
        }
        self.top = self.outer.pop().unwrap_or(Open::ROOT);
        Ok(())
    }

    /// Keeps a value or name, if what is around it is indexed.
    #[inline(always)]
    fn push(&mut self, start: usize, end: usize, kind: Kind, escaped: bool) -> u32 {
        if !self.top.indexed {
            return Open::NO_NODE;
        }
        let index = self.nodes.len();
        if index >= self.most_nodes {
            return self.fold(start, end, kind, escaped);
        }
        self.nodes.push(Node {
            start: start as u32,
            end: end as u32,
            span: 1,
            kind,
            escaped,
            unpaired: false,
            folded: false,
        });
        index as u32
    }

    /// Makes room: of the open containers that hold half of all nodes, the
    /// innermost becomes one span, to be read again from the text.
    #[cold]
    #[inline(never)]
    fn fold(&mut self, start: usize, end: usize, kind: Kind, escaped: bool) -> u32 {
        let total = self.nodes.len();
        let large =
            |open: &Open| open.node != Open::NO_NODE && total - open.node as usize > total / 2;
        let mut kept = 0;
        if large(&self.top) {
            kept = self.top.node as usize + 1;
            self.top.indexed = false;
        } else {
            self.top.indexed = false;
            self.top.node = Open::NO_NODE;
            for open in self.outer.iter_mut().rev() {
                let found = large(open);
                open.indexed = false;
                if found {
                    kept = open.node as usize + 1;
                    break;
                }
                open.node = Open::NO_NODE;
            }
        }
        self.nodes.truncate(kept);
        self.push(start, end, kind, escaped)
    }
}

enum After {
    /// The next value starts here.
    Value(usize),
    /// The outermost value has ended, and so has the whitespace behind it.
    End(usize),
}

/// Reads on in a string from its first stop, which is no quote. Returns where
/// the closing quote is, and whether a surrogate was unpaired.
#[inline(never)]
fn escaped_string(
    text: &[u8],
    marks: Marks<'_>,
    mut stop: usize,
) -> Result<(usize, bool), ScanError> {
    let mut unpaired = false;
    loop {
        let next = match (byte(text, stop), byte(text, stop + 1)) {
            (b'"', _) => return Ok((stop, unpaired)),
            (b'\\', b'n' | b'"' | b'\\' | b't' | b'/' | b'r' | b'b' | b'f') => stop + 2,
            (b'\\', _) => match escape(text, stop)? {
                Escape::Char { end, .. } => end,
                Escape::Unpaired { end, .. } => {
                    unpaired = true;
                    end
                }
            },
            _ if stop < text.len() => return Err(ScanError::new(stop, Reason::ControlCharacter)),
            _ => return Err(ScanError::new(stop, Reason::UnexpectedEnd)),
        };
        stop = marks.next(next);
    }
}
