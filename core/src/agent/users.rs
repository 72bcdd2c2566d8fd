//! Input records: prompts, context, environment, uploads.

use super::queue::{Full, Prompt};
use super::records::{self, Asked};
use super::{AgentSession, Event, Handshake, Output, TurnReport};
use crate::agent_loop::LoopInput;
use crate::mark::mark;
use crate::plant::planted;
use crate::schema::inbound::{
    ContextKind, Import, Inbound, Priority, UserContent, UserRecord, UserRejected,
};
use crate::schema::outbound::{Outbound, UserReplay};
use crate::tool::Environment;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

impl AgentSession {
    /// Acts on one input record, in arrival order.
    pub(super) fn record(&mut self, record: Inbound) {
        match record {
            Inbound::User(user) => self.user(user),
            Inbound::UserRejected(UserRejected {
                uuid,
                origin,
                reason,
            }) => {
                let uuid = uuid.map(Into::into);
                mark!(self.marks, WIRE_021);
                self.reject(Asked { uuid, origin }, reason);
            }
            Inbound::ControlRequest(request) => self.control_request(request),
            Inbound::ControlResponse(response) => self.control_response(response),
            Inbound::KeepAlive => {}
            Inbound::UpdateEnvironment(variables) => self.update_environment(variables),
            Inbound::EnvironmentRefused { reason } => {
                self.warn(format!("update_environment_variables refused: {reason}"));
            }
            Inbound::Import(import) => self.import(&import),
            Inbound::Context {
                kind,
                texts,
                left_out,
            } => self.prior(kind, texts, left_out),
            Inbound::Unknown { kind } => {
                mark!(self.marks, WIRE_002);
                self.warn(format!(
                    "an input record of the unknown type {kind:?} was ignored"
                ));
            }
        }
    }

    /// Sets variables for later tool children (DEC-22). Updates add up, and
    /// together they have a ceiling too.
    fn update_environment(&mut self, variables: Environment) {
        let mut merged = Environment::clone(&self.environment);
        merged.extend(variables);
        let bytes: usize = merged.iter().map(|(n, v)| n.len() + v.len()).sum();
        let limit = self.config.limits.environment_total_bytes;
        if bytes > limit {
            let reason = format!("all variables together take more than {limit} bytes");
            return self.warn(format!("update_environment_variables refused: {reason}"));
        }
        mark!(self.marks, DEC_22);
        self.environment = Arc::new(merged);
    }

    fn user(&mut self, user: UserRecord) {
        if self.handshake == Handshake::Rejected {
            let reason = if self.config.profile.is_reference() {
                super::shared::REJECTED
            } else {
                "initialize was rejected; send an initialize without fields first"
            };
            return self.reject(user.into(), reason.to_string());
        }
        if user.is_replay {
            return self.context(user);
        }
        if let Some(uuid) = &user.uuid
            && self.seen.contains(uuid)
            && !planted!(self.planted, Dec44)
        {
            let uuid = uuid.as_str().into();
            return self.repeated(&user, uuid);
        }
        if planted!(self.planted, Wire020Now) && user.priority == Priority::Now {
            self.interrupt_turn(None);
        }
        if let Err(full) = self.queue.admits(user.weight, &self.config.limits) {
            // A prompt that starts at once takes no place in the queue.
            if self.is_busy() || matches!(full, Full::TooHeavy(_)) {
                match full {
                    Full::TooHeavy(_) => mark!(self.marks, DEC_45),
                    Full::Records(_) | Full::Weight(_) => mark!(self.marks, WIRE_020),
                }
                return self.reject(user.into(), full.to_string());
            }
        }
        self.accept(user);
    }

    fn accept(&mut self, record: UserRecord) {
        let urgent = record.priority == Priority::Now;
        let uuid = self.prompt_uuid(&record);
        self.seen.insert(Arc::clone(&uuid));
        self.queue.push(Prompt { uuid, record });
        self.abort_suggestion();
        if urgent && (self.turn.is_some() || self.is_submitting()) {
            mark!(self.marks, DEC_15);
            self.interrupt_turn(None);
        }
    }

