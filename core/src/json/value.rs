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
    /// The kind of a value that starts with `first`, in a text already scanned.
    const fn of(first: u8) -> Self {
        match first {
            b'"' => Self::String,
            b'{' => Self::Object,
            b'[' => Self::Array,
            b't' | b'f' => Self::Bool,
            b'n' => Self::Null,
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

    /// What to look for escapes in: backslashes stand in strings only, so any
    /// value reads like the inside of one.
    pub(super) fn inside(self, text: &str) -> Str<'_> {
        let raw = text.get(self.start as usize..self.end as usize);
        Str::new(raw.unwrap_or_default(), true)
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

    /// What follows this node, of the nodes right behind it.
    #[inline]
    fn following(self, after: &[Self]) -> &[Self] {
        let inside = (self.span as usize).saturating_sub(1);
        after.get(inside..).unwrap_or_default()
    }
}

/// One value of a scanned text.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    /// The whole scanned text.
    text: &'a str,
    /// The nodes after this one.
    after: &'a [Node],
    node: Node,
}

impl<'a> Value<'a> {
    pub(super) fn root(text: &'a str, nodes: &'a [Node]) -> Option<Self> {
        let (node, after) = nodes.split_first()?;
        Some(Self {
            text,
            after,
            node: *node,
        })
    }

    /// A value that has no node, found by reading the text.
    fn unfolded(text: &'a str, start: usize, end: usize, unpaired: bool) -> Option<Self> {
        let raw = text.get(start..end)?;
        let mut node = Node {
            start: u32::try_from(start).ok()?,
            end: u32::try_from(end).ok()?,
            span: 1,
            tag: Kind::of(*raw.as_bytes().first()?) as u32 | Node::FOLDED,
        };
        if memchr::memchr(b'\\', raw.as_bytes()).is_some() {
            node.tag |= Node::ESCAPED;
            if unpaired && node.inside(text).has_unpaired_surrogate() {
                node.tag |= Node::UNPAIRED;
            }
        }
        Some(Self {
            text,
            after: &[],
            node,
        })
    }

    /// What this value is.
    #[must_use]
    #[inline]
    pub const fn kind(self) -> Kind {
        self.node.kind()
    }

    /// Whether this is `null`.
    #[must_use]
    #[inline]
    pub const fn is_null(self) -> bool {
        self.node.is(Kind::Null)
    }

    /// The truth value, if this is one.
    #[must_use]
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        (self.node.is(Kind::Bool)).then(|| self.raw().starts_with('t'))
    }

    /// The string, if this is one.
    #[must_use]
    #[inline]
    pub fn as_str(self) -> Option<Str<'a>> {
        if !self.node.is(Kind::String) {
            return None;
        }
        Some(self.node.string(self.text))
    }

    /// The exact text of the number, if this is one (DEC-04).
    #[must_use]
    #[inline]
    pub fn as_number(self) -> Option<&'a str> {
        (self.node.is(Kind::Number)).then(|| self.raw())
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
        (self.node.is(Kind::Object)).then_some(Object(self))
    }

    /// The array, if this is one.
    #[must_use]
    #[inline]
    pub fn as_array(self) -> Option<Array<'a>> {
        (self.node.is(Kind::Array)).then_some(Array(self))
    }

    /// The text of this value as it came, with the quotes of a string.
    #[must_use]
    #[inline]
    pub fn raw(self) -> &'a str {
        self.text
            .get(self.node.start as usize..self.node.end as usize)
            .unwrap_or_default()
    }

    /// Offset of the first byte of this value in the scanned text.
    #[must_use]
    #[inline]
    pub const fn start(self) -> usize {
        self.node.start as usize
    }

    /// Whether an escape anywhere inside this value, names included, is half
    /// of a surrogate pair (DEC-04).
    #[must_use]
    #[inline]
    pub const fn has_unpaired_surrogate(self) -> bool {
        self.node.has(Node::UNPAIRED)
    }

    #[inline]
    fn items(self) -> Items<'a> {
        if self.node.has(Node::FOLDED) {
            Items::Text {
                text: self.text,
                at: self.node.start as usize + 1,
                unpaired: self.node.has(Node::UNPAIRED),
            }
        } else {
            Items::Nodes {
                text: self.text,
                nodes: self
                    .after
                    .get(..(self.node.span as usize).saturating_sub(1))
                    .unwrap_or_default(),
            }
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw())
    }
}

/// The values and names inside a container, in the order of the text.
#[derive(Clone)]
enum Items<'a> {
    Nodes {
        text: &'a str,
        nodes: &'a [Node],
    },
    Text {
        text: &'a str,
        at: usize,
        unpaired: bool,
    },
}

impl<'a> Items<'a> {
    /// The next value of an array.
    #[inline]
    fn element(&mut self) -> Option<Value<'a>> {
        match self {
            Self::Nodes { text, nodes } => {
                let [node, after @ ..] = *nodes else {
                    return None;
                };
                *nodes = node.following(after);
                Some(Value {
                    text,
                    after,
                    node: *node,
                })
            }
            Self::Text { text, at, unpaired } => unfold(text, at, *unpaired),
        }
    }

    /// The next name of an object and its value.
    #[inline]
    fn member(&mut self) -> Option<(Str<'a>, Value<'a>)> {
        match self {
            Self::Nodes { text, nodes } => {
                let [name, node, after @ ..] = *nodes else {
                    return None;
                };
                *nodes = node.following(after);
                let value = Value {
                    text,
                    after,
                    node: *node,
                };
                Some((name.string(text), value))
            }
            Self::Text { text, at, unpaired } => {
                let name = unfold(text, at, *unpaired)?;
                Some((name.as_str()?, unfold(text, at, *unpaired)?))
            }
        }
    }
}

/// Reads the next value or name of a container from the text.
fn unfold<'a>(text: &'a str, at: &mut usize, unpaired: bool) -> Option<Value<'a>> {
    let bytes = text.as_bytes();
    while matches!(token::byte(bytes, *at), b',' | b':') || token::is_space(token::byte(bytes, *at))
    {
        *at += 1;
    }
    if matches!(token::byte(bytes, *at), b']' | b'}') {
        return None;
    }
    let start = *at;
    *at = token::skip(bytes, start).ok()?;
    Value::unfolded(text, start, *at, unpaired)
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
