//! What a session does, for logs: kinds, ids and sizes. Never what a host, a
//! model, a tool or a provider said, for that may hold anything.

use agentx_core::agent::{Command, Input, Output};
use agentx_core::checkpoint::Seeding;
use agentx_core::effect::{Answer, Progress, Reply, Request, Verdict};
use agentx_core::model::{Delta, ModelOutcome};
use agentx_core::structured::Validity;

/// Something was fed.
pub(super) fn input(input: &Input<'_>) {
    match input {
        Input::Bytes(bytes) => tracing::trace!(bytes = bytes.len(), "input"),
        Input::Eof => tracing::debug!("end of input"),
        Input::Tick => {}
        Input::Command(Command::Prompt(_)) => tracing::debug!("prompt of the command line"),
        Input::Command(Command::StopTask { .. }) => tracing::debug!("stop of a task"),
        Input::Command(Command::Shutdown { status }) => tracing::info!(status, "signal"),
        Input::Progress(id, Progress::Delta(delta)) => {
            tracing::trace!(effect = id.0, delta = delta_kind(delta), "progress");
        }
        Input::Progress(id, Progress::Began { .. }) => {
            tracing::debug!(effect = id.0, "task began");
        }
        Input::Progress(id, Progress::Network(_)) => {
            tracing::debug!(effect = id.0, "question about the network");
        }
        Input::Done(id, answer) => {
            let (kind, well) = answer_kind(answer);
            tracing::debug!(effect = id.0, kind, well, "effect settled");
        }
        Input::Sent(bytes) => tracing::trace!(bytes, "written"),
        Input::Progress(id, Progress::Hook { .. }) => {
            tracing::trace!(effect = id.0, "the hook has written something");
        }
        Input::WriteFailed => tracing::debug!("stdout failed"),
    }
}

/// The session wants something.
pub(super) fn output(output: &Output) {
    match output {
        Output::Transmit(record) => tracing::trace!(bytes = record.as_bytes().len(), "record"),
        Output::Start(id, request) => {
            tracing::debug!(
                effect = id.0,
                kind = request_kind(request),
                "effect started"
            );
            if let Request::Model(request) = request
                && request.round == 0
            {
                tracing::info!(effect = id.0, "turn started");
            }
        }
        Output::Reply(id, Reply::Network { allowed, .. }) => {
            tracing::debug!(effect = id.0, allowed, "answer about the network");
        }
        Output::Cancel(id) => tracing::debug!(effect = id.0, "effect cancelled"),
        // Told where they are acted upon.
        Output::Event(_) | Output::Diagnostic(_) => {}
        Output::Exit(status) => tracing::debug!(status, "session over"),
    }
}

const fn request_kind(request: &Request) -> &'static str {
    match request {
        Request::Model(_) => "model",
        Request::Tool(_) => "tool",
        Request::Task(_) => "task",
        Request::Hook(_) => "hook",
        Request::Persist(_) => "persist",
        Request::Store(_) => "store",
        Request::FlushRemote => "flush",
        Request::Vet(_) => "vet",
        Request::Validate(_) => "validate",
        Request::Match(_) => "match",
        Request::ReadSchema(_) => "read_schema",
        Request::Rewind(_) => "rewind",
        Request::Seed(_) => "seed",
    }
}

/// What answered, and whether well.
const fn answer_kind(answer: &Answer) -> (&'static str, bool) {
    match answer {
        Answer::Model(outcome) => ("model", matches!(outcome, ModelOutcome::Finished)),
        Answer::Tool(outcome) => ("tool", !outcome.is_error),
        Answer::Task(outcome) => ("task", !outcome.is_error),
        Answer::Hook(report) => ("hook", matches!(report.status(), Some(0))),
        Answer::Persisted(verdict) => ("persist", matches!(verdict, Verdict::Passed)),
        Answer::Stored(verdict) => ("store", matches!(verdict, Verdict::Passed)),
        Answer::Flushed(verdict) => ("flush", matches!(verdict, Verdict::Passed)),
        Answer::Vetted(verdict) => ("vet", matches!(verdict, Verdict::Passed)),
        Answer::Validated(validity) => ("validate", matches!(validity, Validity::Fits)),
        Answer::Matched(_) => ("match", true),
        Answer::SchemaRead(read) => ("read_schema", read.is_ok()),
        Answer::Rewound(rewound) => ("rewind", rewound.is_ok()),
        Answer::Seeded(seeding) => ("seed", !matches!(seeding, Seeding::Refused(_))),
    }
}

const fn delta_kind(delta: &Delta) -> &'static str {
    match delta {
        Delta::MessageId(_) => "message_id",
        Delta::Text(_) => "text",
        Delta::Thinking(_) => "thinking",
        Delta::Signature(_) => "signature",
        Delta::RedactedThinking(_) => "redacted_thinking",
        Delta::CallStart { .. } => "call",
        Delta::CallArguments { .. } => "arguments",
        Delta::Usage(_) => "usage",
        Delta::UsageUnknown => "usage_unknown",
        Delta::RateLimited { .. } => "rate_limited",
        Delta::Stop(_) => "stop",
    }
}
