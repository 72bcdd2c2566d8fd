//! The request as it is asked for, and its head as it is sent.

use super::failure::RequestFault;
use crate::Secret;
use std::fmt;
use std::sync::Arc;

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

/// How the endpoint is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Plain text; for endpoints on this machine.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// The port that a `host` field leaves out.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A header field that carries a credential, without the credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthSlot {
    /// Name of the field.
    pub header: &'static str,
    /// What stands before the credential, such as `Bearer `.
    pub prefix: &'static str,
}

/// One request. It holds no credential: the slot is filled when the head is
/// encoded.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// Method, in capitals; any token but CONNECT.
    pub method: &'static str,
    /// Plain or TLS.
    pub scheme: Scheme,
    /// Host name or address; an IPv6 address with or without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Path and query, from the leading `/` on, already percent-encoded.
    pub path_and_query: String,
    /// Further fields, in the order they are sent.
    pub headers: Vec<(String, String)>,
    /// Where the credential goes.
    pub auth: Option<AuthSlot>,
    /// The whole body. Attempts of one call share it.
    pub body: Arc<Vec<u8>>,
    /// Path of further roots to trust, for `https`.
    pub ca_file: Option<String>,
}

impl Request {
    /// The host without brackets: what to look up, and the name the peer's
    /// certificate must have.
    #[must_use]
    pub fn dial_host(&self) -> &str {
        self.host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(&self.host)
    }

    /// Encodes the head, its blank line included.
    ///
    /// # Errors
    ///
    /// The first part that cannot be sent; nothing is then.
    pub(super) fn encode_head(&self, credential: Option<&Secret>) -> Result<Vec<u8>, RequestFault> {
        self.check_line()?;
        let mut head = Head(Vec::with_capacity(512));
        head.text(&[self.method, " ", &self.path_and_query, " HTTP/1.1\r\n"]);
        self.encode_host(&mut head);
        head.text(&["connection: close\r\naccept-encoding: identity\r\n"]);
        for (name, value) in &self.headers {
            self.check_name(name)?;
            check_value(value).map_err(|()| RequestFault::FieldValue)?;
            head.text(&[name, ": ", value, "\r\n"]);
        }
        if let Some(slot) = &self.auth {
            let secret = credential.ok_or(RequestFault::CredentialMissing)?.expose();
            if !is_token(slot.header) {
                return Err(RequestFault::FieldName);
            }
            check_value(slot.prefix).map_err(|()| RequestFault::FieldValue)?;
            if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(RequestFault::CredentialValue);
            }
            head.text(&[slot.header, ": ", slot.prefix, secret, "\r\n"]);
        }
        if !self.body.is_empty() || !matches!(self.method, "GET" | "HEAD") {
            head.text(&["content-length: ", &self.body.len().to_string(), "\r\n"]);
        }
        head.text(&["\r\n"]);
        if head.0.len() > MAX_REQUEST_HEAD_BYTES {
            return Err(RequestFault::HeadTooLarge);
        }
        Ok(head.0)
    }

    fn encode_host(&self, head: &mut Head) {
        let host = self.dial_host();
        if host.contains(':') {
            head.text(&["host: [", host, "]"]);
        } else {
            head.text(&["host: ", host]);
        }
        if self.port != self.scheme.default_port() {
            head.text(&[":", &self.port.to_string()]);
        }
        head.text(&["\r\n"]);
    }

    fn check_line(&self) -> Result<(), RequestFault> {
        if !is_token(self.method) || self.method.eq_ignore_ascii_case("CONNECT") {
            return Err(RequestFault::Method);
        }
        let host = self.dial_host();
        let in_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
        if host.is_empty() || !host.bytes().all(in_host) {
            return Err(RequestFault::Host);
        }
        let in_path = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
        if !self.path_and_query.starts_with('/') || !self.path_and_query.bytes().all(in_path) {
            return Err(RequestFault::Path);
        }
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<(), RequestFault> {
        if !is_token(name) {
            return Err(RequestFault::FieldName);
        }
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let slot = self.auth.as_ref().is_some_and(|slot| is(slot.header));
        if slot || RESERVED.iter().any(|reserved| is(reserved)) {
            return Err(RequestFault::ReservedField);
        }
        Ok(())
    }
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
fn check_value(value: &str) -> Result<(), ()> {
    let forbidden = |byte: u8| byte != b'\t' && byte.is_ascii_control();
    if value.bytes().any(forbidden) {
        return Err(());
    }
    Ok(())
}

/// Names and sizes: values, the query and the body are the caller's own.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path_and_query.split('?').next().unwrap_or_default();
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("scheme", &self.scheme)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("path", &path)
            .field("headers", &names)
            .field("auth", &self.auth)
            .field("body_bytes", &self.body.len())
            .field("ca_file", &self.ca_file)
            .finish_non_exhaustive()
    }
}
