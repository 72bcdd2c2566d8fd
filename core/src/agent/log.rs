//! Inputs as lines of text, so that a recorded session can be replayed.
//!
//! A session is a function of its configuration, its seed and its inputs with
//! their times. The bytes of the stream, its end and ticks are what every
//! machine is fed, and a log keeps them in its own way; here are the others.
//!
//! ```text
//! command prompt "hello"            command shutdown 143
//! command stop_task "task_1"        progress 2 began "/tmp/task_1.out"
//! progress 1 text "hi"              progress 1 call 0 "toolu_1" "Read"
//! progress 3 hook "out" "err"
//! progress 1 usage 11 4 0 0 0       progress 1 stop end_turn
//! done 1 model finished             done 1 model failed rate_limit 429 "slow down"
//! done 2 tool ok "text"             done 2 task error "text"
//! done 3 vetted passed
//! done 4 stored passed              done 4 stored failed
//! done 5 validated fits             done 5 validated breaks "/a: is no number"
//! done 6 matched tools 2 "Edit" "Write" fault "not a regular expression"
//! done 7 schema usable              done 7 schema unusable "at /type: …"
//! done 8 rewound done 2 5 1 "/a" "why"
//! done 8 rewound refused "why"      done 9 seeded seen
//! done 5 hook exited 0 "answer" "out" "err"
//! done 5 hook failed "why" "answer" "out" "err"
//! network 2 "example.org"
//! sent 120                          write_failed
//! ```

mod files;

use super::{Command, Input};
use crate::effect::{Answer, EffectId, Progress, Verdict};
use crate::hook::{HookEnd, HookReport, Matched};
use crate::json::{ScanLimits, Scanner, Writer};
use crate::model::{Delta, ErrorCategory, ModelFailure, ModelOutcome, StopReason, Usage};
use crate::structured::Validity;
use crate::tool::{ToolContent, ToolOutcome};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

#[cfg(test)]
mod tests;

/// A line that is no input of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogFault(&'static str);

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for LogFault {}

const STOPS: [(&str, StopReason); 6] = [
    ("end_turn", StopReason::EndTurn),
    ("tool_use", StopReason::ToolUse),
    ("max_tokens", StopReason::MaxTokens),
    ("stop_sequence", StopReason::StopSequence),
    ("refusal", StopReason::Refusal),
    ("content_filter", StopReason::ContentFilter),
];

/// What stands for a status that never came.
const NO_STATUS: &str = "-";

/// One input as a line, without a time and a newline. `None` for the bytes of
/// the stream, its end and ticks.
#[must_use]
pub fn write(input: &Input<'_>) -> Option<String> {
    let line = Line::default();
    let line = match input {
        Input::Bytes(_) | Input::Eof | Input::Tick => return None,
        Input::Command(Command::Prompt(text)) => line.word("command prompt").text(text),
        Input::Command(Command::Shutdown { status }) => {
            line.word("command shutdown").number(*status)
        }
        Input::Command(Command::StopTask { task_id }) => {
            line.word("command stop_task").text(task_id)
        }
        Input::Progress(id, Progress::Delta(delta)) => {
            write_delta(line.word("progress").number(id.0), delta)
        }
        Input::Progress(id, Progress::Began { output_file }) => {
            let line = line.word("progress").number(id.0);
            line.word("began").text(output_file)
        }
        Input::Progress(id, Progress::Hook { stdout, stderr }) => {
            let line = line.word("progress").number(id.0).word("hook");
            line.text(stdout).text(stderr)
        }
        Input::Progress(id, Progress::Network(host)) => {
            line.word("network").number(id.0).text(host)
        }
        Input::Done(id, answer) => write_answer(line.word("done").number(id.0), answer),
        Input::Sent(bytes) => line.word("sent").number(*bytes),
        Input::WriteFailed => line.word("write_failed"),
    };
    Some(line.0)
}

