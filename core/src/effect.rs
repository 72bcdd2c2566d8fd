//! Effects: what a session asks of the world, and how each is settled.
//!
//! An effect starts with one `Start`, may report progress, and ends with
//! exactly one answer or one cancellation (law 5). Answers that arrive after a
//! cancellation are late and ignored; anything else out of place is [`Misuse`].

use crate::checkpoint::{RewindReport, RewindRequest, SeedRequest, Seeding};
use crate::hook::{HookReport, HookRequest, Matched, Matching};
use crate::machine::Misuse;
use crate::model::{Delta, ModelOutcome, ModelRequest};
use crate::schema::permission::PermissionUpdate;
use crate::store::Batch;
use crate::structured::{OutputSchema, Validation, Validity};
use crate::tool::{TaskRequest, ToolOutcome, ToolRequest};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

/// Names one effect of one session; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(pub u64);

/// What the world is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Ask the selected model. Progress: deltas. Answer: [`Answer::Model`].
    Model(Box<ModelRequest>),
    /// Run a tool body. Progress: questions about the network. Answer: [`Answer::Tool`].
    Tool(Box<ToolRequest>),
    /// Run a tool body as a background task. Progress: once, that it began; an
    /// answer without it says that nothing was begun. Answer: [`Answer::Task`].
    Task(Box<TaskRequest>),
    /// Run a hook of the settings. Progress, if it is watched: what it has
    /// written. Answer: [`Answer::Hook`].
    Hook(Box<HookRequest>),
    /// Write permission updates to their settings files (WIRE-PERM-030).
    /// Answer: [`Answer::Persisted`].
    Persist(Vec<PermissionUpdate>),
    /// Hand these entries to the session store: answered once they are with the
    /// operating system, so that they survive a kill of the process; a disk may
    /// get them later (DEC-32). Answer: [`Answer::Stored`].
    Store(Batch),
    /// Flush what a remote session keeps of this turn. Says nothing about what
    /// the host has seen (acceptance 15). Answer: [`Answer::Flushed`].
    FlushRemote,
    /// Let the embedder's validator judge one whole record, newline included.
    /// It gets its own copy (WIRE-015). Answer: [`Answer::Vetted`].
    Vet(Vec<u8>),
    /// Hold a value against a JSON Schema, which resolves nothing outside itself
    /// (RT-SCHM-005). Answer: [`Answer::Validated`]; the session waits for it no
    /// longer than `Limits::validation_timeout`.
    Validate(Box<Validation>),
    /// Hold patterns of hooks against names of tools. Answer: [`Answer::Matched`].
    Match(Box<Matching>),
    /// Look whether a JSON Schema can be used. Answer: [`Answer::SchemaRead`],
    /// within `Limits::validation_timeout`.
    ReadSchema(OutputSchema),
    /// Put files back that tools changed, or tell what that would change (records,
    /// `rewind_files`). No tool changes files meanwhile. Answer: [`Answer::Rewound`].
    Rewind(Box<RewindRequest>),
    /// Take the version of a file that is on the disk for one that was read
    /// (records, `seed_read_state`). Answer: [`Answer::Seeded`].
    Seed(Box<SeedRequest>),
}

impl Request {
    const fn kind(&self) -> Kind {
        match self {
            Self::Model(_) => Kind::Model,
            Self::Tool(_) => Kind::Tool,
            Self::Task(_) => Kind::Task,
            Self::Hook(_) => Kind::Hook,
            Self::Persist(_) => Kind::Persist,
            Self::Store(_) => Kind::Store,
            Self::FlushRemote => Kind::FlushRemote,
            Self::Vet(_) => Kind::Vet,
            Self::Validate(_) => Kind::Validate,
            Self::Match(_) => Kind::Match,
            Self::ReadSchema(_) => Kind::ReadSchema,
            Self::Rewind(_) => Kind::Rewind,
            Self::Seed(_) => Kind::Seed,
        }
    }
}

