//! `rewind_files` and `seed_read_state`: which checkpoint is which prompt's, and
//! when files may be put back.
//!
//! A checkpoint is the beginning of a prompt's turn. Files are put back only
//! between turns, and no turn begins while they are: what tools change and what
//! is put back never cross.

use super::super::AgentSession;
use super::super::catalog::raw;
use super::ENDED;
use crate::checkpoint::{
    Bookkeeping, Checkpoint, RewindReport, RewindRequest, SeedRequest, Seeding,
};
use crate::effect::{EffectId, Request};
use crate::lazy::Empty;
use crate::schema::inbound::UNKNOWN_KIND_CHARS;
use crate::schema::payload::RewindFilesPayload;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Why files are not put back while a prompt runs.
const BUSY: &str = "a turn is running; files can be put back when it is over";

/// Why files are not put back where nothing is kept of them.
const SWITCHED_OFF: &str = "file checkpoints are switched off for this session";

/// Why an operation on files is not begun.
const TOO_MANY: &str = "too many operations on files are under way; try again when one is over";

/// What of the session is about files.
#[derive(Debug, Default)]
pub(in crate::agent) struct Files {
    /// The number of the next checkpoint.
    next: u64,
    /// The checkpoint of the turn that runs.
    current: Option<Checkpoint>,
    /// Prompts and their checkpoints, the oldest first.
    prompts: VecDeque<(Arc<str>, Checkpoint)>,
    /// Who waits for files that are being put back.
    rewinds: BTreeMap<EffectId, String>,
    /// Who waits for files that are being looked at.
    seeds: BTreeMap<EffectId, String>,
}

impl Empty for Files {
    const EMPTY: &'static Self = &Self {
        next: 0,
        current: None,
        prompts: VecDeque::new(),
        rewinds: BTreeMap::new(),
        seeds: BTreeMap::new(),
    };
}

impl Files {
    fn checkpoint(&mut self) -> Checkpoint {
        let checkpoint = Checkpoint(self.next);
        self.next = self.next.saturating_add(1);
        checkpoint
    }

    /// How many operations are under way.
    fn open(&self) -> usize {
        self.rewinds.len().saturating_add(self.seeds.len())
    }

    /// The checkpoint of a prompt, if it has one.
    fn of(&self, prompt: &str) -> Option<Checkpoint> {
        let mut prompts = self.prompts.iter().rev();
        let found = prompts.find(|(uuid, _)| &**uuid == prompt);
        found.map(|(_, checkpoint)| *checkpoint)
    }
}

impl AgentSession {
    /// Whether checkpoints are kept.
    fn keeps_checkpoints(&self) -> bool {
        let reference = self.config.profile.reference();
        reference.is_some_and(|reference| reference.file_checkpoints)
    }

    /// Whether a prompt has to wait for an operation on files.
    pub(in crate::agent) fn files_hold_prompts(&self) -> bool {
        self.files.open() > 0
    }

    /// The turn of a prompt begins.
    pub(in crate::agent) fn set_checkpoint(&mut self, prompt: &Arc<str>) {
        if !self.keeps_checkpoints() {
            return;
        }
        let checkpoint = self.files.checkpoint();
        self.files.current = Some(checkpoint);
        self.files
            .prompts
            .push_back((Arc::clone(prompt), checkpoint));
        if self.files.prompts.len() > self.config.limits.checkpoints {
            self.files.prompts.pop_front();
        }
    }

    /// What is noted of the files that a call works on.
    pub(in crate::agent) fn bookkeeping(&self) -> Bookkeeping {
        Bookkeeping {
            checkpoint: self.files.current,
            reads: self.config.profile.is_reference(),
        }
    }

