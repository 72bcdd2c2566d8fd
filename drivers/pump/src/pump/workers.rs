//! Who does the blocking part of an effect: a thread, never the loop (DEC-28).
//!
//! Storing permission updates is work on a disk. A validator is the embedder's
//! code: it may compute or wait as long as it likes, and on the loop's thread an
//! interrupt would wait with it. Here it holds up the output alone, which waits
//! for its verdict anyway. It costs a thread for each record that is judged.

use super::{News, Post};
use crate::contain::contained;
use crate::pool::{Body, Lost, Pool, THREADS};
use crate::schema::{self, Schemas};
use crate::world::{Persist, Validator};
use agentx_core::checkpoint::{RewindRequest, SeedRequest, Seeding};
use agentx_core::effect::{Answer, EffectId, Reply, Verdict};
use agentx_core::hook::{HookReport, HookRequest, Matched, Matcher, Matching};
use agentx_core::schema::permission::PermissionUpdate;
use agentx_core::structured::{OutputSchema, Validation, Validity};
use agentx_core::tool::{TaskRequest, ToolOutcome, ToolRequest};
use agentx_tools::{Network, NetworkAnswers, Toolbox, resolve_matcher};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Each job has the road of its questions about the network.
pub(super) type ToolPool = Pool<(Network, Box<ToolRequest>)>;

/// Each job knows the effect that its beginning is news of.
pub(super) type TaskPool = Pool<(EffectId, Box<TaskRequest>)>;

/// Each job knows the effect that what it writes is news of.
pub(super) type HookPool = Pool<(EffectId, Box<HookRequest>)>;

/// The pools of a session.
#[derive(Debug)]
pub(super) struct Workers {
    tools: ToolPool,
    /// Where the answers go that a call is told (WIRE-PERM-080), until it ends.
    networks: BTreeMap<EffectId, NetworkAnswers>,
    /// Apart from other calls, which tasks shall not hold up.
    pub(super) tasks: TaskPool,
    /// Apart from tools, so that tools which keep every thread busy do not hold
    /// up what decides about them.
    pub(super) hooks: HookPool,
    /// One job at a time, since each changes what the one before it wrote.
    pub(super) persist: Option<Pool<Vec<PermissionUpdate>>>,
    /// One record at a time, in the order of the output.
    pub(super) validator: Option<Pool<Vec<u8>>>,
    /// Values and their schemas. Nobody waits for one that was given up.
    pub(super) schemas: Pool<Box<Validation>>,
    /// Patterns of hooks, one set at a time.
    pub(super) matchers: Pool<Box<Matching>>,
    /// Schemas that are looked at before anything depends on them.
    pub(super) readers: Pool<OutputSchema>,
    /// One at a time: each sees what the one before it did.
    pub(super) rewinds: Pool<Box<RewindRequest>>,
    pub(super) seeds: Pool<Box<SeedRequest>>,
}

