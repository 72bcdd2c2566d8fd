//! Servers that echo the key, and models that say it.

use super::peer::Peer;
use super::streams::{Said, event, stream};
use super::vault::{DIALECTS, Places, Vault, id, path_of};
use crate::server::Request;
use crate::support::{tool_results, user};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// What an answer echoes.
struct Echo {
    key: String,
    /// All that a server knows of where it stands.
    place: String,
    /// The path that was asked for.
    path: String,
}

impl Echo {
    fn of(request: &Request) -> Self {
        let mut lines = request.head.lines();
        let path = lines.next().unwrap().split(' ').nth(1).unwrap();
        let header = |wanted: &str| {
            let line = request.head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                (name == wanted).then_some(value)
            });
            line.map(str::to_owned)
        };
        let key = header("authorization")
            .map(|value| value.strip_prefix("Bearer ").unwrap().to_owned())
            .or_else(|| header("api-key"))
            .or_else(|| header("x-api-key"));
        let host = header("host").unwrap();
        Self {
            key: key.unwrap(),
            // As the entry wrote it: two parts of the target that the route adds.
            place: format!("http://{host}/{}", path.split('/').nth(1).unwrap()),
            path: path.split('?').next().unwrap().to_owned(),
        }
    }
}

/// One character after the other in the escape that any reader of JSON takes.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("\\u{byte:04X}")).collect()
}

/// An answer with a body, cut in the middle of it.
fn answer(status: &str, headers: &str, body: &str) -> Vec<String> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    let middle = body.len() / 2;
    let middle = (middle..).find(|at| body.is_char_boundary(*at)).unwrap();
    vec![head, body[..middle].to_owned(), body[middle..].to_owned()]
}

fn streamed(body: &str) -> Vec<String> {
    answer("200 OK", "content-type: text/event-stream\r\n", body)
}