/// News of a running effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The model said more.
    Delta(Delta),
    /// The task began.
    Began {
        /// Path of the file that its output goes to; empty when there is none.
        output_file: String,
    },
    /// The sandbox of a tool asks whether the tool may connect to this host; it
    /// is told by a [`Reply`] (WIRE-PERM-080).
    Network(String),
    /// What a hook has written so far, to be shown: without credentials, and cut.
    Hook {
        /// Its stdout.
        stdout: String,
        /// Its stderr.
        stderr: String,
    },
}

impl Progress {
    const fn kind(&self) -> Kind {
        match self {
            Self::Delta(_) => Kind::Model,
            Self::Began { .. } => Kind::Task,
            Self::Network(_) => Kind::Tool,
            Self::Hook { .. } => Kind::Hook,
        }
    }
}

/// What a running effect is told about what it asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Whether the tool may connect to this host.
    Network {
        /// The host it asked about.
        host: String,
        /// Only somebody's leave makes this true (WIRE-PERM-004).
        allowed: bool,
    },
}

/// How an effect ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The model request ended.
    Model(ModelOutcome),
    /// The tool ended.
    Tool(ToolOutcome),
    /// The task ended, or could not begin.
    Task(ToolOutcome),
    /// The hook ended.
    Hook(HookReport),
    /// The updates were stored, or not.
    Persisted(Verdict),
    /// The entries were stored, all of them, or none was.
    Stored(Verdict),
    /// The flush ended, or failed.
    Flushed(Verdict),
    /// The record may leave, or not. A validator that failed or panicked is a refusal.
    Vetted(Verdict),
    /// What the validator says of the value.
    Validated(Validity),
    /// What each pattern comes to, in order. One that is left out counts as one
    /// that is no pattern.
    Matched(Vec<Matched>),
    /// Whether the schema can be used; else what is wrong with it and where.
    SchemaRead(Result<(), String>),
    /// What became of the files; or why none of them could be put back.
    Rewound(Result<RewindReport, String>),
    /// Whether the file counts as seen.
    Seeded(Seeding),
}

impl Answer {
    const fn kind(&self) -> Kind {
        match self {
            Self::Model(_) => Kind::Model,
            Self::Tool(_) => Kind::Tool,
            Self::Task(_) => Kind::Task,
            Self::Hook(_) => Kind::Hook,
            Self::Persisted(_) => Kind::Persist,
            Self::Stored(_) => Kind::Store,
            Self::Flushed(_) => Kind::FlushRemote,
            Self::Vetted(_) => Kind::Vet,
            Self::Validated(_) => Kind::Validate,
            Self::Matched(_) => Kind::Match,
            Self::SchemaRead(_) => Kind::ReadSchema,
            Self::Rewound(_) => Kind::Rewind,
            Self::Seeded(_) => Kind::Seed,
        }
    }
}

/// The outcome of an effect that has no other answer. It carries no text of
/// the callback behind it (WIRE-015).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Done, or accepted.
    Passed,
    /// Failed, or refused.
    Failed,
}

/// The kinds of effects, without what they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A model request.
    Model,
    /// A tool run.
    Tool,
    /// A background task.
    Task,
    /// A run of a hook.
    Hook,
    /// Permission updates to be stored.
    Persist,
    /// Entries for the session store.
    Store,
    /// A remote flush.
    FlushRemote,
    /// A record to be judged.
    Vet,
    /// A value to be held against a schema.
    Validate,
    /// Patterns to be held against names.
    Match,
    /// A schema to be looked at.
    ReadSchema,
    /// Files to be put back.
    Rewind,
    /// A file to be taken for seen.
    Seed,
}

/// Cancelled effects whose late answer may still come, at most.
const REMEMBERED_CANCELLATIONS: usize = 4_096;

/// Which effects are open, of what kind each. Guards law 5 for every caller.
#[derive(Debug)]
pub struct Effects<K = Kind> {
    next: u64,
    open: BTreeMap<EffectId, K>,
    cancelled: VecDeque<EffectId>,
}

/// What an answer or progress is about to hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The effect is open.
    Open,
    /// It was cancelled; the news is late and means nothing.
    Late,
}

impl<K> Default for Effects<K> {
    fn default() -> Self {
        Self {
            next: 0,
            open: BTreeMap::new(),
            cancelled: VecDeque::new(),
        }
    }
}

