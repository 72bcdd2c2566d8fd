//! JSON text, read once: whether it is one value in which no object names a member
//! twice, and where everything in it stands. In one pass, since every record of a
//! world is looked at so, and without the reader of the agent.

#[cfg(test)]
mod tests;
mod token;

use super::json::{blanks, decoded_name, text};
use std::borrow::Cow;
use std::fmt;
use token::{scalar_end, string_end};

/// Values for which there is room at once.
const ROOM: usize = 32;

/// A part of the text.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    at: usize,
    end: usize,
}

impl Span {
    fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.at..self.end).unwrap_or_default()
    }
}

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its name without the quotes, if it is a member.
    name: Span,
    value: Span,
    /// The place of what follows behind it and all that is in it.
    next: usize,
}

/// An object or a list that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    place: usize,
    /// What closes it.
    closes: u8,
    /// Which kinds of names it has.
    kinds: u64,
}

/// Where everything in a text stands, each value before those in it. What one text
/// needed is used again for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    places: Vec<Place>,
    open: Vec<Open>,
    /// How deep it nests.
    depth: usize,
    /// Whether a name is spelled with escapes.
    escapes: bool,
}

impl Tree {
    /// A tree with room for most records.
    pub(crate) fn with_room() -> Self {
        Self {
            places: Vec::with_capacity(ROOM),
            ..Self::default()
        }
    }

    /// Reads `text`; `None` unless it is one JSON value, blanks around it, and no
    /// object anywhere in it names a member twice.
    pub(crate) fn read<'a>(&'a mut self, text: &'a [u8]) -> Option<Node<'a>> {
        self.places.clear();
        self.open.clear();
        (self.depth, self.escapes) = (0, false);
        let end = self.walk(text);
        if end != Some(text.len()) {
            self.places.clear();
        }
        self.of(text)
    }

    /// The value that was read from `text` before, if it was one.
    pub(crate) fn of<'a>(&'a self, text: &'a [u8]) -> Option<Node<'a>> {
        let read = !self.places.is_empty();
        read.then_some(Node {
            text,
            tree: self,
            place: 0,
        })
    }

    /// Where the value and the blanks behind it end; `None` where it is not sound.
    fn walk(&mut self, text: &[u8]) -> Option<usize> {
        let mut at = blanks(text, 0);
        let mut name = Span::default();
        loop {
            // A value begins here.
            let place = self.places.len();
            let (begin, first) = (at, *text.get(at)?);
            let holds = matches!(first, b'{' | b'[');
            at = match first {
                b'"' => string_end(text, at)?.0,
                b'{' | b'[' => blanks(text, at + 1),
                _ => scalar_end(text, at)?,
            };
            self.places.push(Place {
                name,
                value: Span { at: begin, end: at },
                next: place + 1,
            });
            if holds {
                let closes = first + 2;
                self.open.push(Open {
                    place,
                    closes,
                    kinds: 0,
                });
                self.depth = self.depth.max(self.open.len());
                if text.get(at) != Some(&closes) {
                    name = Span::default();
                    if first == b'{' {
                        (name, at) = self.name(text, at)?;
                    }
                    continue;
                }
            }
            // A value has ended here, or the last of what is open does.
            let mut ended = place;
            loop {
                at = blanks(text, at);
                let Some(Open { place, closes, .. }) = self.open.last().copied() else {
                    return Some(at);
                };
                let byte = *text.get(at)?;
                at += 1;
                if byte == closes {
                    self.open.pop();
                    ended = place;
                    let next = self.places.len();
                    let value = self.places.get_mut(place)?;
                    (value.value.end, value.next) = (at, next);
                } else if byte != b',' {
                    return None;
                } else if closes == b'}' {
                    (name, at) = self.name(text, blanks(text, at))?;
                    break;
                } else {
                    at = blanks(text, at);
                    let Some(again) = self.again(text, ended, at) else {
                        name = Span::default();
                        break;
                    };
                    (ended, at) = again;
                }
            }
        }
    }

