//! Words of a server, cut to what is shown of them.

use alloc::format;
use alloc::string::String;

/// Characters of the code of an error that are shown.
pub(super) const CODE_CHARS: usize = 20;

/// Texts that share so many characters; what does not fit is counted.
#[derive(Debug)]
pub(super) struct Room {
    left: usize,
    cut: usize,
}

impl Room {
    /// Room for so many characters.
    pub(super) const fn new(chars: usize) -> Self {
        Self {
            left: chars,
            cut: 0,
        }
    }

    /// What of a text still fits; `None` where nothing does.
    pub(super) fn take(&mut self, mut text: String) -> Option<String> {
        let chars = text.chars().count();
        let kept = chars.min(self.left);
        self.left -= kept;
        self.cut = self.cut.saturating_add(chars - kept);
        if kept == 0 && chars > 0 {
            return None;
        }
        if let Some((end, _)) = text.char_indices().nth(kept) {
            text.truncate(end);
        }
        Some(text)
    }

    /// What is said of all that did not fit.
    pub(super) fn note(&self) -> Option<String> {
        (self.cut > 0).then(|| format!("[… {} characters cut]", self.cut))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn what_does_not_fit_is_counted_in_characters() {
        let mut room = Room::new(4);
        assert_eq!(room.take("äöü".to_string()).as_deref(), Some("äöü"));
        assert_eq!(room.take(String::new()).as_deref(), Some(""));
        assert_eq!(room.note(), None);
        assert_eq!(room.take("xyz".to_string()).as_deref(), Some("x"));
        assert_eq!(room.take("!".to_string()), None);
        assert_eq!(room.note().as_deref(), Some("[… 3 characters cut]"));
    }
}