impl Workers {
    pub(super) fn new(
        toolbox: Arc<Toolbox>,
        persist: Option<Persist>,
        validator: Option<Validator>,
        post: &Post,
    ) -> Self {
        let files = Arc::clone(&toolbox);
        Self {
            tasks: Pool::new(
                THREADS,
                task_body(Arc::clone(&toolbox), Arc::clone(post)),
                |lost| Answer::Task(lost_tool(lost)),
                Arc::clone(post),
            ),
            hooks: Pool::new(
                THREADS,
                hook_body(Arc::clone(&toolbox), Arc::clone(post)),
                |lost| {
                    Answer::Hook(HookReport::failed(match lost {
                        Lost::Panicked => "running it failed inside; this is a fault of AgentX",
                        Lost::NoThread => "it could not be started: no thread",
                    }))
                },
                Arc::clone(post),
            ),
            tools: Pool::new(
                THREADS,
                Box::new(
                    move |(network, request): (Network, Box<ToolRequest>), cancel| {
                        Answer::Tool(toolbox.run_asking(&request, &network, cancel))
                    },
                ),
                |lost| Answer::Tool(lost_tool(lost)),
                Arc::clone(post),
            ),
            networks: BTreeMap::new(),
            persist: persist.map(|persist| {
                let persist = Mutex::new(persist);
                Pool::new(
                    1,
                    Box::new(move |updates: Vec<PermissionUpdate>, _| {
                        let persist = persist.lock().unwrap_or_else(PoisonError::into_inner);
                        Answer::Persisted(verdict(persist(&updates)))
                    }),
                    |_| Answer::Persisted(Verdict::Failed),
                    Arc::clone(post),
                )
            }),
            schemas: schemas(post),
            matchers: Pool::new(
                1,
                Box::new(|matching: Box<Matching>, _| Answer::Matched(resolve(&matching))),
                // Patterns that are left out count as none.
                |_| Answer::Matched(Vec::new()),
                Arc::clone(post),
            ),
            readers: Pool::new(
                1,
                Box::new(|schema: OutputSchema, _| Answer::SchemaRead(schema::check(&schema))),
                |lost| {
                    Answer::SchemaRead(Err(match lost {
                        Lost::Panicked => "reading it failed inside; this is a fault of AgentX",
                        Lost::NoThread => "it could not be read: no thread",
                    }
                    .to_owned()))
                },
                Arc::clone(post),
            ),
            rewinds: rewinds(Arc::clone(&files), post),
            seeds: seeds(files, post),
            validator: validator.map(|validator| {
                let validator = Mutex::new(Some(validator));
                Pool::new(
                    1,
                    Box::new(move |copy, _| Answer::Vetted(judge(&validator, copy))),
                    |_| Answer::Vetted(Verdict::Failed),
                    Arc::clone(post),
                )
            }),
        }
    }

    /// Runs a tool, and posts what it asks about the network before it can post
    /// how it ended.
    pub(super) fn start_tool(&mut self, id: EffectId, request: Box<ToolRequest>, post: &Post) {
        let post = Arc::clone(post);
        let (network, answers) = Network::new(move |host| post(News::NetworkAsked(id, host)));
        self.networks.insert(id, answers);
        self.tools.start(id, (network, request));
    }

    /// Tells a tool what was said to its question. One that has ended, or was
    /// cancelled, is told nothing.
    pub(super) fn reply(&self, id: EffectId, reply: Reply) {
        let Reply::Network { host, allowed } = reply;
        if let Some(answers) = self.networks.get(&id) {
            answers.answer(host, allowed);
        }
    }

    /// The effect has ended.
    pub(super) fn ended(&mut self, id: EffectId) {
        self.networks.remove(&id);
    }

    /// Cancels whatever this effect is.
    pub(super) fn cancel(&mut self, id: EffectId) {
        self.networks.remove(&id);
        self.tools.cancel(id);
        self.tasks.cancel(id);
        self.schemas.cancel(id);
        self.matchers.cancel(id);
        self.readers.cancel(id);
        self.rewinds.cancel(id);
        self.seeds.cancel(id);
        self.hooks.cancel(id);
        if let Some(persist) = &self.persist {
            persist.cancel(id);
        }
        if let Some(validator) = &self.validator {
            validator.cancel(id);
        }
    }

    /// Waits for tools, tasks, hooks and for what is being stored; nobody needs a verdict any
    /// more. False when that takes longer than `grace`.
    pub(super) fn join(&self, grace: Duration) -> bool {
        let end = Instant::now() + grace;
        let tools = self.tools.join(grace);
        let left = || end.saturating_duration_since(Instant::now());
        let tasks = self.tasks.join(left());
        let hooks = self.hooks.join(left());
        let stored = self.persist.as_ref().is_none_or(|pool| pool.join(left()));
        let rewound = self.rewinds.join(left());
        tools && tasks && hooks && stored && rewound
    }

    /// The pools whose work runs processes.
    pub(super) fn pools(&self) -> Pools {
        Pools {
            tools: self.tools.clone(),
            tasks: self.tasks.clone(),
            hooks: self.hooks.clone(),
        }
    }

    /// Kills what tools, tasks and hooks still run, and leaves `grace` to reap it.
    pub(super) fn abandon(&self, grace: Duration) {
        self.pools().abandon(grace);
    }
}

