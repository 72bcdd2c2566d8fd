//! The scanner: one pass over one text.

use super::error::{Reason, ScanError};
use super::names::{self, Names};
use super::stops::{Marks, Stops};
use super::text::{Escape, escape};
use super::token::{self, byte, is_space, skip_space, unexpected};
use super::value::{Kind, Node, Value, inside};
use crate::lazy::Empty;
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
    /// All of them are in use or stale; a walk counts how many it wrote.
    nodes: Vec<Node>,
    names: Names,
    /// The open containers but the innermost, outermost first.
    outer: Vec<Open>,
}

impl Empty for Scanner {
    const EMPTY: &'static Self = &Self::new();
}

impl Scanner {
    /// A scanner without scratch.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            stops: Stops::new(),
            nodes: Vec::new(),
            names: Names::new(),
            outer: Vec::new(),
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
        let text = match core::str::from_utf8(text) {
            Ok(text) => text,
            Err(error) => return Err(self.before_bad_utf8(text, error.valid_up_to(), limits)),
        };
        self.names.clear();
        self.outer.clear();
        let mut walk = Walk {
            text,
            bytes: text.as_bytes(),
            marks: self.stops.mark(text.as_bytes()),
            limits: *limits,
            nodes: &mut self.nodes,
            count: 0,
            names: &mut self.names,
            outer: &mut self.outer,
            top: Open::ROOT,
            unpaired: false,
        };
        walk.run()?;
        let (count, unpaired) = (walk.count, walk.unpaired);
        let nodes = self.nodes.get_mut(..count).unwrap_or_default();
        if unpaired {
            mark_unpaired(nodes, text);
        }
        Ok(Value::new(text, nodes))
    }

    /// The first fault of a text that is no UTF-8 from `bad` on.
    #[cold]
    fn before_bad_utf8(&mut self, text: &[u8], bad: usize, limits: &ScanLimits) -> ScanError {
        match self.scan(text.get(..bad).unwrap_or_default(), limits) {
            Err(fault) if fault.at < bad => fault,
            _ => ScanError::new(bad, Reason::InvalidUtf8),
        }
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
            + self.outer.capacity() * size_of::<Open>()
    }
}

/// Finds the values that hold the unpaired surrogates of a text. This is rare,
/// so the walk notes only that there are any.
#[cold]
fn mark_unpaired(nodes: &mut [Node], text: &str) {
    for node in nodes {
        if inside(node.raw(text)).has_unpaired_surrogate() {
            node.tag |= Node::UNPAIRED;
        }
    }
}

/// An array or object that is not closed yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The hash bits of the names so far.
    bloom: u64,
    /// How many names there are.
    names: u32,
    /// Where they begin in the list, if they are there.
    base: u32,
    /// Its node, or [`Open::NO_NODE`].
    node: u32,
    /// The bracket that closes it; zero for what is around the whole text.
    closing: u8,
    /// What it holds gets nodes.
    indexed: bool,
}

impl Open {
    const NO_NODE: u32 = u32::MAX;
    const ROOT: Self = Self {
        bloom: 0,
        names: 0,
        base: 0,
        node: Self::NO_NODE,
        closing: 0,
        indexed: true,
    };
}

/// The state of one scan. The hot functions are all inlined and nothing else
/// takes `self`, so that the compiler may keep its fields in registers.
struct Walk<'t, 's> {
    text: &'t str,
    bytes: &'t [u8],
    marks: Marks<'s>,
    limits: ScanLimits,
    nodes: &'s mut Vec<Node>,
    /// Nodes written.
    count: usize,
    names: &'s mut Names,
    outer: &'s mut Vec<Open>,
    /// The innermost open container.
    top: Open,
    /// An unpaired surrogate was seen.
    unpaired: bool,
}

