//! Spelling rules of identifiers on the wire.

use core::ops::RangeInclusive;

/// UUID versions a prompt may have: all that RFC 4122 and its successor define (DEC-25).
pub(crate) const PROMPT_UUID_VERSIONS: RangeInclusive<u32> = 1..=8;

/// UUID versions an upload's `prompt_uuid` may have (WIRE-018).
pub(super) const IMPORT_UUID_VERSIONS: RangeInclusive<u32> = 1..=5;

/// Whether `text` is a UUID in its canonical form, either case, of one of
/// `versions` and of the RFC 4122 variant.
pub(crate) fn is_uuid(text: &str, versions: RangeInclusive<u32>) -> bool {
    text.len() == 36
        && text.chars().enumerate().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            14 => c.to_digit(16).is_some_and(|v| versions.contains(&v)),
            19 => matches!(c, '8' | '9' | 'a' | 'b' | 'A' | 'B'),
            _ => c.is_ascii_hexdigit(),
        })
}

/// Whether `text` is `prefix`, one letter or digit, then up to 62 of
/// letters, digits, `_` and `-` (WIRE-018).
pub(super) fn is_import_id(text: &str, prefix: &str) -> bool {
    let Some(name) = text.strip_prefix(prefix) else {
        return false;
    };
    (1..=63).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// Whether `text` is a SHA-256 in lower-case hexadecimal.
pub(super) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The first `limit` characters of `text`.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    text.char_indices()
        .nth(limit)
        .and_then(|(end, _)| text.get(..end))
        .unwrap_or(text)
}

/// A rule for the text of a string: what a parser checks and a schema tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// At least one character.
    NotEmpty,
    /// No NUL.
    NoNul,
    /// The UUID of a prompt (DEC-25).
    PromptUuid,
    /// The UUID of a prompt as an upload names it (WIRE-018).
    ImportUuid,
    /// The id of an upload (WIRE-018).
    UploadId,
    /// The id of an attachment (WIRE-018).
    AttachmentId,
    /// A SHA-256 in lower-case hexadecimal.
    Sha256,
    /// A name in the store of attachments (WIRE-017).
    StorageId,
    /// The name of an environment variable (DEC-22).
    VariableName,
}

impl Spelling {
    /// Whether `text` is spelled so.
    #[must_use]
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::NotEmpty => !text.is_empty(),
            Self::NoNul => !text.contains('\0'),
            Self::PromptUuid => is_uuid(text, PROMPT_UUID_VERSIONS),
            Self::ImportUuid => is_uuid(text, IMPORT_UUID_VERSIONS),
            Self::UploadId => is_import_id(text, "upl_"),
            Self::AttachmentId => is_import_id(text, "att_"),
            Self::Sha256 => is_sha256(text),
            Self::StorageId => text.strip_prefix("blob_sha256_").is_some_and(is_sha256),
            Self::VariableName => is_variable_name(text),
        }
    }

    /// The same rule as a regular expression of ECMA-262.
    #[must_use]
    pub const fn pattern(self) -> &'static str {
        match self {
            Self::NotEmpty => r"^[\s\S]+$",
            Self::NoNul => r"^[^\u0000]*$",
            Self::PromptUuid => {
                "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"
            }
            Self::ImportUuid => {
                "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"
            }
            Self::UploadId => "^upl_[A-Za-z0-9][A-Za-z0-9_-]{0,62}$",
            Self::AttachmentId => "^att_[A-Za-z0-9][A-Za-z0-9_-]{0,62}$",
            Self::Sha256 => "^[0-9a-f]{64}$",
            Self::StorageId => "^blob_sha256_[0-9a-f]{64}$",
            Self::VariableName => "^[A-Za-z_][A-Za-z0-9_]*$",
        }
    }
}

fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
