//! Views into a scanned text.

use super::text::Str;
use super::token;
use core::fmt;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number of any size.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The kind of the value that `text` is.
    fn of(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'"') => Self::String,
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b't' | b'f') => Self::Bool,
            Some(b'n') => Self::Null,
            _ => Self::Number,
        }
    }
}

/// A value or a member name of a scanned text. The members or elements of a
/// container follow it at once, each with all of its own, unless it is folded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// First byte, the quote of a string included.
    pub(super) start: u32,
    /// Past the last byte.
    pub(super) end: u32,
    /// How many nodes a value and everything inside it take; the hash of a name.
    pub(super) span: u32,
    /// The [`Kind`] and what else is known, in one word.
    pub(super) tag: u32,
}

impl Node {
    const KIND: u32 = 7;
    /// The string has escapes.
    pub(super) const ESCAPED: u32 = 8;
    /// An unpaired surrogate stands somewhere inside.
    pub(super) const UNPAIRED: u32 = 16;
    /// A container whose inside has no nodes: it is read from the text.
    pub(super) const FOLDED: u32 = 32;
    pub(super) const EMPTY: Self = Self {
        start: 0,
        end: 0,
        span: 1,
        tag: Kind::Null as u32,
    };

    #[inline]
    const fn has(self, flag: u32) -> bool {
        self.tag & flag != 0
    }

    #[inline]
    const fn kind(self) -> Kind {
        match self.tag & Self::KIND {
            0 => Kind::Null,
            1 => Kind::Bool,
            2 => Kind::Number,
            3 => Kind::String,
            4 => Kind::Array,
            _ => Kind::Object,
        }
    }

    #[inline]
    const fn is(self, kind: Kind) -> bool {
        self.tag & Self::KIND == kind as u32
    }

    /// How many of the nodes that follow belong inside this one.
    #[inline]
    const fn inside(self) -> usize {
        (self.span as usize).saturating_sub(1)
    }

    /// The text of the value or name, quotes included.
    #[inline]
    pub(super) fn raw(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }

    /// The string or name that this node is.
    #[inline]
    fn string(self, text: &str) -> Str<'_> {
        let inside = (self.start as usize + 1)..(self.end as usize).saturating_sub(1);
        Str::new(
            text.get(inside).unwrap_or_default(),
            self.has(Self::ESCAPED),
        )
    }
}

/// One value of a scanned text.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    /// The whole scanned text; or this value alone, if there are no nodes.
    text: &'a str,
    /// The node of this value and all that follow it; or none, if the value is
    /// inside a folded one.
    nodes: &'a [Node],
}

impl<'a> Value<'a> {
    /// `nodes` begins with the node of the value.
    #[inline]
    pub(super) const fn new(text: &'a str, nodes: &'a [Node]) -> Self {
        Self { text, nodes }
    }

    /// What this value is.
    #[must_use]
    #[inline]
    pub fn kind(self) -> Kind {
        match self.nodes.first() {
            Some(node) => node.kind(),
            None => Kind::of(self.text),
        }
    }

    /// Whether this is `null`.
    #[must_use]
    #[inline]
    pub fn is_null(self) -> bool {
        self.is(Kind::Null)
    }

    /// The truth value, if this is one.
    #[must_use]
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        self.is(Kind::Bool).then(|| self.raw().starts_with('t'))
    }

    /// The string, if this is one.
    #[must_use]
    #[inline]
    pub fn as_str(self) -> Option<Str<'a>> {
        match self.nodes.first() {
            Some(node) => node.is(Kind::String).then(|| node.string(self.text)),
            None => self.unindexed_str(),
        }
    }

    /// The exact text of the number, if this is one (DEC-04).
    #[must_use]
    #[inline]
    pub fn as_number(self) -> Option<&'a str> {
        self.is(Kind::Number).then(|| self.raw())
    }

    /// The number, if this is one written as a whole number that fits: no
    /// sign, fraction or exponent.
    #[must_use]
    #[inline]
    pub fn as_u64(self) -> Option<u64> {
        self.as_number()?.parse().ok()
    }

    /// The object, if this is one.
    #[must_use]
    #[inline]
    pub fn as_object(self) -> Option<Object<'a>> {
        self.is(Kind::Object).then_some(Object(self))
    }

    /// The array, if this is one.
    #[must_use]
    #[inline]
    pub fn as_array(self) -> Option<Array<'a>> {
        self.is(Kind::Array).then_some(Array(self))
    }

    /// The text of this value as it came, with the quotes of a string.
    #[must_use]
    #[inline]
    pub fn raw(self) -> &'a str {
        match self.nodes.first() {
            Some(node) => node.raw(self.text),
            None => self.text,
        }
    }

    /// Where this value begins, in bytes from the start of the scanned text; 0
    /// for a value below the depth of nodes.
    #[must_use]
    pub fn start(self) -> usize {
        self.nodes.first().map_or(0, |node| node.start as usize)
    }

    /// Whether an escape anywhere inside this value, names included, is half
    /// of a surrogate pair (DEC-04).
    #[must_use]
    pub fn has_unpaired_surrogate(self) -> bool {
        match self.nodes.first() {
            Some(node) => node.has(Node::UNPAIRED),
            None => inside(self.text).has_unpaired_surrogate(),
        }
    }

    #[inline]
    fn is(self, kind: Kind) -> bool {
        self.kind() == kind
    }

    fn unindexed_str(self) -> Option<Str<'a>> {
        let inside = self.text.strip_prefix('"')?.strip_suffix('"')?;
        let escaped = memchr::memchr(b'\\', inside.as_bytes()).is_some();
        Some(Str::new(inside, escaped))
    }

    #[inline]
    fn items(self) -> Items<'a> {
        match self.nodes {
            [node, after @ ..] if !node.has(Node::FOLDED) => Items::Nodes {
                text: self.text,
                nodes: after.get(..node.inside()).unwrap_or_default(),
            },
            _ => Items::Text {
                text: self.raw(),
                at: 1,
            },
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw())
    }
}

