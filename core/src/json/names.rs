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
    base: u32,
    bloom: u64,
}

impl Seen {
    pub(super) const NONE: Self = Self { base: 0, bloom: 0 };
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
    #[inline(always)]
    pub(super) const fn open(&self) -> Seen {
        Seen {
            base: self.list.len() as u32,
            bloom: 0,
        }
    }

    /// Adds the name whose quotes are at `start` and `end`.
    #[inline(always)]
    pub(super) fn add(
        &mut self,
        seen: &mut Seen,
        text: &str,
        start: usize,
        end: usize,
        escaped: bool,
    ) -> Result<(), ScanError> {
        let hash = if escaped {
            self.decoded_hash(text, start, end)
        } else {
            hash(text.as_bytes(), start + 1, end)
        };
        let bits = 1_u64 << (hash >> 26) | 1_u64 << ((hash >> 20) & 63);
        if seen.bloom & bits == bits {
            self.compare(*seen, text, start, hash)?;
        }
        seen.bloom |= bits;
        self.list.push(u64::from(hash) << 32 | start as u64);
        Ok(())
    }

    #[inline(never)]
    fn decoded_hash(&mut self, text: &str, start: usize, end: usize) -> u32 {
        let name = Str::new(text.get(start + 1..end).unwrap_or_default(), true);
        self.scratch.clear();
        self.scratch.extend(name.bytes());
        hash(&self.scratch, 0, self.scratch.len())
    }

    /// Looks for a name again whose hash may have been seen.
    #[inline(never)]
    fn compare(&self, seen: Seen, text: &str, start: usize, hash: u32) -> Result<(), ScanError> {
        let open = self.list.get(seen.base as usize..).unwrap_or_default();
        if open.len() > LINEAR {
            return Ok(());
        }
        let name = name_at(text, start);
        let mut alike = open.iter().filter(|entry| *entry >> 32 == u64::from(hash));
        if alike.any(|entry| name_at(text, offset(*entry)).cmp_decoded(name).is_eq()) {
            return Err(ScanError::new(start, Reason::DuplicateName));
        }
        Ok(())
    }

    /// Ends an object.
    #[inline(always)]
    pub(super) fn close(&mut self, seen: Seen, text: &str) -> Result<(), ScanError> {
        let base = seen.base as usize;
        if self.list.len() - base > LINEAR {
            let open = self.list.get_mut(base..).unwrap_or_default();
            if let Some(at) = repeated(open, text) {
                return Err(ScanError::new(at, Reason::DuplicateName));
            }
        }
        self.list.truncate(base);
        Ok(())
    }
}

/// The offset of the first name that repeats an earlier one.
#[inline(never)]
fn repeated(open: &mut [u64], text: &str) -> Option<usize> {
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

/// A weak but fast hash over the length, the first and the last eight bytes of
/// what stands between `start` and `end`. Names that collide cost a comparison,
/// never a wrong answer.
#[inline(always)]
fn hash(text: &[u8], start: usize, end: usize) -> u32 {
    let length = end - start;
    let counted = length.min(8);
    let last = start + length.max(8) - 8;
    let (first, last) = match (word(text, start), word(text, last)) {
        (Some(first), Some(last)) => (first, last),
        _ => short(text, start, end),
    };
    // The bytes of the name among the eight, in two shifts since one cannot be 64.
    let low = !(u64::MAX << (counted * 4) << (counted * 4));
    mix(first & low, last & low, length)
}

#[inline(always)]
fn word(text: &[u8], at: usize) -> Option<u64> {
    let bytes = text.get(at..at + 8)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// The words of a name of less than eight bytes at the end of the text.
#[inline(never)]
fn short(text: &[u8], start: usize, end: usize) -> (u64, u64) {
    let mut word = [0; 8];
    let name = text.get(start..end).unwrap_or_default();
    for (to, from) in word.iter_mut().zip(name) {
        *to = *from;
    }
    let word = u64::from_le_bytes(word);
    (word, word)
}

#[inline(always)]
const fn mix(first: u64, last: u64, length: usize) -> u32 {
    let mixed = (first ^ last.rotate_left(29) ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> 32) as u32
}