/// The pools whose work runs processes, for whoever ends them in a hurry.
#[derive(Debug)]
pub(super) struct Pools {
    tools: ToolPool,
    tasks: TaskPool,
    hooks: HookPool,
}

impl Pools {
    /// Kills what runs in every pool before it waits for any.
    pub(super) fn abandon(&self, grace: Duration) {
        let end = Instant::now() + grace;
        self.tasks.kill();
        self.hooks.kill();
        self.tools.abandon(grace);
        let left = || end.saturating_duration_since(Instant::now());
        let _ = self.tasks.join(left());
        let _ = self.hooks.join(left());
    }
}

/// Runs a task, and posts that it began before it can post how it ended.
fn task_body(toolbox: Arc<Toolbox>, post: Post) -> Body<(EffectId, Box<TaskRequest>)> {
    Box::new(move |(id, task), cancel| {
        let began = |path: &str| post(News::TaskBegan(id, path.to_owned()));
        Answer::Task(toolbox.run_task(&task, &began, cancel))
    })
}

/// Runs a hook, and posts what it writes meanwhile.
fn hook_body(toolbox: Arc<Toolbox>, post: Post) -> Body<(EffectId, Box<HookRequest>)> {
    Box::new(move |(id, hook), cancel| {
        let told = |stdout, stderr| post(News::HookSaid(id, stdout, stderr));
        Answer::Hook(toolbox.run_hook(&hook, &told, cancel))
    })
}

fn lost_tool(lost: Lost) -> ToolOutcome {
    ToolOutcome::error(match lost {
        Lost::Panicked => "The tool failed inside; this is a fault of AgentX.",
        Lost::NoThread => "The tool could not be started: no thread.",
    })
}

fn schemas(post: &Post) -> Pool<Box<Validation>> {
    let schemas = Schemas::default();
    Pool::with_stack(
        schema::THREADS,
        Some(schema::STACK_BYTES),
        Box::new(move |validation, _| Answer::Validated(schemas.validate(&validation))),
        |_| Answer::Validated(Validity::Unknown),
        Arc::clone(post),
    )
}

fn rewinds(files: Arc<Toolbox>, post: &Post) -> Pool<Box<RewindRequest>> {
    Pool::new(
        1,
        Box::new(move |request: Box<RewindRequest>, cancel| {
            Answer::Rewound(files.rewind(&request, cancel))
        }),
        |lost| Answer::Rewound(Err(lost_files(lost).to_owned())),
        Arc::clone(post),
    )
}

fn seeds(files: Arc<Toolbox>, post: &Post) -> Pool<Box<SeedRequest>> {
    Pool::new(
        1,
        Box::new(move |request: Box<SeedRequest>, _| Answer::Seeded(files.seed(&request))),
        |lost| Answer::Seeded(Seeding::Refused(lost_files(lost).to_owned())),
        Arc::clone(post),
    )
}

const fn lost_files(lost: Lost) -> &'static str {
    match lost {
        Lost::Panicked => "it failed inside; this is a fault of AgentX",
        Lost::NoThread => "it could not be started: no thread",
    }
}

/// Holds each pattern against the names, as settings do.
fn resolve(matching: &Matching) -> Vec<Matched> {
    let names = || matching.names.iter();
    let resolved = matching.patterns.iter().map(|pattern| {
        Ok(
            match resolve_matcher(pattern, names().map(|name| &**name))? {
                Matcher::All => names().cloned().collect(),
                Matcher::Tools(tools) => tools,
            },
        )
    });
    resolved.collect()
}

/// A validator that panicked or refused is not asked again (WIRE-015).
fn judge(validator: &Mutex<Option<Validator>>, mut copy: Vec<u8>) -> Verdict {
    let mut slot = validator.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut validator) = slot.take() else {
        return Verdict::Failed;
    };
    if contained(|| validator(&mut copy)) == Some(true) {
        *slot = Some(validator);
        return Verdict::Passed;
    }
    // Its parts are its embedder's, too.
    let _ = contained(|| drop(validator));
    Verdict::Failed
}

pub(super) const fn verdict(passed: bool) -> Verdict {
    if passed {
        Verdict::Passed
    } else {
        Verdict::Failed
    }
}