type Situation = (&'static str, fn(&Echo) -> Vec<String>);

/// Answers that fail the request at once, with the key and the place in them.
const FAILURES: [Situation; 15] = [
    ("a message", |echo| {
        let message = format!("wrong key {} at {}", echo.key, echo.place);
        let error = json!({"error": {"message": message, "code": echo.key, "type": echo.key}});
        answer("401 Unauthorized", "", &error.to_string())
    }),
    ("a message in escapes", |echo| {
        let body = format!(
            "{{\"error\":\"{} {}\"}}",
            escaped(&echo.key),
            escaped(&echo.place)
        );
        answer("401 Unauthorized", "", &body)
    }),
    ("a message in chunks", |echo| {
        let body = json!({"detail": format!("wrong {}", echo.key)}).to_string();
        let mut pieces =
            vec!["HTTP/1.1 403 Forbidden\r\ntransfer-encoding: chunked\r\n\r\n".to_owned()];
        pieces.extend(body.chars().map(|c| format!("1\r\n{c}\r\n")));
        pieces.push("0\r\n\r\n".to_owned());
        pieces
    }),
    ("plain words", |echo| {
        let body = format!("{} is no key of {}", echo.key, echo.place);
        answer("401 Unauthorized", "content-type: text/plain\r\n", &body)
    }),
    ("words as long as are shown", |echo| {
        let body = format!("{}{} and more", "x".repeat(480), echo.key);
        answer("401 Unauthorized", "", &body)
    }),
    ("Base64", |echo| {
        let all = ["", "u", "us"].map(|user| STANDARD.encode(format!("{user}{}:", echo.key)));
        let body = json!({"error": {"message": format!("Basic {}", all.join(" "))}});
        answer("401 Unauthorized", "", &body.to_string())
    }),
    ("headers", |echo| {
        let headers = format!(
            "www-authenticate: Bearer {0}\r\nset-cookie: {0}={1}\r\nx-{2}: 1\r\n",
            echo.key, echo.place, "key"
        );
        answer("401 Unauthorized", &headers, "")
    }),
    ("a redirect", |echo| {
        let to = format!("location: {}/login?key={}\r\n", echo.place, echo.key);
        let body = format!("<a href=\"{}?{}\">", echo.place, echo.key);
        answer("302 Found", &to, &body)
    }),
    ("a proxy", |echo| {
        let head = format!("proxy-authenticate: Basic realm=\"{}\"\r\n", echo.place);
        let body = format!("no way to {} with {}", echo.place, echo.key);
        answer("407 Proxy Authentication Required", &head, &body)
    }),
    ("a reason", |echo| {
        answer(&format!("400 {} {}", echo.key, echo.place), "", "")
    }),
    ("no HTTP", |echo| {
        vec![format!("HTTP/9 {} {}\r\n\r\n", echo.key, echo.place)]
    }),
    ("another content type", |echo| {
        let head = format!("content-type: {};charset={}\r\n", echo.key, echo.place);
        answer("200 OK", &head, "<html>")
    }),
    ("an error event", |echo| {
        let message = format!("{} at {}", echo.key, echo.place);
        let error = json!({"type": "invalid_request_error", "message": message});
        streamed(&event(&json!({"type": "error", "error": error})))
    }),
    ("an answer that is cut inside of it", |echo| {
        let begun = &echo.key[..echo.key.len() - 1];
        let text = vec!["so: ".to_owned(), begun.to_owned()];
        let said = Said {
            text,
            ..Said::default()
        };
        let whole = stream(&echo.path, &said);
        let at = whole.rfind(&spelled(begun)).unwrap();
        let (begun, _) = whole.split_at(at + whole[at..].find("\n\n").unwrap() + 2);
        let mut pieces = streamed(&whole);
        pieces.truncate(1);
        pieces.push(begun.to_owned());
        pieces
    }),
    ("an event that is no JSON", |echo| {
        streamed(&format!("data: {{\"a\":\"{0}\", {0}}}\n\n", echo.key))
    }),
];

/// Cuts `text` in two at every position, each time with a word before it and one
/// behind, and once more into single characters.
fn cut_everywhere(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for at in 1..text.len() {
        let (left, right) = text.split_at(at);
        pieces.extend([format!("{at}<"), left.to_owned(), right.to_owned()]);
        pieces.push("> ".to_owned());
    }
    pieces.extend(text.chars().map(String::from));
    pieces
}

/// What is left of that.
fn redacted(text: &str) -> String {
    let places = 1..text.len();
    let each = places.map(|at| format!("{at}<[redacted]> "));
    each.collect::<String>() + "[redacted]"
}

/// Answers that say the key; after a call they say no more.
fn said(echo: &Echo, number: usize, body: &Value) -> Vec<String> {
    let id = format!("call_{number}");
    if body.to_string().contains(&id) {
        let text = vec!["done".to_owned()];
        let said = Said {
            text,
            ..Said::default()
        };
        return streamed(&stream(&echo.path, &said));
    }
    let spelled = [spelled(&echo.key), escaped(&echo.key)];
    let path = |text: &str| {
        let mut pieces = cut_everywhere(text);
        pieces.insert(0, "{\"file_path\":\"/nowhere/".to_owned());
        pieces.push("\"}".to_owned());
        pieces
    };
    let said = match number {
        0 => Said {
            text: cut_everywhere(&echo.key),
            ..Said::default()
        },
        1 => Said {
            thinking: cut_everywhere(&echo.key),
            text: cut_everywhere(&echo.key),
            call: None,
        },
        _ => Said {
            call: Some((id, "Read", path(&spelled[number - 2]))),
            text: vec!["look".to_owned()],
            ..Said::default()
        },
    };
    streamed(&stream(&echo.path, &said))
}

/// A text as JSON spells it inside a string.
fn spelled(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The number behind the last of these words in what the model is told.
fn number_behind(word: &str, body: &Value) -> usize {
    let text = body.to_string();
    let at = text.rfind(word).unwrap() + word.len();
    let digits = text[at..].split(|c: char| !c.is_ascii_digit());
    digits.into_iter().next().unwrap().parse().unwrap()
}

fn vault(peer: &Peer) -> Vault {
    Vault::new(&Places {
        origins: vec![format!("http://{}", peer.address())],
        trusted: None,
    })
}

// covers: DEC-30, WIRE-013, ACC-21
#[test]
fn no_failure_tells_a_key_or_a_route_that_a_server_echoes() {
    let peer = Peer::answering(|request| {
        FAILURES[number_behind("situation ", &request.body)].1(&Echo::of(request))
    });
    let vault = vault(&peer);
    for (n, entry) in vault.entries.iter().take(DIALECTS).enumerate() {
        let mut agent = vault.session(n, &[]);
        vault.judge_process(agent.pid());
        for (number, (what, _)) in FAILURES.iter().enumerate() {
            agent.send(&user(&format!("situation {number}")));
            let result = agent.until_type("result");
            assert_eq!(result["is_error"], true, "{} {what}: {result}", id(n));
            vault.judge_text(what, &result.to_string());
        }
        let outcome = agent.end();
        assert_eq!(outcome.status, Some(1), "{}", outcome.stderr);
        let echoes = outcome.stdout.matches("[redacted]").count();
        assert!(echoes > FAILURES.len() / 2, "{}", outcome.stdout);
        vault.judge(path_of(entry), &outcome);
    }
}

// covers: DEC-30, WIRE-013
#[test]
fn no_cut_of_what_a_model_says_tells_a_key() {
    let peer = Peer::answering(|request| {
        let number = number_behind("situation ", &request.body);
        said(&Echo::of(request), number, &request.body)
    });
    let vault = vault(&peer);
    for (n, entry) in vault.entries.iter().take(DIALECTS).enumerate() {
        let key = &vault.keys[n];
        let mut agent = vault.session(n, &[]);
        for number in 0..2 {
            agent.send(&user(&format!("situation {number}")));
            let result = agent.until_type("result");
            assert_eq!(result["result"], redacted(key), "{} {number}", id(n));
        }
        for (number, text) in [(2, spelled(key)), (3, escaped(key))] {
            agent.send(&user(&format!("situation {number}")));
            let result = agent.until_type("result");
            assert_eq!(result["result"], "done", "{} {number}", id(n));
            let call = agent.seen.iter().rev().find_map(|record| {
                let block = &record["message"]["content"][0];
                (block["type"] == "tool_use").then(|| block["input"].clone())
            });
            let path = format!("/nowhere/{}", redacted(&text));
            assert_eq!(call.unwrap()["file_path"], path);
        }
        assert_eq!(tool_results(&agent.seen).len(), 2);
        let thinking = agent
            .seen
            .iter()
            .filter_map(|record| record["message"]["content"][0]["thinking"].as_str());
        assert_eq!(thinking.collect::<Vec<_>>(), [redacted(key)]);
        let outcome = agent.end();
        assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
        vault.judge(path_of(entry), &outcome);
    }
}
