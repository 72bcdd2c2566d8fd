//! The chunked coding.
//!
//! ```text
//! Size -> [Padding | Extension] -> SizeEnd -> Data -> DataCr -> DataLf -> Size
//!                                     | size 0
//!                                     +-> LineStart -> [Line -> LineEnd]* -> LastLf
//! ```

use super::super::failure::AnswerFault;
use super::super::limits::Limits;
use super::take;

/// Most hexadecimal digits of a chunk size.
const MAX_SIZE_DIGITS: u8 = 16;

/// One step of the coding.
#[derive(Debug)]
pub(super) enum Chunk<'a> {
    /// The input is used up.
    More,
    /// Bytes of the body, at least one.
    Data(&'a [u8]),
    /// The last chunk and the trailer are read.
    End,
}

/// Where in the coding the next byte stands.
#[derive(Clone, Copy, Debug)]
enum Place {
    Size { digits: u8 },
    Padding,
    Extension,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    LineStart,
    Line,
    LineEnd,
    LastLf,
    Ended,
}

/// Decodes a chunked body.
#[derive(Debug)]
pub(super) struct ChunkReader {
    place: Place,
    /// Size of the chunk while it is read, then its bytes still to come.
    left: u64,
    /// Bytes of this chunk's extension, then of the trailer.
    extra: usize,
}

impl Default for ChunkReader {
    fn default() -> Self {
        Self {
            place: Place::Size { digits: 0 },
            left: 0,
            extra: 0,
        }
    }
}

impl ChunkReader {
    /// Takes the next piece from the front of `input`.
    pub(super) fn step<'a>(
        &mut self,
        input: &mut &'a [u8],
        limits: &Limits,
    ) -> Result<Chunk<'a>, AnswerFault> {
        loop {
            match self.place {
                Place::Ended => return Ok(Chunk::End),
                Place::Data if self.left == 0 => self.place = Place::DataCr,
                Place::Data => {
                    let most = usize::try_from(self.left).unwrap_or(usize::MAX);
                    let piece = take(input, most);
                    self.left -= piece.len() as u64;
                    return Ok(if piece.is_empty() {
                        Chunk::More
                    } else {
                        Chunk::Data(piece)
                    });
                }
                _ => {
                    let Some((&byte, rest)) = input.split_first() else {
                        return Ok(Chunk::More);
                    };
                    *input = rest;
                    self.place = self.next(byte, limits)?;
                }
            }
        }
    }

    /// The place after a byte that is not data.
    fn next(&mut self, byte: u8, limits: &Limits) -> Result<Place, AnswerFault> {
        match (self.place, byte) {
            (Place::Size { digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if digits == MAX_SIZE_DIGITS {
                    return Err(AnswerFault::ChunkSize);
                }
                let value = char::from(byte).to_digit(16).unwrap_or(0);
                self.left = self.left << 4 | u64::from(value);
                Ok(Place::Size { digits: digits + 1 })
            }
            (Place::Size { digits: 0 }, _) => Err(AnswerFault::ChunkSize),
            (Place::Size { .. } | Place::Padding | Place::Extension, b'\r') => Ok(Place::SizeEnd),
            (Place::Size { .. } | Place::Padding, b' ' | b'\t') => {
                self.count(limits.chunk_extension_bytes, AnswerFault::ChunkExtension)?;
                Ok(Place::Padding)
            }
            (Place::Size { .. } | Place::Padding, b';') | (Place::Extension, b'\t' | b' '..) => {
                self.count(limits.chunk_extension_bytes, AnswerFault::ChunkExtension)?;
                Ok(Place::Extension)
            }
            (Place::Extension, _) => Err(AnswerFault::ChunkExtension),
            (Place::Size { .. } | Place::Padding, _) => Err(AnswerFault::ChunkSize),
            (Place::SizeEnd, b'\n') => {
                self.extra = 0;
                Ok(if self.left == 0 {
                    Place::LineStart
                } else {
                    Place::Data
                })
            }
            (Place::DataCr, b'\r') => Ok(Place::DataLf),
            (Place::DataLf, b'\n') => Ok(Place::Size { digits: 0 }),
            (Place::LineStart, b'\r') => Ok(Place::LastLf),
            (Place::LastLf, b'\n') => Ok(Place::Ended),
            (Place::Line, b'\r') => {
                self.count(limits.trailer_bytes, AnswerFault::Trailer)?;
                Ok(Place::LineEnd)
            }
            (Place::LineEnd, b'\n') => Ok(Place::LineStart),
            (Place::LineStart | Place::Line, b'\t' | b' '..) => {
                self.count(limits.trailer_bytes, AnswerFault::Trailer)?;
                Ok(Place::Line)
            }
            (Place::LineStart | Place::Line | Place::LineEnd | Place::LastLf, _) => {
                Err(AnswerFault::Trailer)
            }
            (Place::SizeEnd | Place::DataCr | Place::DataLf | Place::Data | Place::Ended, _) => {
                Err(AnswerFault::ChunkEnd)
            }
        }
    }

    /// Counts one byte that carries nothing for us.
    const fn count(&mut self, limit: usize, fault: AnswerFault) -> Result<(), AnswerFault> {
        if self.extra >= limit {
            return Err(fault);
        }
        self.extra += 1;
        Ok(())
    }
}