    pub(super) fn rewind_files(&mut self, id: &str, prompt: &str, dry_run: bool) {
        if !self.keeps_checkpoints() {
            return self.answer_refused_rewind(id, SWITCHED_OFF.to_string());
        }
        if self.turn.is_some() || self.is_submitting() {
            return self.answer_refused_rewind(id, BUSY.to_string());
        }
        if self.files.open() >= self.config.limits.file_operations {
            return self.answer_refused_rewind(id, TOO_MANY.to_string());
        }
        let Some(to) = self.files.of(prompt) else {
            let why = if self.seen.contains(prompt) {
                "that did not run in this process, or too long ago"
            } else {
                "there is no such prompt"
            };
            let shown: String = self.safe(prompt).chars().take(UNKNOWN_KIND_CHARS).collect();
            let text = format!("there is no file checkpoint for message {shown:?}: {why}");
            return self.answer_refused_rewind(id, text);
        };
        let request = RewindRequest {
            to,
            at: self.files.checkpoint(),
            dry_run,
            directories: self.directories(),
        };
        let effect = self.start(Request::Rewind(Box::new(request)));
        self.files.rewinds.insert(effect, id.to_string());
    }

    fn directories(&self) -> Arc<[String]> {
        self.policy.directories().map(ToString::to_string).collect()
    }

    /// Files were put back, or none could be.
    pub(in crate::agent) fn rewound(
        &mut self,
        effect: EffectId,
        rewound: Result<RewindReport, String>,
    ) {
        let Some(id) = self.files.rewinds.remove(&effect) else {
            return;
        };
        match rewound {
            Err(why) => self.answer_refused_rewind(&id, why),
            Ok(report) => {
                let payload = raw(&self.told(report));
                self.answer(&id, Some(payload));
            }
        }
    }

    /// A report as the host is told it, within bounds.
    fn told(&self, report: RewindReport) -> RewindFilesPayload {
        let limits = &self.config.limits;
        let mut room = limits.rewind_list_bytes;
        let changed = report.changed.len();
        let fits = |path: &String| {
            let left = room.checked_sub(path.len());
            room = left.unwrap_or_default();
            left.is_some()
        };
        let paths = report.changed.iter().map(|path| self.safe(path));
        let listed: Vec<String> = paths.take_while(fits).collect();
        let failed = report.failures.len();
        let failures = report.failures.iter().take(limits.rewind_failures);
        let mut texts: Vec<String> = failures.map(|text| self.safe(text)).collect();
        if failed > texts.len() {
            let more = failed - texts.len();
            texts.push(format!("{more} more files were left as they are."));
        }
        if changed > listed.len() {
            let more = changed - listed.len();
            texts.push(format!("{more} more files were put back than are listed."));
        }
        RewindFilesPayload {
            can_rewind: failed == 0 || changed > 0,
            error: (!texts.is_empty()).then(|| texts.join(" ")),
            files_changed: Some(listed),
            insertions: Some(report.insertions),
            deletions: Some(report.deletions),
        }
    }

    fn answer_refused_rewind(&mut self, id: &str, why: String) {
        let payload = RewindFilesPayload {
            can_rewind: false,
            error: Some(self.safe(&why)),
            files_changed: None,
            insertions: None,
            deletions: None,
        };
        self.answer(id, Some(raw(&payload)));
    }

    pub(super) fn seed_read_state(&mut self, id: &str, path: String, mtime_ms: u64) {
        if self.files.open() >= self.config.limits.file_operations {
            return self.refuse(id, format!("seed_read_state: {TOO_MANY}"));
        }
        let request = SeedRequest {
            path,
            mtime_ms,
            directories: self.directories(),
        };
        let effect = self.start(Request::Seed(Box::new(request)));
        self.files.seeds.insert(effect, id.to_string());
    }

    /// A file was looked at. One that is newer on the disk is no fault: it is
    /// simply not taken for seen.
    pub(in crate::agent) fn seeded(&mut self, effect: EffectId, seeding: Seeding) {
        let Some(id) = self.files.seeds.remove(&effect) else {
            return;
        };
        match seeding {
            Seeding::Seeded | Seeding::Newer => self.answer(&id, None),
            Seeding::Refused(why) => self.refuse(&id, format!("seed_read_state: {why}")),
        }
    }

    /// Ends operations on files, because the session does.
    pub(in crate::agent) fn stop_files(&mut self) {
        let rewinds = core::mem::take(&mut self.files.rewinds);
        let seeds = core::mem::take(&mut self.files.seeds);
        for (effect, id) in rewinds.into_iter().chain(seeds) {
            self.cancel_effect(effect);
            self.refuse(&id, ENDED.to_string());
        }
    }
}
