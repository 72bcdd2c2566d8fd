//! Routes of Azure `OpenAI`.

use super::BaseUrl;

/// Ends that an endpoint may have been written with; the route brings its own.
const KNOWN_ENDS: [&str; 4] = [
    "/openai/v1/responses",
    "/openai/responses",
    "/openai/v1",
    "/openai",
];

/// An endpoint without what belongs to a route, so that every spelling of one
/// place is the same.
pub(crate) fn resource(mut endpoint: BaseUrl) -> BaseUrl {
    let known = KNOWN_ENDS
        .iter()
        .find_map(|end| endpoint.path.strip_suffix(end));
    if let Some(path) = known {
        endpoint.path = path.trim_end_matches('/').to_owned();
    }
    endpoint
}

/// Path and query of the Responses API: the v1 route for the versions `v1`,
/// `preview` and none, else the versioned one.
pub(crate) fn responses(resource: &BaseUrl, api_version: &str) -> String {
    let route = match api_version {
        "" | "v1" | "preview" => "/openai/v1/responses",
        _ => "/openai/responses",
    };
    let mut target = format!("{}{route}", resource.path);
    if !api_version.is_empty() {
        target.push_str("?api-version=");
        for byte in api_version.bytes() {
            push_escaped(&mut target, byte);
        }
    }
    target
}

/// Appends a byte of a query's value, escaped where it could mean more.
fn push_escaped(out: &mut String, byte: u8) {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
        out.push(char::from(byte));
    } else {
        out.push_str(&format!("%{byte:02X}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_endpoint_is_the_same() {
        for (endpoint, normal) in [
            ("https://res.example", "https://res.example"),
            ("https://res.example/", "https://res.example"),
            ("https://res.example/openai", "https://res.example"),
            ("https://res.example/openai/", "https://res.example"),
            ("https://res.example/openai/v1", "https://res.example"),
            ("https://res.example/openai/v1//", "https://res.example"),
            (
                "https://res.example/openai/responses",
                "https://res.example",
            ),
            (
                "https://RES.example:443/openai/v1/responses/",
                "https://res.example",
            ),
            (
                "https://gate.example/east/openai/v1",
                "https://gate.example/east",
            ),
            (
                "https://gate.example/myopenai",
                "https://gate.example/myopenai",
            ),
            ("https://gate.example/v1", "https://gate.example/v1"),
        ] {
            let resource = resource(BaseUrl::parse(endpoint).unwrap());
            assert_eq!(resource.to_string(), normal, "{endpoint}");
        }
    }

    #[test]
    fn versions_choose_the_route() {
        let place = BaseUrl::parse("https://gate.example/east").unwrap();
        for (version, target) in [
            ("", "/east/openai/v1/responses"),
            ("v1", "/east/openai/v1/responses?api-version=v1"),
            ("preview", "/east/openai/v1/responses?api-version=preview"),
            (
                "2025-04-01-preview",
                "/east/openai/responses?api-version=2025-04-01-preview",
            ),
            ("V1", "/east/openai/responses?api-version=V1"),
            (
                "a&b=c#d e",
                "/east/openai/responses?api-version=a%26b%3Dc%23d%20e",
            ),
        ] {
            assert_eq!(responses(&place, version), target);
        }
    }
}