fn write_delta(line: Line, delta: &Delta) -> Line {
    match delta {
        Delta::MessageId(id) => line.word("message_id").text(id),
        Delta::Text(text) => line.word("text").text(text),
        Delta::Thinking(text) => line.word("thinking").text(text),
        Delta::Signature(text) => line.word("signature").text(text),
        Delta::RedactedThinking(data) => line.word("redacted_thinking").text(data),
        Delta::CallStart { index, id, name } => {
            line.word("call").number(*index).text(id).text(name)
        }
        Delta::CallArguments { index, text } => line.word("arguments").number(*index).text(text),
        Delta::Usage(usage) => line
            .word("usage")
            .number(usage.input_tokens)
            .number(usage.output_tokens)
            .number(usage.cache_creation_input_tokens)
            .number(usage.cache_read_input_tokens)
            .number(usage.reasoning_output_tokens),
        Delta::UsageUnknown => line.word("usage_unknown"),
        Delta::RateLimited { resets_at: None } => line.word("rate_limited"),
        Delta::RateLimited {
            resets_at: Some(seconds),
        } => line.word("rate_limited_until").number(*seconds),
        Delta::Stop(stop) => {
            let word = STOPS.iter().find(|(_, known)| known == stop);
            line.word("stop").word(word.map_or("", |(word, _)| word))
        }
    }
}

fn write_answer(line: Line, answer: &Answer) -> Line {
    match answer {
        Answer::Model(ModelOutcome::Finished) => line.word("model finished"),
        Answer::Model(ModelOutcome::Failed(failure)) => {
            let line = line.word("model failed").word(failure.category.as_str());
            let line = match failure.status {
                Some(status) => line.number(status),
                None => line.word(NO_STATUS),
            };
            line.text(&failure.message)
        }
        Answer::Tool(outcome) => line.word("tool").outcome(outcome),
        Answer::Task(outcome) => line.word("task").outcome(outcome),
        Answer::Hook(report) => write_report(line.word("hook"), report),
        Answer::Persisted(verdict) => line.word("persisted").verdict(*verdict),
        Answer::Stored(verdict) => line.word("stored").verdict(*verdict),
        Answer::Flushed(verdict) => line.word("flushed").verdict(*verdict),
        Answer::Vetted(verdict) => line.word("vetted").verdict(*verdict),
        Answer::Rewound(rewound) => files::write_rewound(line.word("rewound"), rewound),
        Answer::Seeded(seeding) => files::write_seeded(line.word("seeded"), seeding),
        Answer::Validated(Validity::Fits) => line.word("validated fits"),
        Answer::Validated(Validity::Unknown) => line.word("validated unknown"),
        Answer::Validated(Validity::Breaks(faults)) => {
            let line = line.word("validated breaks");
            faults.iter().fold(line, |line, fault| line.text(fault))
        }
        Answer::Matched(all) => all.iter().fold(line.word("matched"), write_matched),
        Answer::SchemaRead(Ok(())) => line.word("schema usable"),
        Answer::SchemaRead(Err(fault)) => line.word("schema unusable").text(fault),
    }
}

fn write_matched(line: Line, matched: &Matched) -> Line {
    match matched {
        Ok(tools) => {
            let line = line.word("tools").number(tools.len());
            tools.iter().fold(line, |line, tool| line.text(tool))
        }
        Err(fault) => line.word("fault").text(fault),
    }
}

fn write_report(line: Line, report: &HookReport) -> Line {
    let line = match &report.end {
        HookEnd::Exited(status) => line.word("exited").number(*status),
        HookEnd::Failed(why) => line.word("failed").text(why),
    };
    line.text(&report.answer)
        .text(&report.stdout)
        .text(&report.stderr)
}

/// A line that grows word by word.
#[derive(Default)]
struct Line(String);

impl Line {
    fn word(mut self, word: &str) -> Self {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(word);
        self
    }

    fn number(self, number: impl ToString) -> Self {
        self.word(&number.to_string())
    }

    fn text(self, text: &str) -> Self {
        let mut writer = Writer::new();
        writer.string(text);
        self.word(&String::from_utf8_lossy(writer.as_bytes()))
    }

    fn outcome(self, outcome: &ToolOutcome) -> Self {
        let word = if outcome.is_error { "error" } else { "ok" };
        let add = |line: Self, ToolContent::Text(text): &ToolContent| line.text(text);
        outcome.content.iter().fold(self.word(word), add)
    }

    fn verdict(self, verdict: Verdict) -> Self {
        self.word(match verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
        })
    }
}