impl Walk<'_, '_> {
    /// Reads one value and the whitespace around it.
    ///
    /// Whitespace is looked for only where nothing else fits, for records have
    /// none.
    fn run(&mut self) -> Result<(), ScanError> {
        let mut at = 0;
        loop {
            let first = byte(self.bytes, at);
            if first == b'"' {
                let (quote, escaped) = self.string(at)?;
                self.push(at, quote + 1, Kind::String as u32 | escaped, 1);
                at = quote + 1;
            } else if first == b'{' || first == b'[' {
                let object = first == b'{';
                at = self.open(at, object)?;
                if byte(self.bytes, at) != self.top.closing {
                    if object {
                        at = self.name(at)?;
                    }
                    continue;
                }
            } else if is_space(first) {
                at = skip_space(self.bytes, at);
                continue;
            } else {
                let (kind, end) = scalar(self.bytes, at, first)?;
                self.push(at, end, kind as u32, 1);
                at = end;
            }
            match self.after_value(at)? {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
    }

    /// Closes what closes after a value. Returns where the next value is, if
    /// any is to come.
    #[inline(always)]
    fn after_value(&mut self, mut at: usize) -> Result<Option<usize>, ScanError> {
        loop {
            let next = byte(self.bytes, at);
            if next == b',' && self.top.closing != 0 {
                at += 1;
                if self.top.closing == b'}' {
                    at = self.name(at)?;
                }
                return Ok(Some(at));
            }
            if next == self.top.closing && next != 0 {
                at += 1;
                self.close(at)?;
            } else if is_space(next) {
                at = skip_space(self.bytes, at);
            } else if self.top.closing != 0 {
                return Err(unexpected(self.bytes, at));
            } else if at < self.bytes.len() {
                return Err(ScanError::new(at, Reason::TrailingData));
            } else {
                return Ok(None);
            }
        }
    }

    /// Reads a string whose opening quote is at `start`. Returns where the
    /// closing one is, and the tag of a string with escapes if it has any.
    #[inline(always)]
    fn string(&mut self, start: usize) -> Result<(usize, u32), ScanError> {
        let stop = self.marks.next(start + 1);
        if byte(self.bytes, stop) == b'"' {
            return Ok((stop, 0));
        }
        let (quote, unpaired) = escaped_string(self.bytes, self.marks, stop)?;
        self.unpaired |= unpaired;
        Ok((quote, Node::ESCAPED))
    }

    /// Reads a member's name and its colon. Returns where the value starts, or
    /// whitespace before it.
    #[inline(always)]
    fn name(&mut self, mut start: usize) -> Result<usize, ScanError> {
        if byte(self.bytes, start) != b'"' {
            start = skip_to(self.bytes, start, b'"')?;
        }
        let (quote, escaped) = self.string(start)?;
        let hash = if escaped == 0 {
            names::hash(self.bytes, start + 1, quote)
        } else {
            self.names.decoded_hash(self.text, start, quote)
        };
        let bits = names::bits(hash);
        if self.top.bloom & bits == bits && self.top.names <= names::LINEAR {
            let repeats = if self.top.indexed {
                let inside = self.nodes.get(self.top.node as usize + 1..self.count);
                names::repeats_node(inside.unwrap_or_default(), self.text, start, hash)
            } else {
                self.names.repeats(self.top.base, self.text, start, hash)
            };
            if repeats {
                return Err(ScanError::new(start, Reason::DuplicateName));
            }
        }
        self.top.bloom |= bits;
        self.top.names += 1;
        self.push(start, quote + 1, Kind::String as u32 | escaped, hash);
        // Looked at again, since the push may have folded the object.
        if !self.top.indexed {
            self.names.push(start, hash);
        }
        if byte(self.bytes, quote + 1) == b':' {
            return Ok(quote + 2);
        }
        Ok(skip_to(self.bytes, quote + 1, b':')? + 1)
    }

    /// Opens a container. Returns where its first member or its end is.
    #[inline(always)]
    fn open(&mut self, start: usize, object: bool) -> Result<usize, ScanError> {
        if self.outer.len() >= self.limits.max_depth {
            return Err(ScanError::new(start, Reason::TooDeep));
        }
        let kind = if object { Kind::Object } else { Kind::Array };
        let node = self.push(start, start, kind as u32, 1);
        self.outer.push(self.top);
        self.top = Open {
            bloom: 0,
            names: 0,
            base: self.names.len(),
            node,
            closing: if object { b'}' } else { b']' },
            indexed: node != Open::NO_NODE && self.outer.len() <= self.limits.node_depth,
        };
        if byte(self.bytes, start + 1) > b' ' {
            return Ok(start + 1);
        }
        Ok(skip_space(self.bytes, start + 1))
    }

    /// Closes the innermost container, which ends before `end`.
    #[inline(always)]
    fn close(&mut self, end: usize) -> Result<(), ScanError> {
        let closed = self.top;
        if closed.names > names::LINEAR {
            let inside = if closed.indexed {
                self.nodes.get(closed.node as usize + 1..self.count)
            } else {
                None
            };
            self.names.gather(inside.unwrap_or_default());
            if let Some(at) = self.names.first_repeated(closed.base, self.text) {
                return Err(ScanError::new(at, Reason::DuplicateName));
            }
            self.names.truncate(closed.base);
        } else if !closed.indexed {
            self.names.truncate(closed.base);
        }
        if let Some(node) = self.nodes.get_mut(closed.node as usize) {
            node.end = end as u32;
            node.span = self.count as u32 - closed.node;
            if !closed.indexed {
                node.tag |= Node::FOLDED;
            }
        }
        self.top = self.outer.pop().unwrap_or(Open::ROOT);
        Ok(())
    }

    /// Keeps a value or name, if what is around it is indexed.
    #[inline(always)]
    fn push(&mut self, start: usize, end: usize, tag: u32, span: u32) -> u32 {
        if !self.top.indexed {
            return Open::NO_NODE;
        }
        let node = Node {
            start: start as u32,
            end: end as u32,
            span,
            tag,
        };
        let index = self.count;
        if let Some(place) = self.nodes.get_mut(index) {
            *place = node;
        } else if self.make_room() {
            if let Some(place) = self.nodes.get_mut(index) {
                *place = node;
            }
        } else {
            return Open::NO_NODE;
        }
        self.count = index + 1;
        index as u32
    }

    /// Gets a place for one more node. False when the innermost container has
    /// been folded, so that no place is needed.
    #[inline(always)]
    fn make_room(&mut self) -> bool {
        let most = MOST_NODES.max(self.bytes.len() / size_of::<Node>());
        if self.nodes.len() < most {
            grow(self.nodes, most);
            return true;
        }
        (self.top, self.count) = fold(self.top, self.outer, self.nodes, self.names);
        false
    }
}

/// Makes place for twice as many nodes, up to a most.
#[cold]
#[inline(never)]
fn grow(nodes: &mut Vec<Node>, most: usize) {
    let wanted = most.min(nodes.len().saturating_mul(2).max(64));
    nodes.reserve_exact(wanted - nodes.len());
    nodes.resize(wanted, Node::EMPTY);
}

/// Makes place where there can be no more: of the open containers that hold
/// half of all nodes, the innermost becomes one span, to be read again from
/// the text. Returns the new innermost and how many nodes are left.
///
/// All open containers have nodes then, or no place would be needed; so their
/// names are in nodes, too, and go to the list in order.
#[cold]
#[inline(never)]
fn fold(mut top: Open, outer: &mut [Open], nodes: &[Node], names: &mut Names) -> (Open, usize) {
    let large = |open: &Open| nodes.len() - (open.node as usize).min(nodes.len()) > nodes.len() / 2;
    let mut open: Vec<&mut Open> = outer.iter_mut().skip(1).collect();
    open.push(&mut top);
    let folded = open.iter().rposition(|open| large(open)).unwrap_or(0);
    let mut kept = nodes.len();
    let ends: Vec<usize> = open.iter().skip(1).map(|open| open.node as usize).collect();
    for (index, open) in open.iter_mut().enumerate().skip(folded) {
        let end = ends.get(index).copied().unwrap_or(nodes.len());
        open.base = names.len();
        open.indexed = false;
        if open.closing == b'}' {
            names.gather(nodes.get(open.node as usize + 1..end).unwrap_or_default());
        }
        if index == folded {
            kept = open.node as usize + 1;
        } else {
            open.node = Open::NO_NODE;
        }
    }
    (top, kept)
}

/// Reads a number, `true`, `false` or `null`.
#[inline(always)]
fn scalar(text: &[u8], at: usize, first: u8) -> Result<(Kind, usize), ScanError> {
    match first {
        b'-' | b'0'..=b'9' => token::number(text, at).map(|end| (Kind::Number, end)),
        b'n' => token::literal(text, at, b"null").map(|end| (Kind::Null, end)),
        b't' => token::literal(text, at, b"true").map(|end| (Kind::Bool, end)),
        b'f' => token::literal(text, at, b"false").map(|end| (Kind::Bool, end)),
        _ => Err(nothing(text, at)),
    }
}

/// The fault of a place where a value should start.
#[cold]
fn nothing(text: &[u8], at: usize) -> ScanError {
    let before = text.get(..at).unwrap_or_default();
    if at >= text.len() && before.iter().all(|byte| is_space(*byte)) {
        ScanError::new(text.len(), Reason::Empty)
    } else {
        unexpected(text, at)
    }
}

/// Skips whitespace up to a byte that must come.
#[cold]
#[inline(never)]
fn skip_to(text: &[u8], at: usize, wanted: u8) -> Result<usize, ScanError> {
    let at = skip_space(text, at);
    if byte(text, at) == wanted {
        Ok(at)
    } else {
        Err(unexpected(text, at))
    }
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
