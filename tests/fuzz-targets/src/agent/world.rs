//! The world of a fuzzed session: a model that does what the prompt says.
//!
//! | letter | answer of the model |
//! |---|---|
//! | `l` `c` `d` | a call of `Look`, `Change`, `Do` |
//! | `b` | a call of `Do` in the background |
//! | `x` | calls of all three, and one of a tool that is not there |
//! | `m` | a call whose arguments are no JSON |
//! | `n` | a call whose input nests deep |
//! | `t` | thinking, signed, then text |
//! | `k` | the credential, in text and in a call |
//! | `o` | an answer that reaches the output limit |
//! | `e` | an empty answer |
//! | `f` `r` | a failure; one for too many requests |
//! | `h` | none before the input has ended |
//! | `p` | a call of the tool `add` of the host's server `own` |
//! | `s` | a submission of structured output |
//! | any other, or none | text |

use super::KEY;
use agentx_core::checkpoint::{RewindReport, Seeding};
use agentx_core::effect::{Answer, Progress, Request, Verdict};
use agentx_core::hook::{HookEnd, HookReport};
use agentx_core::model::{
    Delta, ErrorCategory, Message, ModelFailure, ModelOutcome, ModelRequest, StopReason, Usage,
};
use agentx_core::structured::{TOOL, Validity};
use agentx_core::tool::ToolOutcome;

/// What hooks print, in turn.
const HOOKS: [&str; 4] = [
    "",
    "{\"decision\":\"allow\"}",
    "{\"additionalContext\":\"mind the gap\",\"continue\":true}",
    "{\"decision\":\"deny\",\"message\":\"no\"}",
];

/// Counts what it was asked, so that answers differ.
#[derive(Default)]
pub(super) struct World {
    asked: usize,
}

impl World {
    /// Whether this is answered at the end alone.
    #[expect(clippy::unused_self, reason = "the world says so")]
    pub(super) fn holds(&self, request: &Request) -> bool {
        matches!(request, Request::Model(request) if letter(request) == b'h')
    }

    /// What comes of a request: its news, then its answer.
    pub(super) fn answer(&mut self, request: Request) -> (Vec<Progress>, Answer) {
        self.asked += 1;
        match request {
            Request::Model(request) => model(&request),
            Request::Tool(request) => {
                let text = format!("{} {KEY}", request.call.input.as_str());
                let news = vec![Progress::Network("example.org".into())];
                let news = if self.asked.is_multiple_of(3) {
                    news
                } else {
                    Vec::new()
                };
                (news, Answer::Tool(ToolOutcome::text(text)))
            }
            Request::Task(_) if self.asked.is_multiple_of(4) => (
                Vec::new(),
                Answer::Task(ToolOutcome::error("it cannot begin")),
            ),
            Request::Task(_) => {
                let output_file = "/tmp/task.out".into();
                let news = vec![Progress::Began { output_file }];
                (news, Answer::Task(ToolOutcome::text("done")))
            }
            Request::Hook(_) => {
                let printed = HOOKS[self.asked % HOOKS.len()];
                let report = HookReport {
                    end: HookEnd::Exited(0),
                    answer: printed.to_owned(),
                    stdout: printed.to_owned(),
                    stderr: String::new(),
                };
                (Vec::new(), Answer::Hook(report))
            }
            request => (Vec::new(), self.plain(request)),
        }
    }

    fn plain(&self, request: Request) -> Answer {
        let verdict = match self.asked % 13 {
            12 => Verdict::Failed,
            _ => Verdict::Passed,
        };
        match request {
            Request::Persist(_) => Answer::Persisted(verdict),
            Request::Store(_) => Answer::Stored(verdict),
            Request::FlushRemote => Answer::Flushed(verdict),
            Request::Validate(_) if self.asked.is_multiple_of(2) => {
                Answer::Validated(Validity::Breaks(vec!["/a: is no number".into()]))
            }
            Request::Validate(_) => Answer::Validated(Validity::Fits),
            Request::Match(matching) => {
                let names = || matching.names.iter().take(2).cloned().collect();
                let patterns = matching.patterns.iter();
                let all = patterns.map(|pattern| match pattern.contains('(') {
                    true => Err("not a regular expression".into()),
                    false => Ok(names()),
                });
                Answer::Matched(all.collect())
            }
            Request::ReadSchema(_) => Answer::SchemaRead(Ok(())),
            Request::Rewind(_) => Answer::Rewound(Ok(RewindReport {
                changed: vec!["/repo/a".into()],
                ..RewindReport::default()
            })),
            Request::Seed(_) => Answer::Seeded(Seeding::Seeded),
            // A refusal would be the end of the session.
            _ => Answer::Vetted(Verdict::Passed),
        }
    }
}