    fn prompt_uuid(&mut self, record: &UserRecord) -> Arc<str> {
        if record.uuid.is_none() {
            mark!(self.marks, DEC_25);
        }
        record
            .uuid
            .clone()
            .unwrap_or_else(|| self.ids.uuid())
            .into()
    }

    /// A replayed user record is prior context and starts no turn (DEC-44).
    fn context(&mut self, record: UserRecord) {
        let uuid = self.prompt_uuid(&record);
        if !self.seen.insert(Arc::clone(&uuid)) {
            return self.repeated(&record, uuid);
        }
        self.echo(&record, Arc::clone(&uuid));
        if self.journal.is_some() {
            self.context_uuids.push_back(uuid);
        }
        self.feed_loop(LoopInput::Context(record.content.parts()));
    }

    /// What a model or a system said before; only the profile `reference` takes
    /// it into the history (DEC-44).
    fn prior(&mut self, kind: ContextKind, texts: Vec<String>, left_out: usize) {
        let of = match kind {
            ContextKind::Assistant => "assistant",
            ContextKind::System => "system",
        };
        if !self.config.profile.is_reference() {
            return self.warn(format!("a replayed {of} record was ignored"));
        }
        if texts.is_empty() {
            return self.warn(format!("a replayed {of} record without text was ignored"));
        }
        if left_out > 0 {
            self.warn(format!(
                "{left_out} blocks of a replayed {of} record are no text and were left out"
            ));
        }
        match kind {
            ContextKind::System => self.tell_model(texts),
            ContextKind::Assistant => {
                let texts = texts.iter().map(|text| self.safe(text)).collect();
                self.feed_loop(LoopInput::PriorAnswer(texts));
            }
        }
    }

    /// A UUID seen before is no new prompt (DEC-44).
    fn repeated(&mut self, record: &UserRecord, uuid: Arc<str>) {
        mark!(self.marks, DEC_44);
        if !self.config.replay_user_messages {
            self.warn(format!(
                "a user record repeats the uuid {uuid} and was ignored"
            ));
        }
        self.echo(record, uuid);
    }

    /// Repeats a user record to the host, in replay mode.
    pub(super) fn echo(&mut self, record: &UserRecord, uuid: Arc<str>) {
        if self.config.replay_user_messages {
            self.send(&Outbound::UserReplay(UserReplay::of(record, uuid)));
        }
    }

    /// Refuses one user record; everything else goes on (WIRE-021).
    pub(super) fn reject(&mut self, asked: Asked, reason: String) {
        let reason = self.safe(&reason);
        self.books.rejected = true;
        let result = records::input_error(&self.config.provider, reason.clone(), asked);
        self.send(&Outbound::Result(result));
        self.warn(format!("a user record was refused: {reason}"));
        let report = TurnReport {
            text: String::new(),
            structured_output: None,
            errors: vec![reason],
            is_error: true,
            at_limit: false,
        };
        self.out.push_back(Output::Event(Event::TurnEnded(report)));
    }

    /// A prompt of the embedder, such as the one on the command line.
    pub(super) fn local_prompt(&mut self, text: String) {
        let weight = text
            .len()
            .saturating_add(self.config.limits.queue_overhead_bytes);
        self.user(UserRecord {
            uuid: None,
            content: UserContent::Text(text),
            parent_tool_use_id: None,
            is_synthetic: false,
            is_replay: false,
            tool_use_result: None,
            priority: Priority::default(),
            priority_given: false,
            timestamp: None,
            origin: None,
            weight,
        });
    }

    /// A text-only session takes no attachments (DEC-23).
    fn import(&mut self, import: &Import) {
        mark!(self.marks, WIRE_019);
        self.send(&records::attachments_unavailable(import.upload_id()));
    }
}
