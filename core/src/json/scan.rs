//! The scanner: one pass over one text.

use super::error::{Reason, ScanError};
use super::names::{Names, Seen};
use super::text::Str;
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

/// Reads JSON texts. It owns nothing but scratch memory, so one scanner serves
/// any number of sessions of a thread; in the steady state it allocates nothing.
#[derive(Debug, Default)]
pub struct Scanner {
    nodes: Vec<Node>,
    names: Names,
    open: Vec<Open>,
}

impl Scanner {
    /// A scanner without scratch.
    #[must_use]
    pub const fn new() -> Self {
        Self {
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
            at: 0,
            limits,
            nodes: &mut self.nodes,
            names: &mut self.names,
            open: &mut self.open,
        };
        walk.run()?;
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
        self.nodes.capacity() * size_of::<Node>()
            + self.names.held()
            + self.open.capacity() * size_of::<Open>()
    }
}

/// An array or object that is not closed yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    seen: Seen,
    /// Its node, when it has one.
    node: Option<u32>,
    count: u32,
    object: bool,
    unpaired: bool,
    /// What it holds gets nodes.
    indexed: bool,
}

struct Walk<'t, 's> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    limits: &'t ScanLimits,
    nodes: &'s mut Vec<Node>,
    names: &'s mut Names,
    open: &'s mut Vec<Open>,
}

impl Walk<'_, '_> {
    fn run(&mut self) -> Result<(), ScanError> {
        self.at = skip_space(self.bytes, 0);
        if self.at == self.bytes.len() {
            return Err(ScanError::new(self.at, Reason::Empty));
        }
        loop {
            if self.value()? {
                continue;
            }
            if self.after_value()? {
                break;
            }
        }
        if self.at < self.bytes.len() {
            return Err(ScanError::new(self.at, Reason::TrailingData));
        }
        Ok(())
    }

    /// Reads a scalar, or opens a container. True when a value must follow at
    /// once: the first element or member of that container.
    fn value(&mut self) -> Result<bool, ScanError> {
        let start = self.at;
        let (kind, end) = match byte(self.bytes, start) {
            b'"' => {
                let end = token::string(self.bytes, start + 1)?;
                self.at = end.quote + 1;
                self.leaf(start, Kind::String, end.escaped, end.unpaired);
                return Ok(false);
            }
            b'{' => return self.open(Kind::Object),
            b'[' => return self.open(Kind::Array),
            b't' => (Kind::Bool, token::literal(self.bytes, start, b"true")?),
            b'f' => (Kind::Bool, token::literal(self.bytes, start, b"false")?),
            b'n' => (Kind::Null, token::literal(self.bytes, start, b"null")?),
            b'-' | b'0'..=b'9' => (Kind::Number, token::number(self.bytes, start)?),
            _ => return Err(unexpected(self.bytes, start)),
        };
        self.at = end;
        self.leaf(start, kind, false, false);
        Ok(false)
    }

    /// Closes what closes, and goes on to the next value. True at the end.
    fn after_value(&mut self) -> Result<bool, ScanError> {
        loop {
            self.at = skip_space(self.bytes, self.at);
            let Some(top) = self.open.last() else {
                return Ok(true);
            };
            match (byte(self.bytes, self.at), top.object) {
                (b',', object) => {
                    self.at = skip_space(self.bytes, self.at + 1);
                    if object {
                        self.name()?;
                    }
                    return Ok(false);
                }
                (b'}', true) | (b']', false) => self.close()?,
                _ => return Err(unexpected(self.bytes, self.at)),
            }
        }
    }

    fn open(&mut self, kind: Kind) -> Result<bool, ScanError> {
        if self.open.len() >= self.limits.max_depth {
            return Err(ScanError::new(self.at, Reason::TooDeep));
        }
        let indexed = self.open.len() < self.limits.node_depth;
        let node = self.push(self.at, kind, false, false, !indexed);
        self.open.push(Open {
            seen: self.names.open(),
            node,
            count: 0,
            object: kind == Kind::Object,
            unpaired: false,
            indexed: indexed && node.is_some(),
        });
        self.at = skip_space(self.bytes, self.at + 1);
        match (byte(self.bytes, self.at), kind) {
            (b'}', Kind::Object) | (b']', Kind::Array) => {
                self.close()?;
                Ok(false)
            }
            (_, Kind::Object) => self.name().map(|()| true),
            _ => Ok(true),
        }
    }

    fn close(&mut self) -> Result<(), ScanError> {
        self.at += 1;
        let Some(closed) = self.open.pop() else {
            return Ok(());
        };
        self.names.close(&closed.seen, self.text)?;
        let total = self.nodes.len();
        if let Some(at) = closed.node
            && let Some(node) = self.nodes.get_mut(at as usize)
        {
            node.end = position(self.at);
            node.span = position(total).saturating_sub(at);
            node.count = closed.count;
            node.unpaired = closed.unpaired;
        }
        if let Some(top) = self.open.last_mut() {
            top.unpaired |= closed.unpaired;
        }
        Ok(())
    }

    /// Reads a member's name and its colon.
    fn name(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        if byte(self.bytes, start) != b'"' {
            return Err(unexpected(self.bytes, start));
        }
        let end = token::string(self.bytes, start + 1)?;
        let name = Str::new(
            self.text.get(start + 1..end.quote).unwrap_or_default(),
            end.escaped,
        );
        if let Some(top) = self.open.last_mut() {
            self.names
                .add(&mut top.seen, self.text, position(start), name)?;
            top.unpaired |= end.unpaired;
            if top.indexed {
                self.nodes.push(Node {
                    start: position(start),
                    end: position(end.quote + 1),
                    span: 1,
                    count: 0,
                    kind: Kind::String,
                    escaped: end.escaped,
                    unpaired: end.unpaired,
                    folded: false,
                });
            }
        }
        self.at = skip_space(self.bytes, end.quote + 1);
        if byte(self.bytes, self.at) != b':' {
            return Err(unexpected(self.bytes, self.at));
        }
        self.at = skip_space(self.bytes, self.at + 1);
        Ok(())
    }

    fn leaf(&mut self, start: usize, kind: Kind, escaped: bool, unpaired: bool) {
        self.push(start, kind, escaped, unpaired, false);
        if let Some(top) = self.open.last_mut() {
            top.unpaired |= unpaired;
        }
    }

    /// Keeps a value whose last byte so far is before `self.at`.
    fn push(
        &mut self,
        start: usize,
        kind: Kind,
        escaped: bool,
        unpaired: bool,
        folded: bool,
    ) -> Option<u32> {
        if let Some(top) = self.open.last_mut() {
            top.count = top.count.saturating_add(1);
            if !top.indexed {
                return None;
            }
        }
        let index = position(self.nodes.len());
        self.nodes.push(Node {
            start: position(start),
            end: position(self.at),
            span: 1,
            count: 0,
            kind,
            escaped,
            unpaired,
            folded,
        });
        Some(index)
    }
}

/// A position; texts are shorter than 4 GiB.
fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