/// The letter of the prompt that this request comes to.
fn letter(request: &ModelRequest) -> u8 {
    let prompt = request.history.get(request.prompt);
    let Some(Message::User(parts)) = prompt.map(|message| &**message) else {
        return b'.';
    };
    let mut letters = parts.iter().flat_map(|part| part.bytes());
    letters.nth(request.round as usize).unwrap_or(b'.')
}

fn model(request: &ModelRequest) -> (Vec<Progress>, Answer) {
    let text = |text: &str| Delta::Text(text.to_owned());
    let mut stop = StopReason::EndTurn;
    let mut deltas = vec![Delta::MessageId(format!("msg_{}", request.round))];
    match letter(request) {
        b'l' => deltas.extend(call(0, "Look", "{\"file_path\":\"/repo/a\"}")),
        b'c' => deltas.extend(call(0, "Change", "{\"file_path\":\"b\"}")),
        b'd' => deltas.extend(call(0, "Do", "{\"command\":\"ls -l\"}")),
        b'b' => deltas.extend(call(0, "Do", "{\"run_in_background\":true}")),
        b'x' => {
            deltas.push(text("four"));
            for (index, name) in (0..).zip(["Look", "Change", "Do", "None"]) {
                deltas.extend(call(index, name, "{\"file_path\":\"/etc/x\"}"));
            }
        }
        b'm' => deltas.extend(call(0, "Do", "{\"command\":")),
        b'n' => {
            let nested = format!("{{\"a\":{}{}}}", "[".repeat(121), "]".repeat(121));
            deltas.extend(call(0, "Do", &nested));
        }
        b't' => {
            deltas.push(Delta::Thinking("hm\u{2028}".into()));
            deltas.push(Delta::Signature("sig".into()));
            deltas.push(Delta::RedactedThinking("secret".into()));
            deltas.push(text("thought"));
        }
        b'k' => {
            let (head, tail) = KEY.split_at(9);
            deltas.extend([text(head), text(tail)]);
            deltas.extend(call(0, "Do", &format!("{{\"command\":\"echo {KEY}\"}}")));
        }
        b'o' => {
            deltas.extend([text("to the lim"), Delta::UsageUnknown]);
            stop = StopReason::MaxTokens;
        }
        b'e' => {}
        b'f' => return failure(ErrorCategory::ServerError, 500),
        b'r' => return failure(ErrorCategory::RateLimit, 429),
        b'p' => deltas.extend(call(0, "mcp__own__add", "{\"a\":1}")),
        b's' => deltas.extend(call(0, TOOL, "{\"a\":1}")),
        _ => deltas.push(text("fine")),
    }
    if deltas
        .iter()
        .any(|delta| matches!(delta, Delta::CallStart { .. }))
    {
        stop = StopReason::ToolUse;
    }
    let tokens = Usage {
        input_tokens: 11,
        output_tokens: 4,
        ..Usage::default()
    };
    deltas.extend([Delta::Usage(tokens), Delta::Stop(stop)]);
    let news = deltas.into_iter().map(Progress::Delta).collect();
    (news, Answer::Model(ModelOutcome::Finished))
}

fn call(index: u32, name: &str, arguments: &str) -> [Delta; 2] {
    [
        Delta::CallStart {
            index,
            id: format!("call_{index}"),
            name: name.to_owned(),
        },
        Delta::CallArguments {
            index,
            text: arguments.to_owned(),
        },
    ]
}

fn failure(category: ErrorCategory, status: u16) -> (Vec<Progress>, Answer) {
    let news = vec![Progress::Delta(Delta::RateLimited { resets_at: None })];
    let failed = ModelFailure {
        category,
        status: Some(status),
        message: format!("the provider said {KEY}"),
    };
    let news = if status == 429 { news } else { Vec::new() };
    (news, Answer::Model(ModelOutcome::Failed(failed)))
}