/// A value's text as if it were the inside of a string: backslashes stand in
/// strings only, so looking for escapes needs no more.
pub(super) const fn inside(value: &str) -> Str<'_> {
    Str::new(value, true)
}

/// The values and names inside a container, in the order of the text.
#[derive(Clone)]
enum Items<'a> {
    /// From the nodes that are left.
    Nodes { text: &'a str, nodes: &'a [Node] },
    /// From the text of the container, where no more is known of it.
    Text { text: &'a str, at: usize },
}

impl<'a> Items<'a> {
    /// The next value of an array.
    #[inline(always)]
    fn element(&mut self) -> Option<Value<'a>> {
        match self {
            Self::Nodes { text, nodes } => {
                let from_here = *nodes;
                let (node, after) = from_here.split_first()?;
                *nodes = after.get(node.inside()..).unwrap_or_default();
                Some(Value::new(text, from_here))
            }
            Self::Text { text, at } => unindexed(text, at),
        }
    }

    /// The next name of an object and its value.
    #[inline(always)]
    fn member(&mut self) -> Option<(Str<'a>, Value<'a>)> {
        match self {
            Self::Nodes { text, nodes } => {
                let (name, from_here) = nodes.split_first()?;
                let (node, after) = from_here.split_first()?;
                *nodes = after.get(node.inside()..).unwrap_or_default();
                Some((name.string(text), Value::new(text, from_here)))
            }
            Self::Text { text, at } => unindexed_member(text, at),
        }
    }
}

/// Reads the next member of an object from its text.
fn unindexed_member<'a>(object: &'a str, at: &mut usize) -> Option<(Str<'a>, Value<'a>)> {
    let name = unindexed(object, at)?.as_str()?;
    Some((name, unindexed(object, at)?))
}

/// Reads the next value or name of a container from its text.
fn unindexed<'a>(container: &'a str, at: &mut usize) -> Option<Value<'a>> {
    let bytes = container.as_bytes();
    let mut start = *at;
    loop {
        match token::byte(bytes, start) {
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => start += 1,
            b']' | b'}' => return None,
            _ => break,
        }
    }
    *at = token::skip(bytes, start).ok()?;
    Some(Value::new(container.get(start..*at)?, &[]))
}

/// An object of a scanned text: no two members have the same decoded name.
#[derive(Clone, Copy)]
pub struct Object<'a>(Value<'a>);

impl<'a> Object<'a> {
    /// The member of that name, compared decoded.
    #[must_use]
    #[inline]
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        self.iter()
            .find_map(|(found, value)| (found == *name).then_some(value))
    }

    /// The members in the order of the text.
    #[must_use]
    #[inline]
    pub fn iter(self) -> Members<'a> {
        Members(self.0.items())
    }

    /// How many members there are. Walks over them.
    #[must_use]
    pub fn len(self) -> usize {
        self.iter().count()
    }

    /// Whether there are no members.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    /// The object as a value.
    #[must_use]
    #[inline]
    pub const fn value(self) -> Value<'a> {
        self.0
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Str<'a>, Value<'a>);
    type IntoIter = Members<'a>;

    fn into_iter(self) -> Members<'a> {
        self.iter()
    }
}

/// The members of an object.
#[derive(Clone)]
pub struct Members<'a>(Items<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Str<'a>, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.member()
    }
}

impl fmt::Debug for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.clone()).finish()
    }
}

/// An array of a scanned text.
#[derive(Clone, Copy)]
pub struct Array<'a>(Value<'a>);

impl<'a> Array<'a> {
    /// The element at `index`, counted from 0. Walks from the first.
    #[must_use]
    #[inline]
    pub fn get(self, index: usize) -> Option<Value<'a>> {
        self.iter().nth(index)
    }

    /// The elements in order.
    #[must_use]
    #[inline]
    pub fn iter(self) -> Elements<'a> {
        Elements(self.0.items())
    }

    /// How many elements there are. Walks over them.
    #[must_use]
    pub fn len(self) -> usize {
        self.iter().count()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    /// The array as a value.
    #[must_use]
    #[inline]
    pub const fn value(self) -> Value<'a> {
        self.0
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'a> IntoIterator for Array<'a> {
    type Item = Value<'a>;
    type IntoIter = Elements<'a>;

    fn into_iter(self) -> Elements<'a> {
        self.iter()
    }
}

/// The elements of an array.
#[derive(Clone)]
pub struct Elements<'a>(Items<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        self.0.element()
    }
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