    /// If the item at `at` is the last item once more: its place and where it ends. It
    /// is as sound then, and everything in it stands as much later.
    fn again(&mut self, text: &[u8], last: usize, at: usize) -> Option<(usize, usize)> {
        let item = self.places.get(last)?.value;
        let holds = matches!(text.get(item.at), Some(b'{' | b'['));
        if !holds || !text.get(at..)?.starts_with(item.of(text)) {
            return None;
        }
        let (by, end) = (at - item.at, self.places.len());
        let later = |span: Span| Span {
            at: span.at + by,
            end: span.end + by,
        };
        for place in last..end {
            let Place { name, value, next } = *self.places.get(place)?;
            self.places.push(Place {
                name: later(name),
                value: later(value),
                next: next + end - last,
            });
        }
        Some((end, item.end + by))
    }

    /// The name at `at` and where its value begins; `None` if the object has that name
    /// already.
    fn name(&mut self, text: &[u8], at: usize) -> Option<(Span, usize)> {
        if text.get(at) != Some(&b'"') {
            return None;
        }
        let (end, escaped) = string_end(text, at)?;
        let span = Span {
            at: at + 1,
            end: end - 1,
        };
        self.escapes |= escaped;
        let name = if escaped {
            decoded_name(span.of(text))
        } else {
            Cow::Borrowed(span.of(text))
        };
        let kind = kind(&name);
        let open = self.open.last_mut()?;
        let first = open.place + 1;
        let maybe = open.kinds & kind != 0;
        open.kinds |= kind;
        if maybe && self.has(text, first, &name) {
            return None;
        }
        let colon = blanks(text, end);
        (text.get(colon) == Some(&b':')).then(|| (span, blanks(text, colon + 1)))
    }

    /// Whether a member from this place on has the name.
    fn has(&self, text: &[u8], mut place: usize, name: &[u8]) -> bool {
        while let Some(known) = self.places.get(place) {
            let spelled = known.name.of(text);
            if spelled == name || (self.escapes && *decoded_name(spelled) == *name) {
                return true;
            }
            place = known.next;
        }
        false
    }
}

/// Whether `text` is one JSON value, blanks around it, and no object anywhere in it
/// names a member twice.
pub(crate) fn is_sound(text: &[u8]) -> bool {
    Tree::default().read(text).is_some()
}

/// One value of a text.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    text: &'a [u8],
    tree: &'a Tree,
    place: usize,
}

impl<'a> Node<'a> {
    fn place(self) -> Option<&'a Place> {
        self.tree.places.get(self.place)
    }

    /// How deep the whole text nests.
    pub(crate) const fn depth(self) -> usize {
        self.tree.depth
    }

    /// The value as it stands.
    pub(crate) fn raw(self) -> &'a [u8] {
        self.place().map_or(&[], |place| place.value.of(self.text))
    }

    /// Its decoded text, if it is a string that can be decoded.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        text(self.raw())
    }

    pub(crate) fn is_object(self) -> bool {
        self.raw().first() == Some(&b'{')
    }

    pub(crate) fn is_list(self) -> bool {
        self.raw().first() == Some(&b'[')
    }

    /// What is in it, with names as they are spelled.
    fn held(self, opens: u8) -> impl Iterator<Item = (&'a [u8], Self)> {
        let holds = self.raw().first() == Some(&opens);
        let end = self.place().map_or(0, |place| place.next);
        let mut next = if holds { self.place + 1 } else { end };
        std::iter::from_fn(move || {
            let place = self.tree.places.get(next).filter(|_| next < end)?;
            let node = Self {
                place: next,
                ..self
            };
            next = place.next;
            Some((place.name.of(self.text), node))
        })
    }

    /// Its members if it is an object.
    pub(crate) fn members(self) -> impl Iterator<Item = (&'a [u8], Self)> {
        self.held(b'{')
    }

    /// Its items if it is a list.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        self.held(b'[').map(|(_, item)| item)
    }

    /// The member of that name.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        let found = self.members().find(|(found, _)| *found == name.as_bytes());
        found.map(|(_, value)| value)
    }

    /// The decoded text of a member, if it is a string.
    pub(crate) fn text_of(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.text()
    }
}

/// Values are the same that are spelled the same.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

impl Eq for Node<'_> {}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.raw()))
    }
}

/// One bit for names of a kind: those of another are other names.
fn kind(name: &[u8]) -> u64 {
    let (Some(first), Some(last)) = (name.first(), name.last()) else {
        return 1;
    };
    let kind = name.len() + 7 * usize::from(*first) + 31 * usize::from(*last);
    1 << (kind % 64)
}
