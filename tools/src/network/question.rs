//! The lines of a question and its answer.

use crate::limits::{NETWORK_HOST_BYTES, NETWORK_LINE_BYTES};
use agentx_core::json::{ScanLimits, Scanner, Writer};
use std::net::Ipv6Addr;

/// What is wrong with a line that is too long.
pub(super) fn too_long() -> String {
    format!("expected a line of at most {NETWORK_LINE_BYTES} bytes")
}

/// What is wrong with a line that its writer did not end.
pub(super) const UNENDED: &str = "expected a newline at the end of the line";

/// The host of a question, a line without its newline. Members that are not known
/// mean nothing.
///
/// # Errors
///
/// What is wrong with it, without anything of it.
pub(super) fn read(line: &[u8]) -> Result<String, String> {
    let mut scanner = Scanner::new();
    let object = scanner
        .scan(line, &ScanLimits::DEFAULT)
        .map_err(|fault| format!("the line is no JSON: {fault}"))?
        .as_object()
        .ok_or("expected an object")?;
    let host = object.get("host").ok_or("`host` is missing")?;
    let host = host.as_str().ok_or("`host`: expected a string")?;
    let host = host.decode_lossy();
    check(&host)?;
    Ok(host.into_owned())
}

/// A person is shown the host and decides by what it looks like, so nothing passes
/// that can look like something else.
fn check(host: &str) -> Result<(), String> {
    if host.is_empty() {
        return Err("`host` is empty".to_owned());
    }
    if host.len() > NETWORK_HOST_BYTES {
        return Err(format!(
            "`host`: expected at most {NETWORK_HOST_BYTES} bytes"
        ));
    }
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if host.bytes().all(in_name) || host.parse::<Ipv6Addr>().is_ok() {
        return Ok(());
    }
    Err(
        "`host`: expected a name of A-Za-z0-9._- or an IP address, without port and brackets"
            .to_owned(),
    )
}

/// The line of an answer, with its newline.
pub(super) fn answer(allowed: bool, error: Option<&str>) -> Vec<u8> {
    let mut line = Writer::new();
    line.begin_object();
    line.member_bool("allowed", allowed);
    line.member_opt_str("error", error);
    line.end_object();
    let mut line = line.finish();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: WIRE-PERM-080
    #[test]
    fn a_question_names_a_host_and_nothing_that_looks_like_one() {
        let told = |line: &str| read(line.as_bytes());
        for (line, host) in [
            (r#"{"host":"example.com"}"#, "example.com"),
            (r#" {"port":443,"host":"xn--a-b_c.EU."} "#, "xn--a-b_c.EU."),
            (r#"{"host":"\u0061.b"}"#, "a.b"),
            (r#"{"host":"192.0.2.1"}"#, "192.0.2.1"),
            (r#"{"host":"2001:db8::1"}"#, "2001:db8::1"),
        ] {
            assert_eq!(told(line).as_deref(), Ok(host));
        }
        let shape =
            "`host`: expected a name of A-Za-z0-9._- or an IP address, without port and brackets";
        for (line, why) in [
            ("[]", "expected an object"),
            ("{}", "`host` is missing"),
            (r#"{"Host":"a"}"#, "`host` is missing"),
            (r#"{"host":null}"#, "`host`: expected a string"),
            (r#"{"host":["a"]}"#, "`host`: expected a string"),
            (r#"{"host":""}"#, "`host` is empty"),
            (r#"{"host":"a\n"}"#, shape),
            (r#"{"host":"a\u0000"}"#, shape),
            (r#"{"host":"a b"}"#, shape),
            (r#"{"host":"a:443"}"#, shape),
            (r#"{"host":"[::1]"}"#, shape),
            (r#"{"host":"https://a"}"#, shape),
            (r#"{"host":"user@a"}"#, shape),
            (r#"{"host":"*"}"#, shape),
            (r#"{"host":"\u0435xample.com"}"#, shape),
            (r#"{"host":"\ud800"}"#, shape),
        ] {
            assert_eq!(told(line), Err(why.to_owned()), "{line}");
        }
        for line in ["", "host", r#"{"host":"a""#, r#"{"host":"a","host":"b"}"#] {
            let why = told(line).unwrap_err();
            assert!(why.starts_with("the line is no JSON: "), "{line}: {why}");
        }
        assert!(
            read(b"{\"host\":\"\xff\"}")
                .unwrap_err()
                .contains("no JSON")
        );
        let long = |bytes| format!(r#"{{"host":"{}"}}"#, "a".repeat(bytes));
        assert!(told(&long(NETWORK_HOST_BYTES)).is_ok());
        let why = told(&long(NETWORK_HOST_BYTES + 1)).unwrap_err();
        assert_eq!(why, "`host`: expected at most 253 bytes");
    }

    #[test]
    fn an_answer_is_one_line() {
        assert_eq!(answer(true, None), b"{\"allowed\":true}\n");
        let denied = b"{\"allowed\":false,\"error\":\"no \\\"x\\\"\"}\n";
        assert_eq!(answer(false, Some("no \"x\"")), denied);
    }
}
