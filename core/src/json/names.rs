//! Duplicate member names, found while the object is read.
//!
//! Each open object has a word of hash bits. Only a name whose bits are all set
//! is compared with those before it, and only up to [`LINEAR`] names; an object
//! with more has them sorted when it closes. So no shape costs more than
//! `n log n`, and ordinary records cost a few instructions a name.

use super::text::Str;
use super::token;
use super::value::Node;
use alloc::vec::Vec;

/// Up to so many names, each new one is compared with those before it.
pub(super) const LINEAR: u32 = 16;

/// Names as numbers: the hash of the decoded name in the upper half, the offset
/// of its opening quote in the lower.
///
/// A name that has a node keeps its hash there; the list holds only those of
/// open objects without nodes, innermost last.
#[derive(Debug, Default)]
pub(super) struct Names {
    list: Vec<u64>,
    scratch: Vec<u8>,
}

impl Names {
    pub(super) const fn new() -> Self {
        Self {
            list: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Bytes held for later scans.
    pub(super) const fn held(&self) -> usize {
        self.list.capacity() * size_of::<u64>() + self.scratch.capacity()
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    pub(super) const fn len(&self) -> u32 {
        self.list.len() as u32
    }

    pub(super) fn push(&mut self, start: usize, hash: u32) {
        self.list.push(entry(start as u32, hash));
    }

    pub(super) fn truncate(&mut self, length: u32) {
        self.list.truncate(length as usize);
    }

    /// Adds the names among `inside`, the nodes of an object.
    pub(super) fn gather(&mut self, inside: &[Node]) {
        let names = NameNodes(inside).map(|name| entry(name.start, name.span));
        self.list.extend(names);
    }

    /// The hash of a name with escapes, whose quotes are at `start` and `end`.
    #[inline(never)]
    pub(super) fn decoded_hash(&mut self, text: &str, start: usize, end: usize) -> u32 {
        let name = Str::new(text.get(start + 1..end).unwrap_or_default(), true);
        self.scratch.clear();
        self.scratch.extend(name.bytes());
        hash(&self.scratch, 0, self.scratch.len())
    }

    /// Whether a name from `base` on in the list is that at `start`.
    #[inline(never)]
    pub(super) fn repeats(&self, base: u32, text: &str, start: usize, hash: u32) -> bool {
        let name = name_at(text, start);
        let open = self.list.get(base as usize..).unwrap_or_default();
        let mut alike = open.iter().filter(|entry| *entry >> 32 == u64::from(hash));
        alike.any(|entry| name_of(text, *entry).cmp_decoded(name).is_eq())
    }

    /// The offset of the first name, from `base` on in the list, that repeats
    /// an earlier one.
    #[inline(never)]
    pub(super) fn first_repeated(&mut self, base: u32, text: &str) -> Option<usize> {
        let open = self.list.get_mut(base as usize..).unwrap_or_default();
        open.sort_unstable();
        let mut first: Option<usize> = None;
        for group in open.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            if group.len() < 2 {
                continue;
            }
            // Stable, so that of equal names the later one stays behind.
            group.sort_by(|a, b| name_of(text, *a).cmp_decoded(name_of(text, *b)));
            for pair in group.windows(2) {
                if let [a, b] = pair
                    && name_of(text, *a).cmp_decoded(name_of(text, *b)).is_eq()
                {
                    let at = offset(*b);
                    first = Some(first.map_or(at, |first| first.min(at)));
                }
            }
        }
        first
    }
}

/// Whether a name among `inside`, the nodes of an object, is that at `start`.
#[inline(never)]
pub(super) fn repeats_node(inside: &[Node], text: &str, start: usize, hash: u32) -> bool {
    let name = name_at(text, start);
    let mut alike = NameNodes(inside).filter(|known| known.span == hash);
    alike.any(|known| {
        name_at(text, known.start as usize)
            .cmp_decoded(name)
            .is_eq()
    })
}

/// The names among the nodes of an object.
struct NameNodes<'n>(&'n [Node]);

impl Iterator for NameNodes<'_> {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        let (name, rest) = self.0.split_first()?;
        let value = rest.first().map_or(0, |value| value.span);
        self.0 = rest.get(value as usize..).unwrap_or_default();
        Some(*name)
    }
}

const fn entry(start: u32, hash: u32) -> u64 {
    (hash as u64) << 32 | start as u64
}

const fn offset(entry: u64) -> usize {
    (entry & 0xFFFF_FFFF) as usize
}

fn name_of(text: &str, entry: u64) -> Str<'_> {
    name_at(text, offset(entry))
}

/// The name whose opening quote is at `start`.
fn name_at(text: &str, start: usize) -> Str<'_> {
    let end = token::string(text.as_bytes(), start + 1);
    let (raw, escaped) = match end {
        Ok(end) => (text.get(start + 1..end.quote), end.escaped),
        Err(_) => (None, false),
    };
    Str::new(raw.unwrap_or_default(), escaped)
}

/// The two bits that stand for a hash in an object's word.
#[inline(always)]
pub(super) const fn bits(hash: u32) -> u64 {
    1 << (hash >> 26) | 1 << ((hash >> 20) & 63)
}

/// A weak but fast hash over the length, the first and the last eight bytes of
/// what stands between `start` and `end`. Names that collide cost a comparison,
/// never a wrong answer.
#[inline(always)]
pub(super) fn hash(text: &[u8], start: usize, end: usize) -> u32 {
    let length = end - start;
    let counted = length.min(8);
    let (first, last) = match text.get(start..start + length.max(8)) {
        Some(window) => (
            window.first_chunk().copied().unwrap_or_default(),
            window.last_chunk().copied().unwrap_or_default(),
        ),
        None => short(text, start),
    };
    // The bytes of the name among the eight, in two shifts since one cannot be 64.
    let low = !(u64::MAX << (counted * 4) << (counted * 4));
    let first = u64::from_le_bytes(first) & low;
    let last = u64::from_le_bytes(last) & low;
    let mixed = first ^ last.rotate_left(29) ^ length as u64;
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

/// The words of a name that has less than eight bytes up to the end of the text.
#[inline(never)]
fn short(text: &[u8], start: usize) -> ([u8; 8], [u8; 8]) {
    let mut word = [0; 8];
    let name = text.get(start..).unwrap_or_default();
    for (to, from) in word.iter_mut().zip(name) {
        *to = *from;
    }
    (word, word)
}
