//! Where strings stop: one bit for each byte of a text.

use alloc::vec::Vec;

/// Marks every quote, backslash and control character of a text, and its end,
/// so that the end of a string is found by counting zeros.
#[derive(Debug, Default)]
pub(super) struct Stops {
    words: Vec<u64>,
}

const BLOCK: usize = 64;

impl Stops {
    pub(super) const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// Bytes held for later texts.
    pub(super) const fn held(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// Marks a text in place of the last one.
    pub(super) fn mark(&mut self, text: &[u8]) -> Marks<'_> {
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        self.words.clear();
        self.words.reserve(blocks.len() + 1);
        self.words.extend(blocks.iter().map(block));
        let tail = match text.last_chunk::<BLOCK>() {
            // The last whole block of the text, moved down to where `rest` starts.
            Some(last) => block(last)
                .checked_shr(width(BLOCK - rest.len()))
                .unwrap_or(0),
            None => {
                let mut padded = [b' '; BLOCK];
                for (to, from) in padded.iter_mut().zip(rest) {
                    *to = *from;
                }
                block(&padded)
            }
        };
        self.words.push(tail | 1 << rest.len());
        Marks { words: &self.words }
    }
}

const fn width(bits: usize) -> u32 {
    bits as u32
}

/// For each byte of a block the bit of its eight-byte word.
const WORD_BITS: [[u8; 8]; 8] = [
    [1; 8], [2; 8], [4; 8], [8; 8], [16; 8], [32; 8], [64; 8], [128; 8],
];

/// The marks of one block, first byte lowest.
///
/// Written so that the compiler uses vectors: the comparisons, then one OR over
/// the eight words, where byte `j` collects bit `w` from byte `j` of word `w`.
/// That is the wanted mask but for its rows and columns, which are swapped last.
#[inline(always)]
fn block(bytes: &[u8; BLOCK]) -> u64 {
    let mut bits = [0; BLOCK];
    let each = bits.iter_mut().zip(bytes).zip(WORD_BITS.as_flattened());
    for ((to, byte), bit) in each {
        let stop = (*byte == b'"') | (*byte == b'\\') | (*byte < 0x20);
        *to = if stop { *bit } else { 0 };
    }
    let words = bits.as_chunks::<8>().0.iter();
    transposed(words.fold(0, |all, word| all | u64::from_le_bytes(*word)))
}

/// Swaps rows and columns of eight by eight bits.
#[inline(always)]
const fn transposed(bits: u64) -> u64 {
    let swap = (bits ^ (bits >> 7)) & 0x00AA_00AA_00AA_00AA;
    let bits = bits ^ swap ^ (swap << 7);
    let swap = (bits ^ (bits >> 14)) & 0x0000_CCCC_0000_CCCC;
    let bits = bits ^ swap ^ (swap << 14);
    let swap = (bits ^ (bits >> 28)) & 0x0000_0000_F0F0_F0F0;
    bits ^ swap ^ (swap << 28)
}

/// The marks of one text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks<'s> {
    words: &'s [u64],
}

impl Marks<'_> {
    /// The first stop from `at` on; the end of the text when there is none.
    #[inline(always)]
    pub(super) fn next(self, at: usize) -> usize {
        let word = self
            .words
            .get(at / BLOCK)
            .map_or(0, |word| word >> (at % BLOCK));
        if word != 0 {
            return at + word.trailing_zeros() as usize;
        }
        self.next_block(at / BLOCK + 1)
    }

    fn next_block(self, first: usize) -> usize {
        let rest = self.words.get(first..).unwrap_or_default();
        let empty = rest.iter().take_while(|word| **word == 0).count();
        let bits = rest.get(empty).map_or(0, |word| word.trailing_zeros());
        (first + empty) * BLOCK + bits as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_marked_as_it_should() {
        let mut stops = Stops::new();
        for length in [0, 1, 7, 63, 64, 65, 127, 128, 200] {
            let mut text = alloc::vec![b'x'; length];
            for at in 0..length {
                for byte in 0..=255 {
                    text[at] = byte;
                    let marks = stops.mark(&text);
                    let stop = matches!(byte, 0..=0x1F | b'"' | b'\\');
                    let expected = if stop { at } else { length };
                    assert_eq!(marks.next(0), expected, "{byte} at {at} of {length}");
                    assert_eq!(marks.next(at), expected);
                    assert_eq!(marks.next(at + 1), length);
                }
                text[at] = b'x';
            }
        }
    }
}
