//! What the texts of the registry may hold.

use crate::limits::{GUARDED_BYTES, KEY_BYTES, PROVIDER_ID_BYTES};

/// A name of something: not empty, within its length, nothing invisible.
pub(super) fn check_name(text: &str, max_bytes: usize) -> Result<(), String> {
    if text.is_empty() {
        return Err("must not be empty".into());
    }
    check_text(text, max_bytes)
}

/// As a name, but may be empty.
pub(super) fn check_text(text: &str, max_bytes: usize) -> Result<(), String> {
    if text.len() > max_bytes {
        return Err(format!("over {max_bytes} bytes"));
    }
    if text.trim() != text {
        return Err("blanks around the text are not allowed".into());
    }
    if text.chars().any(is_invisible) {
        return Err("control and formatting characters are not allowed".into());
    }
    Ok(())
}

/// An API key (DEC-30). It goes into a header field, which carries nothing but
/// visible ASCII.
pub(super) fn check_key(text: &str) -> Result<(), String> {
    if text.len() < GUARDED_BYTES {
        return Err(format!("at least {GUARDED_BYTES} bytes are expected"));
    }
    if text.chars().any(char::is_whitespace) {
        return Err("white space is not allowed".into());
    }
    check_text(text, KEY_BYTES)?;
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("only visible ASCII characters can be sent in a header".into());
    }
    Ok(())
}

/// A provider id.
pub(super) fn check_id(text: &str) -> Result<(), String> {
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let starts_well = text
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphanumeric());
    if text.len() <= PROVIDER_ID_BYTES && starts_well && text.bytes().all(inside) {
        return Ok(());
    }
    Err(format!(
        "expected 1 to {PROVIDER_ID_BYTES} of A-Z a-z 0-9 . _ -, the first a letter or digit"
    ))
}

/// The name of a file in the home folder.
pub(super) fn check_file_name(text: &str, max_bytes: usize) -> Result<(), String> {
    check_name(text, max_bytes)?;
    if text.contains(['/', '\\']) || matches!(text, "." | "..") {
        return Err("a plain file name is expected".into());
    }
    Ok(())
}

/// Unicode's control, format, line and paragraph separator characters.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{600}'..='\u{605}' | '\u{61C}' | '\u{6DD}' | '\u{70F}'
            | '\u{890}'..='\u{891}' | '\u{8E2}' | '\u{180E}' | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206F}'
            | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{110BD}' | '\u{110CD}'
            | '\u{13430}'..='\u{1343F}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0001}' | '\u{E0020}'..='\u{E007F}')
}
