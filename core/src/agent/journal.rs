//! Entries on their way to the session store: one batch at a time, in order,
//! none twice (DEC-32).
//!
//! ```text
//! push -> waiting -> in flight -> stored
//!            ^            |
//!            +-- failed --+      (they go with the next batch)
//! ```

use crate::effect::{EffectId, Verdict};
use crate::schema::outbound::ResultStop;
use crate::store::{Batch, Beginning, Binding, Entry, Opening, Origin, Storing, title};
use crate::time::{Instant, WallTime};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// The entries of one session, as far as they are not stored.
#[derive(Debug)]
pub(super) struct Journal {
    session_id: Arc<str>,
    epoch: WallTime,
    /// What tells the store of the session, until it knows it.
    opening: Option<Box<Opening>>,
    /// Entries the store has.
    stored: u64,
    in_flight: Option<(EffectId, Arc<[Entry]>)>,
    waiting: Vec<Entry>,
    /// Whether the newest batch failed, and no other was asked for since.
    failed: bool,
}

impl Journal {
    /// Nothing waits yet.
    pub(super) fn new(storing: &Storing, session_id: &str, version: &str, cwd: &str) -> Self {
        let open = |origin: Option<Origin>, binding: &Binding| {
            Some(Box::new(Opening {
                version: version.into(),
                cwd: cwd.into(),
                binding: binding.clone(),
                title: String::new(),
                origin,
            }))
        };
        let (stored, opening) = match &storing.beginning {
            Beginning::New => (0, open(None, &storing.binding)),
            Beginning::Resumed(entries) => (*entries, None),
            Beginning::Forked(origin) => {
                (origin.entries, open(Some(origin.clone()), &storing.binding))
            }
        };
        Self {
            session_id: session_id.into(),
            epoch: storing.epoch,
            opening,
            stored,
            in_flight: None,
            waiting: Vec::new(),
            failed: false,
        }
    }

    /// Wall time of an instant, in milliseconds since the Unix epoch.
    pub(super) fn time_ms(&self, now: Instant) -> u64 {
        let since = Duration::from_micros(now.as_micros()).as_millis();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        self.epoch.0.saturating_add(since)
    }

    /// Adds an entry behind all others.
    pub(super) fn push(&mut self, entry: Entry) {
        self.waiting.push(entry);
    }

    /// How many entries there are, stored or not.
    pub(super) fn written(&self) -> u64 {
        let in_flight = self
            .in_flight
            .as_ref()
            .map_or(0, |(_, entries)| entries.len());
        let unstored = self.waiting.len().saturating_add(in_flight);
        self.stored
            .saturating_add(u64::try_from(unstored).unwrap_or(u64::MAX))
    }

    /// Whether the first `count` entries are stored.
    pub(super) const fn has_stored(&self, count: u64) -> bool {
        count <= self.stored
    }

    /// Whether the newest batch failed.
    pub(super) const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Lets what failed be tried again.
    pub(super) const fn retry(&mut self) {
        self.failed = false;
    }

    /// The entries that wait, unless a batch is under way or the last one failed.
    pub(super) fn take_waiting(&mut self) -> Option<Vec<Entry>> {
        if self.in_flight.is_some() || self.failed || self.waiting.is_empty() {
            return None;
        }
        Some(core::mem::take(&mut self.waiting))
    }

    /// The batch of entries that were taken. [`Journal::started`] has to follow.
    pub(super) fn batch(&mut self, entries: Vec<Entry>, now: Instant) -> Batch {
        if let Some(opening) = &mut self.opening
            && opening.title.is_empty()
            && let Some(Entry::Prompt(prompt)) = entries
                .iter()
                .find(|entry| matches!(entry, Entry::Prompt(_)))
        {
            opening.title = title(&prompt.content);
        }
        Batch {
            session_id: Arc::clone(&self.session_id),
            first: self.stored,
            opening: self.opening.clone(),
            entries: entries.into(),
            time: WallTime(self.time_ms(now)),
        }
    }

    /// Makes an error of the turn that ended last, because its entries failed.
    pub(super) fn fail_turn(&mut self) {
        if let Some(Entry::Turn(turn)) = self.waiting.last_mut() {
            (turn.stop_reason, turn.is_error) = (ResultStop::Cancelled, true);
        }
    }

    /// Notes that a batch is under way.
    pub(super) fn started(&mut self, id: EffectId, entries: Arc<[Entry]>) {
        self.in_flight = Some((id, entries));
    }

    /// Loses the batch that is under way.
    pub(super) fn lose(&mut self) {
        self.in_flight = None;
        self.failed = true;
    }

    /// Notes how a batch ended.
    pub(super) fn settle(&mut self, id: EffectId, verdict: Verdict) {
        let Some((_, entries)) = self.in_flight.take_if(|(open, _)| *open == id) else {
            return;
        };
        match verdict {
            Verdict::Passed => {
                self.stored = self
                    .stored
                    .saturating_add(u64::try_from(entries.len()).unwrap_or(u64::MAX));
                self.opening = None;
            }
            Verdict::Failed => {
                self.waiting.splice(0..0, entries.iter().cloned());
                self.failed = true;
            }
        }
    }
}
