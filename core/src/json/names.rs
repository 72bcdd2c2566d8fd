//! Duplicate member names, found while the object is read.

use super::error::{Reason, ScanError};
use super::text::Str;
use super::token;
use alloc::vec::Vec;

/// Up to so many names, each new one is compared with those before it; above,
/// they are sorted when the object closes.
const LINEAR: usize = 16;

/// The names of all open objects, innermost last: the hash of the decoded name
/// in the upper half, the offset of its opening quote in the lower.
#[derive(Debug, Default)]
pub(super) struct Names {
    list: Vec<u64>,
    scratch: Vec<u8>,
}

/// Where an object's names start, and which hashes they may have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    base: usize,
    bloom: u64,
}

impl Names {
    pub(super) const fn new() -> Self {
        Self {
            list: Vec::new(),
            scratch: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Bytes held for later scans.
    pub(super) const fn held(&self) -> usize {
        self.list.capacity() * size_of::<u64>() + self.scratch.capacity()
    }

    /// Begins an object.
    pub(super) const fn open(&self) -> Seen {
        Seen {
            base: self.list.len(),
            bloom: 0,
        }
    }

    /// Adds a name whose opening quote is at `at`.
    pub(super) fn add(
        &mut self,
        seen: &mut Seen,
        text: &str,
        at: u32,
        name: Str<'_>,
    ) -> Result<(), ScanError> {
        let hash = if name.is_escaped() {
            self.scratch.clear();
            self.scratch.extend(name.bytes());
            hash(&self.scratch)
        } else {
            hash(name.raw().as_bytes())
        };
        let bits = 1_u64 << (hash >> 26) | 1_u64 << ((hash >> 20) & 63);
        if seen.bloom & bits == bits {
            let open = self.list.get(seen.base..).unwrap_or_default();
            let known = |entry: &u64| entry >> 32 == u64::from(hash) && same(text, *entry, name);
            if open.len() <= LINEAR && open.iter().any(known) {
                return Err(duplicate(at));
            }
        }
        seen.bloom |= bits;
        self.list.push(u64::from(hash) << 32 | u64::from(at));
        Ok(())
    }

    /// Ends an object.
    pub(super) fn close(&mut self, seen: &Seen, text: &str) -> Result<(), ScanError> {
        let open = self.list.get_mut(seen.base..).unwrap_or_default();
        let found = if open.len() > LINEAR {
            repeated(open, text)
        } else {
            None
        };
        self.list.truncate(seen.base);
        found.map_or(Ok(()), |at| Err(duplicate(at)))
    }
}

/// The offset of the first name that repeats an earlier one.
fn repeated(open: &mut [u64], text: &str) -> Option<u32> {
    open.sort_unstable();
    let mut first: Option<u32> = None;
    for group in open.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
        if group.len() < 2 {
            continue;
        }
        group.sort_by(|a, b| name_at(text, *a).cmp_decoded(name_at(text, *b)));
        for pair in group.windows(2) {
            if let [a, b] = pair
                && same(text, *a, name_at(text, *b))
            {
                let at = offset(*b);
                first = Some(first.map_or(at, |first| first.min(at)));
            }
        }
    }
    first
}

#[cold]
fn duplicate(at: u32) -> ScanError {
    ScanError::new(at as usize, Reason::DuplicateName)
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
const fn offset(entry: u64) -> u32 {
    entry as u32
}

/// The name that an entry stands for.
fn name_at(text: &str, entry: u64) -> Str<'_> {
    let start = offset(entry) as usize + 1;
    let end = token::string(text.as_bytes(), start);
    let (raw, escaped) = match end {
        Ok(end) => (text.get(start..end.quote), end.escaped),
        Err(_) => (None, false),
    };
    Str::new(raw.unwrap_or_default(), escaped)
}

fn same(text: &str, entry: u64, name: Str<'_>) -> bool {
    name_at(text, entry).cmp_decoded(name).is_eq()
}

/// A weak but fast hash over the length, the first and the last eight bytes.
/// Collisions cost a comparison, never a wrong answer.
fn hash(name: &[u8]) -> u32 {
    let (first, last) = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => {
            let mut word = 0;
            for byte in name {
                word = word << 8 | u64::from(*byte);
            }
            (word, word)
        }
    };
    let mixed = (first ^ (name.len() as u64) << 56).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 32 ^ last.rotate_left(23)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> 32) as u32
}