/// Reads what [`write`](fn@write) wrote.
///
/// # Errors
///
/// What the line lacks.
pub fn read(line: &str) -> Result<Input<'static>, LogFault> {
    let mut words = Words(line);
    let input = match words.word()? {
        "command" => Input::Command(read_command(&mut words)?),
        "progress" => {
            let id = EffectId(words.number()?);
            Input::Progress(id, read_progress(&mut words)?)
        }
        "network" => {
            let id = EffectId(words.number()?);
            Input::Progress(id, Progress::Network(words.text()?))
        }
        "done" => {
            let id = EffectId(words.number()?);
            Input::Done(id, read_answer(&mut words)?)
        }
        "sent" => Input::Sent(words.number()?),
        "write_failed" => Input::WriteFailed,
        _ => return Err(LogFault("an unknown kind of input")),
    };
    if words.0.is_empty() {
        Ok(input)
    } else {
        Err(LogFault("more than the input"))
    }
}

fn read_command(words: &mut Words<'_>) -> Result<Command, LogFault> {
    Ok(match words.word()? {
        "prompt" => Command::Prompt(words.text()?),
        "stop_task" => Command::StopTask {
            task_id: words.text()?,
        },
        "shutdown" => Command::Shutdown {
            status: words.number()?,
        },
        _ => return Err(LogFault("an unknown command")),
    })
}

fn read_progress(words: &mut Words<'_>) -> Result<Progress, LogFault> {
    Ok(match words.word()? {
        "began" => Progress::Began {
            output_file: words.text()?,
        },
        "hook" => Progress::Hook {
            stdout: words.text()?,
            stderr: words.text()?,
        },
        word => Progress::Delta(read_delta(word, words)?),
    })
}

fn read_delta(word: &str, words: &mut Words<'_>) -> Result<Delta, LogFault> {
    Ok(match word {
        "message_id" => Delta::MessageId(words.text()?),
        "text" => Delta::Text(words.text()?),
        "thinking" => Delta::Thinking(words.text()?),
        "signature" => Delta::Signature(words.text()?),
        "redacted_thinking" => Delta::RedactedThinking(words.text()?),
        "call" => Delta::CallStart {
            index: words.number()?,
            id: words.text()?,
            name: words.text()?,
        },
        "arguments" => Delta::CallArguments {
            index: words.number()?,
            text: words.text()?,
        },
        "usage" => Delta::Usage(Usage {
            input_tokens: words.number()?,
            output_tokens: words.number()?,
            cache_creation_input_tokens: words.number()?,
            cache_read_input_tokens: words.number()?,
            reasoning_output_tokens: words.number()?,
        }),
        "usage_unknown" => Delta::UsageUnknown,
        "rate_limited" => Delta::RateLimited { resets_at: None },
        "rate_limited_until" => Delta::RateLimited {
            resets_at: Some(words.number()?),
        },
        "stop" => {
            let word = words.word()?;
            let stop = STOPS.iter().find(|(known, _)| *known == word);
            Delta::Stop(stop.ok_or(LogFault("an unknown stop reason"))?.1)
        }
        _ => return Err(LogFault("an unknown delta")),
    })
}

fn read_answer(words: &mut Words<'_>) -> Result<Answer, LogFault> {
    Ok(match words.word()? {
        "model" => Answer::Model(read_outcome(words)?),
        "tool" => Answer::Tool(read_tool(words)?),
        "task" => Answer::Task(read_tool(words)?),
        "hook" => Answer::Hook(read_report(words)?),
        "persisted" => Answer::Persisted(words.verdict()?),
        "stored" => Answer::Stored(words.verdict()?),
        "flushed" => Answer::Flushed(words.verdict()?),
        "vetted" => Answer::Vetted(words.verdict()?),
        "validated" => Answer::Validated(read_validity(words)?),
        "matched" => Answer::Matched(read_matched(words)?),
        "schema" => Answer::SchemaRead(match words.word()? {
            "usable" => Ok(()),
            "unusable" => Err(words.text()?),
            _ => return Err(LogFault("a schema is `usable` or `unusable`")),
        }),
        "rewound" => Answer::Rewound(files::read_rewound(words)?),
        "seeded" => Answer::Seeded(files::read_seeded(words)?),
        _ => return Err(LogFault("an unknown answer")),
    })
}

