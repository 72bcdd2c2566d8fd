//! The session store of the world, which knows what a power cut would leave.

use super::{Step, World};
use crate::event::{Event, Violation, Watch};
use crate::fault::Fault;
use agentx_core::effect::Verdict;
use agentx_core::store::{Batch, Entry, Restored, Restorer};

/// Entries of one session.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    pub(super) entries: Vec<Entry>,
    /// Where batches end, oldest first.
    ends: Vec<usize>,
    /// How many batches a power cut leaves.
    synced: usize,
}

impl Store {
    fn append(&mut self, batch: &Batch) {
        self.entries.extend(batch.entries.iter().cloned());
        self.ends.push(self.entries.len());
    }

    /// Loses what lies behind this many batches.
    fn cut(&mut self, batches: usize) {
        self.ends.truncate(batches);
        self.entries
            .truncate(self.ends.last().copied().unwrap_or(0));
        self.synced = self.synced.min(batches);
    }
}

/// What a session would begin with that found these entries.
pub(super) fn restore(entries: &[Entry]) -> Step<Restored> {
    let mut restorer = Restorer::new();
    for (place, entry) in entries.iter().enumerate() {
        if let Err(fault) = restorer.push(entry.clone()) {
            let what = format!("entry {place} cannot be read back: {fault:?}");
            return Err(Violation::new("store", "DEC-32", what));
        }
    }
    Ok(restorer.finish())
}

impl<W: Watch> World<'_, W> {
    /// The store takes a batch, or fails.
    pub(super) fn store_batch(&mut self, batch: &Batch) -> Step<Verdict> {
        let stored = self.store.entries.len();
        if batch.first != stored as u64 || batch.opening.is_some() != (stored == 0) {
            let what = format!(
                "a batch begins at entry {} of {stored}, opening {}",
                batch.first,
                batch.opening.is_some()
            );
            return Err(Violation::new("store", "DEC-32", what));
        }
        if self.strikes(Fault::StoreFailure, 20)? {
            return Ok(Verdict::Failed);
        }
        self.store.append(batch);
        if self.tape.one_in(6) {
            self.store.synced = self.store.ends.len();
        }
        self.see(&Event::Stored(&batch.entries))?;
        Ok(Verdict::Passed)
    }

    /// The process is killed, perhaps with the machine.
    pub(super) fn crash(&mut self) -> Step {
        self.happened(Fault::Crash)?;
        // A batch on its way may have arrived.
        let on_its_way = self.agent.running.iter().find_map(|open| match &open.job {
            super::effects::Job::Store(batch) => Some(batch.clone()),
            _ => None,
        });
        if let Some(batch) = on_its_way
            && self.tape.one_in(2)
        {
            self.store.append(&batch);
            self.see(&Event::Stored(&batch.entries))?;
        }
        let unsynced = self.store.ends.len() - self.store.synced;
        if unsynced > 0 && self.strikes(Fault::SyncLoss, 2)? {
            let kept = self.store.synced + self.tape.wide(unsynced.min(60_000));
            self.store.cut(kept);
        }
        let kept = self.store.entries.len() as u64;
        self.see(&Event::Crashed { kept })?;
        self.gone();
        Ok(())
    }
}
