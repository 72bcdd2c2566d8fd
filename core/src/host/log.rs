//! Inputs as lines of text, so that a recorded session can be replayed.
//!
//! A session is a function of its configuration and its inputs with their times.
//! The bytes of the stream, its end and ticks are what every machine is fed; here
//! are the others, with what they carry in the words of the wire.
//!
//! ```text
//! command prompt {"type":"user","message":{…}}      command environment {…}
//! command call 7 - {"subtype":"interrupt"}          command forget 7
//! command call 8 2500000 {…}                        with its time, in microseconds
//! command keep_alive       command close            command abandon
//! done 3 permit {"behavior":"deny","message":"no"}  done 3 hook {…}
//! done 3 elicit {"action":"accept"}                 done 3 mcp {…}
//! done 3 mcp                                        done 3 failed "why"
//! sent 120                                          write_failed
//! ```

use super::asks::write_reply;
use super::{Answer, CallId, Command, Input};
use crate::effect::EffectId;
use crate::json::{RawJson, ScanLimits, Scanner, Writer};
use crate::mcp::McpReply;
use crate::schema::declare::{FromJson, Json as _};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

/// A line that is no input of a host session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogFault(&'static str);

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for LogFault {}

/// What stands for a time that is not named.
const USUAL: &str = "-";

/// One input as a line, without a time and a newline. `None` for the bytes of
/// the stream, its end and ticks.
#[must_use]
pub fn write(input: &Input<'_>) -> Option<String> {
    Some(match input {
        Input::Bytes(_) | Input::Eof | Input::Tick => return None,
        Input::Command(command) => format!("command {}", write_command(command)),
        Input::Done(id, answer) => format!("done {} {}", id.0, write_answer(answer)),
        Input::Sent(bytes) => format!("sent {bytes}"),
        Input::WriteFailed => "write_failed".to_string(),
    })
}

fn write_command(command: &Command) -> String {
    match command {
        Command::Prompt(prompt) => format!("prompt {}", json(|w| prompt.write(w))),
        Command::Call { id, call, timeout } => {
            let timeout = timeout.map(|time| time.as_micros().to_string());
            let timeout = timeout.as_deref().unwrap_or(USUAL);
            format!("call {} {timeout} {}", id.0, json(|w| call.write(w)))
        }
        Command::Forget(id) => format!("forget {}", id.0),
        Command::Environment(update) => format!("environment {}", json(|w| update.write(w))),
        Command::KeepAlive => "keep_alive".to_string(),
        Command::Close => "close".to_string(),
        Command::Abandon => "abandon".to_string(),
    }
}

fn write_answer(answer: &Answer) -> String {
    match answer {
        Answer::Permit(decision) => format!("permit {}", json(|w| decision.write(w))),
        Answer::Hook(says) => format!("hook {}", says.as_str()),
        Answer::Elicit(reply) => format!("elicit {}", json(|w| write_reply(reply, w))),
        Answer::Mcp(Some(message)) => format!("mcp {}", message.as_str()),
        Answer::Mcp(None) => "mcp".to_string(),
        Answer::Failed(why) => format!("failed {}", json(|w| w.string(why))),
    }
}

fn json(write: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::new();
    write(&mut writer);
    String::from_utf8_lossy(&writer.finish()).into_owned()
}

/// Reads what [`write`](fn@write) wrote.
///
/// # Errors
///
/// What the line lacks.
pub fn read(line: &str) -> Result<Input<'static>, LogFault> {
    let (kind, rest) = first(line);
    match kind {
        "command" => read_command(rest).map(Input::Command),
        "done" => {
            let (id, answer) = first(rest);
            Ok(Input::Done(EffectId(number(id)?), read_answer(answer)?))
        }
        "sent" => number(rest).map(Input::Sent),
        "write_failed" => Ok(Input::WriteFailed),
        _ => Err(LogFault("an unknown kind of input")),
    }
}

fn read_command(line: &str) -> Result<Command, LogFault> {
    let (kind, rest) = first(line);
    Ok(match kind {
        "prompt" => Command::Prompt(Box::new(value(rest)?)),
        "call" => {
            let (id, rest) = first(rest);
            let (timeout, call) = first(rest);
            Command::Call {
                id: CallId(number(id)?),
                call: Box::new(value(call)?),
                timeout: match timeout {
                    USUAL => None,
                    micros => Some(Duration::from_micros(number(micros)?)),
                },
            }
        }
        "forget" => Command::Forget(CallId(number(rest)?)),
        "environment" => Command::Environment(value(rest)?),
        "keep_alive" => Command::KeepAlive,
        "close" => Command::Close,
        "abandon" => Command::Abandon,
        _ => return Err(LogFault("an unknown command")),
    })
}

fn read_answer(line: &str) -> Result<Answer, LogFault> {
    let (kind, rest) = first(line);
    Ok(match kind {
        "permit" => Answer::Permit(value(rest)?),
        "hook" => Answer::Hook(value(rest)?),
        "elicit" => Answer::Elicit(McpReply::of(Some(&value(rest)?))),
        "mcp" if rest.is_empty() => Answer::Mcp(None),
        "mcp" => Answer::Mcp(Some(value(rest)?)),
        "failed" => Answer::Failed(value(rest)?),
        _ => return Err(LogFault("an unknown answer")),
    })
}

fn first(line: &str) -> (&str, &str) {
    line.split_once(' ').unwrap_or((line, ""))
}

fn number<T: FromStr>(word: &str) -> Result<T, LogFault> {
    word.parse().map_err(|_| LogFault("a number is missing"))
}

/// What stands at the end of a line, as JSON.
fn value<T: FromJson>(text: &str) -> Result<T, LogFault> {
    let raw = RawJson::parse(text).map_err(|_| LogFault("a value is no JSON"))?;
    let mut scanner = Scanner::new();
    let value = scanner.scan(raw.as_str().as_bytes(), &ScanLimits::DEFAULT);
    let read = value.ok().and_then(T::read);
    read.ok_or(LogFault("a value has another form"))
}

#[cfg(test)]
mod tests;
