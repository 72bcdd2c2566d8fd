//! Choices that an input makes besides what it says.

use agentx_laws::SplitMix64;

/// A seed that depends on every byte (FNV-1a).
pub(crate) fn of(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The bytes in pieces, a few or many, some of them empty.
pub(crate) fn pieces(data: &[u8]) -> Vec<&[u8]> {
    let mut rng = SplitMix64::new(of(data));
    let longest = 1 + rng.below(data.len().max(1));
    let mut rest = data;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rng.below(longest + 1).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// The single bytes.
pub(crate) fn singles(data: &[u8]) -> Vec<&[u8]> {
    data.chunks(1).collect()
}