impl Effects {
    /// Opens an effect and names it.
    pub fn open(&mut self, request: &Request) -> EffectId {
        self.begin(request.kind())
    }

    /// Looks at progress without settling anything.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for an effect that is unknown, settled or of another kind.
    pub fn progress(&self, id: EffectId, progress: &Progress) -> Result<Standing, Misuse> {
        self.standing(id, Some(progress.kind()))
    }

    /// Looks at an answer without settling anything.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for an effect that is unknown, settled or of another kind.
    pub fn answered(&self, id: EffectId, answer: &Answer) -> Result<Standing, Misuse> {
        self.standing(id, Some(answer.kind()))
    }

    /// Settles an effect by its answer.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for an effect that is unknown, settled or of another kind.
    pub fn settle(&mut self, id: EffectId, answer: &Answer) -> Result<Standing, Misuse> {
        self.end(id, Some(answer.kind()))
    }
}

impl<K: Copy + PartialEq> Effects<K> {
    /// Opens an effect of that kind and names it.
    pub fn begin(&mut self, kind: K) -> EffectId {
        let id = EffectId(self.next);
        self.next = self.next.saturating_add(1);
        self.open.insert(id, kind);
        id
    }

    /// Settles an effect by news of that kind; `None` is news that fits them all.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for an effect that is unknown, settled or of another kind.
    pub fn end(&mut self, id: EffectId, kind: Option<K>) -> Result<Standing, Misuse> {
        let standing = self.standing(id, kind)?;
        match standing {
            Standing::Open => {
                self.open.remove(&id);
            }
            Standing::Late => self.cancelled.retain(|late| *late != id),
        }
        Ok(standing)
    }

    /// Settles an effect by cancelling it; false if it was not open.
    pub fn cancel(&mut self, id: EffectId) -> bool {
        if self.open.remove(&id).is_none() {
            return false;
        }
        if self.cancelled.len() == REMEMBERED_CANCELLATIONS {
            self.cancelled.pop_front();
        }
        self.cancelled.push_back(id);
        true
    }

    /// The effects that are open, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (EffectId, K)> + '_ {
        self.open.iter().map(|(id, kind)| (*id, *kind))
    }

    /// Whether this effect is open.
    #[must_use]
    pub fn is_open(&self, id: EffectId) -> bool {
        self.open.contains_key(&id)
    }

    /// Whether no effect is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Looks at news of that kind without settling anything; `None` is news that
    /// fits them all.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for an effect that is unknown, settled or of another kind.
    pub fn standing(&self, id: EffectId, kind: Option<K>) -> Result<Standing, Misuse> {
        match self.open.get(&id) {
            Some(open) if kind.is_none_or(|kind| *open == kind) => Ok(Standing::Open),
            Some(_) => Err(Misuse::WrongAnswer),
            None if self.cancelled.contains(&id) => Ok(Standing::Late),
            None if id.0 < self.next => Err(Misuse::EffectSettledTwice),
            None => Err(Misuse::UnknownEffect),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_settles_once() {
        let mut effects = Effects::default();
        let id = effects.open(&Request::FlushRemote);
        let done = Answer::Flushed(Verdict::Passed);
        assert_eq!(
            effects.settle(id, &Answer::Vetted(Verdict::Passed)),
            Err(Misuse::WrongAnswer)
        );
        assert_eq!(effects.settle(id, &done), Ok(Standing::Open));
        assert_eq!(effects.settle(id, &done), Err(Misuse::EffectSettledTwice));
        assert_eq!(
            effects.settle(EffectId(9), &done),
            Err(Misuse::UnknownEffect)
        );
    }

    #[test]
    fn a_late_answer_is_ignored_once() {
        let mut effects = Effects::default();
        let id = effects.open(&Request::FlushRemote);
        assert!(effects.cancel(id));
        assert!(!effects.cancel(id));
        let done = Answer::Flushed(Verdict::Failed);
        assert_eq!(effects.settle(id, &done), Ok(Standing::Late));
        assert_eq!(effects.settle(id, &done), Err(Misuse::EffectSettledTwice));
        assert!(effects.is_empty());
    }
}
