use super::*;
use crate::http::FailureKind;

fn message(status: u16, body: &str) -> String {
    of_status(status, body.as_bytes()).model.message
}

// covers: DEC-41
#[test]
fn statuses_have_their_categories() {
    for (status, category) in [
        (401, ErrorCategory::AuthenticationFailed),
        (403, ErrorCategory::AuthenticationFailed),
        (402, ErrorCategory::BillingError),
        (429, ErrorCategory::RateLimit),
        (400, ErrorCategory::InvalidRequest),
        (404, ErrorCategory::InvalidRequest),
        (500, ErrorCategory::ServerError),
        (529, ErrorCategory::ServerError),
        (302, ErrorCategory::Unknown),
    ] {
        let failure = of_status(status, b"");
        assert_eq!(failure.model.category, category, "{status}");
        assert_eq!(failure.model.status, Some(status));
    }
}

#[test]
fn the_usual_error_shapes_are_read() {
    for body in [
        r#"{"error":{"message":"too long","type":"invalid_request_error","code":null}}"#,
        r#"{"error":"too long"}"#,
        r#"{"object":"error","message":"too long","code":400}"#,
        r#"{"detail":"too long"}"#,
        " too\n long ",
    ] {
        assert_eq!(
            message(400, body),
            "the model API answered with status 400: too long",
            "{body}"
        );
    }
    for body in [
        "",
        "{}",
        "null",
        "{\"error\":",
        "<html>too long</html>",
        "\u{1}",
    ] {
        assert_eq!(
            message(400, body),
            "the model API answered with status 400",
            "{body}"
        );
    }
}

#[test]
fn a_long_body_keeps_its_message() {
    let long = |before: &str, filling: &str| {
        let mut body = before.to_owned();
        while body.len() < ERROR_BODY_BYTES + 10 {
            body.push_str(filling);
        }
        body.truncate(ERROR_BODY_BYTES);
        body
    };
    let start = "the model API answered with status 400: ";
    let early = long(
        r#"{"error":{"message": "too \"long\"","param":null,"echo":""#,
        "x",
    );
    assert_eq!(message(400, &early), format!("{start}too \"long\""));
    let error = r#"","error":{"message":"late \u00e9","x":""#;
    let late = long(r#"{"echo":""#, "x").replacen(&"x".repeat(error.len()), error, 1);
    assert_eq!(message(400, &late), format!("{start}late \u{e9}"));
    // The message itself is what is long: its beginning is shown.
    let shown = message(400, &long(r#"{"error":{"message":""#, "ab \\n"));
    assert!(shown.starts_with(&format!("{start}ab ab ab")), "{shown}");
    assert!(shown.ends_with(" …"), "{shown}");
    let shown = message(400, &long("it says: ", "no "));
    assert!(
        shown.starts_with(&format!("{start}it says: no no")),
        "{shown}"
    );
    for body in [long("{\"echo\":\"", "x"), long("<html>", "no ")] {
        assert_eq!(
            message(400, &body),
            "the model API answered with status 400 and over 16384 bytes"
        );
    }
}

#[test]
fn an_excerpt_never_ends_inside_a_word() {
    let key = "sk-SENTINEL-4471-Zq9";
    for lead in 470..505 {
        let text = format!("{} {key} supplied", "x".repeat(lead));
        let shown = excerpt(&text).unwrap_or_default();
        let rest = shown.replace(key, "");
        assert!(!rest.contains("sk-"), "{shown}");
        assert!(shown.chars().count() <= ERROR_EXCERPT_CHARS + 2);
    }
    assert_eq!(excerpt(&"x".repeat(ERROR_EXCERPT_CHARS + 1)), None);
}

#[test]
fn stream_errors_are_sorted_by_code_and_type() {
    let of = |text: &str| {
        of_stream(
            Scanner::new()
                .scan(text.as_bytes(), &ScanLimits::DEFAULT)
                .unwrap(),
        )
    };
    let numeric = of(r#"{"error":{"code":502,"message":"upstream"}}"#);
    assert_eq!(
        (numeric.model.category, numeric.model.status),
        (ErrorCategory::ServerError, Some(502))
    );
    assert!(numeric.transient);
    let typed = of(r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#);
    assert_eq!(
        (typed.model.category, typed.model.status),
        (ErrorCategory::RateLimit, None)
    );
    let coded = of(r#"{"error":{"type":"x","code":"invalid_api_key"}}"#);
    assert_eq!(coded.model.category, ErrorCategory::AuthenticationFailed);
    assert!(!coded.transient);
    assert_eq!(of("{}").model.category, ErrorCategory::ServerError);
}

#[test]
fn an_empty_purse_is_not_asked_again() {
    let body =
        br#"{"error":{"message":"x","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    assert!(!of_status(429, body).transient);
    assert!(of_status(429, b"{}").transient);
}

// covers: DEC-41
#[test]
fn a_cut_is_the_servers_failure_and_no_connection_is_unknown() {
    let of = |kind, began| {
        let failure = TransportFailure { kind, text: "x" };
        of_transport(failure, began).model.category
    };
    assert_eq!(of(FailureKind::Cut, true), ErrorCategory::ServerError);
    assert_eq!(of(FailureKind::Timeout, true), ErrorCategory::ServerError);
    assert_eq!(of(FailureKind::Cut, false), ErrorCategory::ServerError);
    assert_eq!(of(FailureKind::Connect, false), ErrorCategory::Unknown);
    assert_eq!(of(FailureKind::Timeout, false), ErrorCategory::Unknown);
}
