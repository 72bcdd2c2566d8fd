//! Where a model API lives.

use super::Scheme;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An absolute URL without user info, query and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    /// Plain or TLS.
    pub scheme: Scheme,
    /// Name in lower case, or address; IPv6 without brackets.
    pub host: String,
    /// The port, the scheme's own when none was named.
    pub port: u16,
    /// Path without a slash at its end; empty for the root.
    pub path: String,
}

/// Why a URL is refused. Holds nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlFault {
    /// Blanks, control characters, or anything outside ASCII.
    Characters,
    /// Neither `https://` nor `http://`.
    Scheme,
    /// Something before an `@`.
    UserInfo,
    /// A question mark.
    Query,
    /// A number sign.
    Fragment,
    /// No host, or one that is neither a name nor an address.
    Host,
    /// A port outside 1 to 65535.
    Port,
    /// Plain http to another machine.
    PlainHttp,
}

impl fmt::Display for UrlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Characters => "only visible ASCII characters can stand in a URL",
            Self::Scheme => "an absolute https URL is expected",
            Self::UserInfo => "user info is not allowed",
            Self::Query => "a query is not allowed",
            Self::Fragment => "a fragment is not allowed",
            Self::Host => "the host is neither a name nor an address",
            Self::Port => "the port is not a number from 1 to 65535",
            Self::PlainHttp => "plain http is allowed for loopback only",
        })
    }
}

impl std::error::Error for UrlFault {}

impl BaseUrl {
    /// Reads a URL. Plain http is taken for loopback addresses and the name
    /// `localhost` only.
    ///
    /// # Errors
    ///
    /// The first rule that it breaks.
    pub fn parse(text: &str) -> Result<Self, UrlFault> {
        if !text.bytes().all(|b| b.is_ascii_graphic() && b != b'\\') {
            return Err(UrlFault::Characters);
        }
        let (scheme, rest) = text.split_once("://").ok_or(UrlFault::Scheme)?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            _ => return Err(UrlFault::Scheme),
        };
        if rest.contains('#') {
            return Err(UrlFault::Fragment);
        }
        if rest.contains('?') {
            return Err(UrlFault::Query);
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(UrlFault::UserInfo);
        }
        let (host, port) = split_port(authority)?;
        let (host, loopback) = read_host(host)?;
        if scheme == Scheme::Http && !loopback {
            return Err(UrlFault::PlainHttp);
        }
        Ok(Self {
            scheme,
            host,
            port: port.unwrap_or_else(|| scheme.default_port()),
            path: path.trim_end_matches('/').to_owned(),
        })
    }
}

/// Normalised: what two spellings of one place have in common.
impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = super::authority(self.scheme, &self.host, self.port);
        write!(f, "{}://{authority}{}", self.scheme, self.path)
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), UrlFault> {
    let after_host = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    let colon = authority.get(after_host..).and_then(|tail| tail.find(':'));
    let Some(colon) = colon else {
        return Ok((authority, None));
    };
    let (host, port) = authority.split_at(after_host + colon);
    let digits = port.trim_start_matches(':');
    let port = digits
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| digits.parse().ok())
        .flatten();
    match port {
        Some(port) if port != 0 => Ok((host, Some(port))),
        _ => Err(UrlFault::Port),
    }
}

/// The host in its normal form, and whether it is this machine.
fn read_host(text: &str) -> Result<(String, bool), UrlFault> {
    if let Some(inside) = text.strip_prefix('[') {
        let inside = inside.strip_suffix(']').ok_or(UrlFault::Host)?;
        let address: Ipv6Addr = inside.parse().map_err(|_| UrlFault::Host)?;
        return Ok((address.to_string(), address.is_loopback()));
    }
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Ok((address.to_string(), address.is_loopback()));
    }
    let name = text.to_ascii_lowercase();
    let is_label = |label: &str| {
        let inside = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        !label.is_empty() && label.len() <= 63 && label.bytes().all(inside)
    };
    // A name whose last label is a number is a misspelt address.
    let last_is_number = name
        .rsplit('.')
        .next()
        .is_some_and(|label| label.bytes().all(|b| b.is_ascii_digit()));
    if name.len() > 253 || last_is_number || !name.split('.').all(is_label) {
        return Err(UrlFault::Host);
    }
    let loopback = name == "localhost";
    Ok((name, loopback))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_normalised() {
        for (text, normal) in [
            ("https://api.example.com/v1", "https://api.example.com/v1"),
            (
                "HTTPS://Api.Example.COM:443/v1//",
                "https://api.example.com/v1",
            ),
            ("https://h:8443", "https://h:8443"),
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("http://127.8.9.1/", "http://127.8.9.1"),
            ("http://localhost:11434/v1", "http://localhost:11434/v1"),
            ("http://[::1]:9/v1", "http://[::1]:9/v1"),
            ("https://[2001:DB8::1]/x", "https://[2001:db8::1]/x"),
        ] {
            let url = BaseUrl::parse(text).unwrap();
            assert_eq!(url.to_string(), normal);
            assert_eq!(BaseUrl::parse(normal).unwrap(), url);
        }
    }

    #[test]
    fn what_is_no_base_is_refused_by_name() {
        for (text, fault) in [
            ("", UrlFault::Scheme),
            ("/v1", UrlFault::Scheme),
            ("ftp://h", UrlFault::Scheme),
            (" https://h", UrlFault::Characters),
            ("https://h/ä", UrlFault::Characters),
            ("https://h\\x", UrlFault::Characters),
            ("https://u:p@h/v1", UrlFault::UserInfo),
            ("https://h/v1?x=1", UrlFault::Query),
            ("https://h/v1#x", UrlFault::Fragment),
            ("https://", UrlFault::Host),
            ("https:///v1", UrlFault::Host),
            ("https://a..b", UrlFault::Host),
            ("https://[::1", UrlFault::Host),
            ("https://[::g]", UrlFault::Host),
            ("https://[::1]x", UrlFault::Host),
            ("https://300.0.0.1", UrlFault::Host),
            ("https://h:0", UrlFault::Port),
            ("https://h:", UrlFault::Port),
            ("https://h:65536", UrlFault::Port),
            ("https://h:+1", UrlFault::Port),
            ("http://example.com/v1", UrlFault::PlainHttp),
            ("http://128.0.0.1/v1", UrlFault::PlainHttp),
            ("http://localhost.example.com", UrlFault::PlainHttp),
            ("http://[2001:db8::1]/v1", UrlFault::PlainHttp),
        ] {
            assert_eq!(BaseUrl::parse(text), Err(fault), "{text}");
        }
    }
}
