//! Recorded sessions: the log of an agent session, and the session as a subject
//! of the laws.

use agentx_core::agent::{AgentSession, Config, Input, Output, log};
use agentx_core::effect::{Answer, EffectId, Verdict};
use agentx_core::time::Instant;
use agentx_laws::{Effect, Feed, Recorded, Subject};

/// An input that is neither bytes of the stream, its end nor a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged(Input<'static>);

impl Logged {
    /// Any input, as a script keeps it.
    #[must_use]
    pub fn feed(input: &Input<'_>) -> Feed<Self> {
        match input {
            Input::Bytes(bytes) => Feed::Bytes(bytes.to_vec()),
            Input::Eof => Feed::Eof,
            Input::Tick => Feed::Tick,
            other => {
                let line = log::write(other).unwrap_or_default();
                Feed::Other(Self(log::read(&line).expect("a log reads back")))
            }
        }
    }
}

impl Recorded for Logged {
    fn write(&self, out: &mut String) {
        out.push_str(&log::write(&self.0).unwrap_or_default());
    }

    fn parse(text: &str) -> Result<Self, String> {
        log::read(text).map(Self).map_err(|fault| fault.to_string())
    }
}

/// An agent session of this configuration, from its beginning.
pub struct Session(pub Config);

impl Subject for Session {
    type Machine = AgentSession;
    type Other = Logged;

    fn machine(&self) -> AgentSession {
        AgentSession::new(self.0.clone(), Instant::ZERO)
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> Input<'a> {
        Input::Bytes(bytes)
    }

    fn eof<'a>(&self) -> Input<'a> {
        Input::Eof
    }

    fn tick<'a>(&self) -> Input<'a> {
        Input::Tick
    }

    fn other<'a>(&self, other: &'a Logged) -> Input<'a> {
        other.0.clone()
    }

    fn effect(&self, output: &Output) -> Effect {
        match output {
            Output::Start(id, _) => Effect::Start(id.0),
            Output::Cancel(id) => Effect::Cancel(id.0),
            Output::Exit(_) => Effect::Exit,
            Output::Transmit(_) | Output::Reply(..) | Output::Event(_) | Output::Diagnostic(_) => {
                Effect::None
            }
        }
    }

    fn settles(&self, other: &Logged) -> Option<u64> {
        match &other.0 {
            Input::Done(id, _) => Some(id.0),
            _ => None,
        }
    }

    fn answer(&self, effect: u64) -> Option<Logged> {
        let answer = Answer::Flushed(Verdict::Passed);
        Some(Logged(Input::Done(EffectId(effect), answer)))
    }
}
