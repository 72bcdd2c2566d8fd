//! Words of others, cut to what is shown of them. Whatever is cut is redacted
//! before: half a credential is none to the guard (DEC-30).

use alloc::borrow::Cow;
use alloc::format;

/// `text`, or its beginning of so many characters and a sign that it was cut.
pub(crate) fn cut(text: &str, chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_text_is_cut_behind_whole_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("", 0), "");
    }
}