fn read_tool(words: &mut Words<'_>) -> Result<ToolOutcome, LogFault> {
    let is_error = match words.word()? {
        "ok" => false,
        "error" => true,
        _ => return Err(LogFault("a tool ends `ok` or `error`")),
    };
    let mut content = Vec::new();
    while !words.0.is_empty() {
        content.push(ToolContent::Text(words.text()?));
    }
    Ok(ToolOutcome { content, is_error })
}

fn read_validity(words: &mut Words<'_>) -> Result<Validity, LogFault> {
    match words.word()? {
        "fits" => Ok(Validity::Fits),
        "unknown" => Ok(Validity::Unknown),
        "breaks" => {
            let mut faults = Vec::new();
            while !words.0.is_empty() {
                faults.push(words.text()?);
            }
            Ok(Validity::Breaks(faults))
        }
        _ => Err(LogFault("a value `fits`, `breaks` or is `unknown`")),
    }
}

fn read_matched(words: &mut Words<'_>) -> Result<Vec<Matched>, LogFault> {
    let mut all = Vec::new();
    while !words.0.is_empty() {
        all.push(match words.word()? {
            "tools" => {
                let count: usize = words.number()?;
                let mut tools = BTreeSet::new();
                for _ in 0..count {
                    tools.insert(words.text()?.into());
                }
                Ok(tools)
            }
            "fault" => Err(words.text()?),
            _ => return Err(LogFault("a pattern has `tools` or a `fault`")),
        });
    }
    Ok(all)
}

fn read_report(words: &mut Words<'_>) -> Result<HookReport, LogFault> {
    let end = match words.word()? {
        "exited" => HookEnd::Exited(words.number()?),
        "failed" => HookEnd::Failed(words.text()?),
        _ => return Err(LogFault("a hook ends `exited` or `failed`")),
    };
    Ok(HookReport {
        end,
        answer: words.text()?,
        stdout: words.text()?,
        stderr: words.text()?,
    })
}

fn read_outcome(words: &mut Words<'_>) -> Result<ModelOutcome, LogFault> {
    match words.word()? {
        "finished" => Ok(ModelOutcome::Finished),
        "failed" => {
            let word = words.word()?;
            let category = ErrorCategory::ALL
                .into_iter()
                .find(|known| known.as_str() == word);
            let status = match words.word()? {
                NO_STATUS => None,
                status => Some(number(status)?),
            };
            Ok(ModelOutcome::Failed(ModelFailure {
                category: category.ok_or(LogFault("an unknown error category"))?,
                status,
                message: words.text()?,
            }))
        }
        _ => Err(LogFault("a model request ends `finished` or `failed`")),
    }
}

/// What is left of a line.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn word(&mut self) -> Result<&'a str, LogFault> {
        if self.0.is_empty() {
            return Err(LogFault("a word is missing"));
        }
        let (word, rest) = self.0.split_once(' ').unwrap_or((self.0, ""));
        self.0 = rest;
        Ok(word)
    }

    fn number<T: FromStr>(&mut self) -> Result<T, LogFault> {
        number(self.word()?)
    }

    fn verdict(&mut self) -> Result<Verdict, LogFault> {
        match self.word()? {
            "passed" => Ok(Verdict::Passed),
            "failed" => Ok(Verdict::Failed),
            _ => Err(LogFault("a verdict is `passed` or `failed`")),
        }
    }

    fn text(&mut self) -> Result<String, LogFault> {
        let end = self.end_of_text().ok_or(LogFault("a text is missing"))?;
        let (text, rest) = self.0.split_at_checked(end).unwrap_or((self.0, ""));
        self.0 = rest.strip_prefix(' ').unwrap_or(rest);
        let mut scanner = Scanner::new();
        let value = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).ok();
        let text = value.and_then(|value| value.as_str()?.decode().ok());
        text.map(String::from)
            .ok_or(LogFault("a text is no JSON string"))
    }

    /// Past the closing quote of the string that comes next.
    fn end_of_text(&self) -> Option<usize> {
        let mut escaped = false;
        let inside = self.0.strip_prefix('"')?;
        let close = inside.bytes().position(|byte| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        })?;
        Some(close + 2)
    }
}

fn number<T: FromStr>(word: &str) -> Result<T, LogFault> {
    word.parse().map_err(|_| LogFault("a number is missing"))
}
