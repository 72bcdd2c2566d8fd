//! The head of a request as it is sent, and what is refused before.

use super::failure::RequestFault;
use agentx_providers::http::HttpRequest;
use agentx_providers::registry::Secret;

/// Largest head of a request that is sent, in bytes.
pub const MAX_REQUEST_HEAD_BYTES: usize = 64 * 1024;

/// Fields the exchange writes itself, or that would change how it must read.
const RESERVED: [&str; 11] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Encodes the head of `request`, its blank line included. The credential fills
/// the slot, if there is one.
///
/// # Errors
///
/// The first part that cannot be sent; nothing is then.
pub(super) fn encode_head(
    request: &HttpRequest,
    credential: Option<&Secret>,
) -> Result<Vec<u8>, RequestFault> {
    check_line(request)?;
    let mut head = Head(Vec::with_capacity(512));
    head.text(&[
        request.method,
        " ",
        &request.path_and_query,
        " HTTP/1.1\r\n",
    ]);
    head.text(&["host: ", &request.authority(), "\r\n"]);
    head.text(&["connection: close\r\naccept-encoding: identity\r\n"]);
    for (name, value) in &request.headers {
        check_name(request, name)?;
        check_value(value)?;
        head.text(&[name, ": ", value, "\r\n"]);
    }
    if let Some(slot) = &request.auth {
        let secret = credential.ok_or(RequestFault::CredentialMissing)?.expose();
        if !is_token(slot.header) {
            return Err(RequestFault::FieldName);
        }
        check_value(slot.prefix)?;
        check_credential(secret)?;
        head.text(&[slot.header, ": ", slot.prefix, secret, "\r\n"]);
    }
    if !request.body.is_empty() || !matches!(request.method, "GET" | "HEAD") {
        head.text(&["content-length: ", &request.body.len().to_string(), "\r\n"]);
    }
    head.text(&["\r\n"]);
    if head.0.len() > MAX_REQUEST_HEAD_BYTES {
        return Err(RequestFault::HeadTooLarge);
    }
    Ok(head.0)
}

fn check_line(request: &HttpRequest) -> Result<(), RequestFault> {
    if !is_token(request.method) || request.method.eq_ignore_ascii_case("CONNECT") {
        return Err(RequestFault::Method);
    }
    let in_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    if request.host.is_empty() || !request.host.bytes().all(in_host) {
        return Err(RequestFault::Host);
    }
    let in_path = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
    if !request.path_and_query.starts_with('/') || !request.path_and_query.bytes().all(in_path) {
        return Err(RequestFault::Path);
    }
    Ok(())
}

fn check_name(request: &HttpRequest, name: &str) -> Result<(), RequestFault> {
    if !is_token(name) {
        return Err(RequestFault::FieldName);
    }
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let slot = request.auth.as_ref().is_some_and(|slot| is(slot.header));
    if slot || RESERVED.iter().any(|reserved| is(reserved)) {
        return Err(RequestFault::ReservedField);
    }
    Ok(())
}

/// A head under construction.
struct Head(Vec<u8>);

impl Head {
    fn text(&mut self, parts: &[&str]) {
        for part in parts {
            self.0.extend_from_slice(part.as_bytes());
        }
    }
}

/// Whether `text` is a token, as methods and field names are.
fn is_token(text: &str) -> bool {
    let in_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(in_token)
}

/// Refuses what would end the field or the head early, and its kin.
fn check_value(value: &str) -> Result<(), RequestFault> {
    let forbidden = |byte: u8| byte != b'\t' && byte.is_ascii_control();
    if value.bytes().any(forbidden) {
        return Err(RequestFault::FieldValue);
    }
    Ok(())
}

/// A credential is narrower than a value: visible ASCII, without blanks. The
/// registry gives no other; this is the last line before the head is written.
fn check_credential(secret: &str) -> Result<(), RequestFault> {
    if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(RequestFault::CredentialValue);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_visible_ascii() {
        assert_eq!(check_credential("sk-test_0/+=:~"), Ok(()));
        for key in ["", "sk-1\r\nx: y", "sk 1", "sk-1\n", "sk-\u{e9}", "sk\0"] {
            let checked = check_credential(key);
            assert_eq!(checked, Err(RequestFault::CredentialValue), "{key:?}");
        }
    }
}
