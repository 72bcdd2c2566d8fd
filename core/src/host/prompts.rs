//! Prompts: each is told as sent or unsent, and ends with its result.

use super::{Event, HostSession, Unsent};
use crate::mark::mark;
use crate::schema::grammar::Spelling;
use crate::schema::host::Prompt;
use crate::schema::received::AgentRecord;
use alloc::sync::Arc;

impl HostSession {
    pub(super) fn prompt(&mut self, mut prompt: Prompt) {
        let brought = prompt.uuid.take();
        let uuid = brought.unwrap_or_else(|| self.ids.uuid().into());
        prompt.uuid = Some(Arc::clone(&uuid));
        let sent = if !Spelling::PromptUuid.fits(&uuid) || self.prompts.contains(&uuid) {
            Err(Unsent::BadUuid)
        } else if self.prompts.len() >= self.config.limits.host_prompts {
            Err(Unsent::TooMany)
        } else {
            self.send(&prompt)
        };
        match sent {
            Ok(()) => {
                self.prompts.push_back(Arc::clone(&uuid));
                self.tell(Event::Prompted(uuid));
            }
            Err(why) => self.tell(Event::Unsent {
                uuid: Some(uuid),
                why,
            }),
        }
    }

    pub(super) fn told(&mut self, record: AgentRecord) {
        // One of a newer agent ends its prompt as well, in whatever form (WIRE-002).
        if let Some(ended) = &record.ends
            && let Some(at) = self.prompts.iter().position(|prompt| prompt == ended)
        {
            mark!(self.marks, HOST_DEC_21);
            self.prompts.remove(at);
        }
        self.tell(Event::Record(record));
    }
}
