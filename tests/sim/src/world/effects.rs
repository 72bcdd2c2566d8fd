//! What the agent asks of the world, and how the world answers.

use super::model::Answering;
use super::{Step, What, World};
use crate::event::Watch;
use crate::fault::Fault;
use agentx_core::agent::Input;
use agentx_core::checkpoint::{RewindReport, Seeding};
use agentx_core::effect::{Answer, EffectId, Progress, Request, Verdict};
use agentx_core::hook::{HookEvent, HookReport, Matching};
use agentx_core::model::{ErrorCategory, ModelFailure, ModelOutcome};
use agentx_core::store::Batch;
use agentx_core::structured::Validity;
use agentx_core::tool::ToolOutcome;

/// An effect that is open.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) id: EffectId,
    pub(super) job: Job,
    /// Whether nothing is set up for it: it hangs.
    pub(super) hangs: bool,
}

/// What an effect does.
#[derive(Clone, Debug)]
pub(super) enum Job {
    Model(Box<Answering>),
    Tool { asked: bool },
    Task { begun: bool },
    Hook { event: HookEvent, watched: bool },
    Persist,
    Store(Batch),
    Flush,
    Vet,
    Validate,
    Match(Box<Matching>),
    ReadSchema,
    Rewind,
    Seed,
}

impl<W: Watch> World<'_, W> {
    /// An effect begins.
    pub(super) fn start(&mut self, id: EffectId, request: Request) -> Step {
        let hangs = match &request {
            Request::Model(_) => self.strikes(Fault::ProviderHang, 24)?,
            Request::Tool(_) | Request::Task(_) => self.strikes(Fault::ToolHang, 8)?,
            Request::Hook(_) => self.strikes(Fault::HookHang, 12)?,
            _ => false,
        };
        let job = match request {
            Request::Model(request) => Job::Model(Box::new(self.answering(&request))),
            Request::Tool(_) => Job::Tool { asked: false },
            Request::Task(_) => Job::Task { begun: false },
            Request::Hook(hook) => Job::Hook {
                event: hook.event,
                watched: hook.watched,
            },
            Request::Persist(_) => Job::Persist,
            Request::Store(batch) => Job::Store(batch),
            Request::FlushRemote => Job::Flush,
            Request::Vet(_) => Job::Vet,
            Request::Validate(_) => Job::Validate,
            Request::Match(matching) => Job::Match(matching),
            Request::ReadSchema(_) => Job::ReadSchema,
            Request::Rewind(_) => Job::Rewind,
            Request::Seed(_) => Job::Seed,
        };
        self.agent.running.push(Running { id, job, hangs });
        if !hangs {
            let delay = match self.agent.running.last().map(|open| &open.job) {
                Some(Job::Tool { .. } | Job::Hook { .. } | Job::Validate | Job::Rewind) => {
                    self.pause()
                }
                _ => self.delay(),
            };
            self.after(delay, What::Effect(id));
        }
        Ok(())
    }

    /// An effect was given up; its answer may come all the same.
    pub(super) fn cancelled(&mut self, id: EffectId) -> Step {
        let place = self.agent.running.iter().position(|open| open.id == id);
        if let Some(place) = place {
            let open = self.agent.running.remove(place);
            if self.threatens(Fault::LateAnswer, 2) {
                self.agent.late.push(open);
                let delay = self.delay();
                self.after(delay, What::Late(id));
            }
        }
        Ok(())
    }

    /// The answer to a cancelled effect comes.
    pub(super) fn late(&mut self, id: EffectId) -> Step {
        let place = self.agent.late.iter().position(|late| late.id == id);
        let Some(place) = place.filter(|_| self.agent.lives()) else {
            return Ok(());
        };
        let late = self.agent.late.remove(place);
        let answer = late_answer(&late.job);
        self.happened(Fault::LateAnswer)?;
        self.feed(Input::Done(id, answer))
    }

    /// What hangs goes on.
    pub(super) fn release(&mut self) {
        let running = self.agent.running.iter_mut();
        let hung = running.filter_map(|open| std::mem::take(&mut open.hangs).then_some(open.id));
        let hung: Vec<EffectId> = hung.collect();
        for id in hung {
            self.after(0, What::Effect(id));
        }
    }

    /// An open effect goes on.
    pub(super) fn effect(&mut self, id: EffectId) -> Step {
        if !self.agent.lives() {
            return Ok(());
        }
        let Some(place) = self.agent.running.iter().position(|open| open.id == id) else {
            return Ok(());
        };
        let answer = match &self.agent.running[place].job {
            Job::Model(_) => return self.model(place),
            Job::Tool { asked } => {
                let asked = *asked;
                if !asked && !self.calm && self.tape.one_in(12) {
                    self.agent.running[place].job = Job::Tool { asked: true };
                    let host = ["example.org", "other.example"][self.tape.below(2)];
                    return self.feed(Input::Progress(id, Progress::Network(host.to_string())));
                }
                Answer::Tool(self.tool_outcome()?)
            }
            Job::Task { begun: false } => {
                if !self.strikes(Fault::TaskFailure, 4)? {
                    self.agent.running[place].job = Job::Task { begun: true };
                    let delay = self.task_delay();
                    self.after(delay, What::Effect(id));
                    let output_file = "/tmp/task".to_string();
                    return self.feed(Input::Progress(id, Progress::Began { output_file }));
                }
                Answer::Task(ToolOutcome::error("it could not begin"))
            }
            Job::Task { begun: true } => Answer::Task(self.tool_outcome()?),
            Job::Hook { event, watched } => {
                let (event, watched) = (*event, *watched);
                if watched && self.tape.one_in(8) {
                    let (stdout, stderr) = ("at work".to_string(), String::new());
                    let delay = self.delay();
                    self.after(delay, What::Effect(id));
                    return self.feed(Input::Progress(id, Progress::Hook { stdout, stderr }));
                }
                Answer::Hook(self.hook_report(event)?)
            }
            Job::Persist => Answer::Persisted(self.verdict(Fault::PersistFailure, 2)?),
            Job::Store(batch) => {
                let batch = batch.clone();
                Answer::Stored(self.store_batch(&batch)?)
            }
            Job::Flush => Answer::Flushed(self.verdict(Fault::FlushFailure, 4)?),
            Job::Vet => Answer::Vetted(self.verdict(Fault::VetRejection, 60)?),
            Job::Validate => Answer::Validated(self.validity()?),
            Job::Match(matching) => {
                let all = matching.names.iter().cloned().collect();
                Answer::Matched(
                    matching
                        .patterns
                        .iter()
                        .map(|_| Ok(Clone::clone(&all)))
                        .collect(),
                )
            }
            Job::ReadSchema => Answer::SchemaRead(if self.strikes(Fault::SchemaFailure, 4)? {
                Err("no schema".to_string())
            } else {
                Ok(())
            }),
            Job::Rewind => Answer::Rewound(self.rewound()),
            Job::Seed => Answer::Seeded(self.seeding()),
        };
        self.done(id, answer)
    }

    /// Settles an open effect.
    pub(super) fn done(&mut self, id: EffectId, answer: Answer) -> Step {
        self.agent.running.retain(|open| open.id != id);
        self.feed(Input::Done(id, answer))
    }

    /// Passed, unless this fault strikes.
    fn verdict(&mut self, fault: Fault, times: usize) -> Step<Verdict> {
        let failed = self.strikes(fault, times)?;
        Ok(if failed {
            Verdict::Failed
        } else {
            Verdict::Passed
        })
    }

    fn validity(&mut self) -> Step<Validity> {
        if self.strikes(Fault::SchemaFailure, 8)? {
            return Ok(Validity::Unknown);
        }
        Ok(if self.tape.one_in(3) {
            Validity::Breaks(vec![
                "at /n: no integer".to_string(),
                "at /m: no".to_string(),
            ])
        } else {
            Validity::Fits
        })
    }

    fn seeding(&mut self) -> Seeding {
        match self.tape.below(3) {
            0 => Seeding::Seeded,
            1 => Seeding::Newer,
            _ => Seeding::Refused("there is no such file".to_string()),
        }
    }

    fn rewound(&mut self) -> Result<RewindReport, String> {
        match self.tape.below(3) {
            0 => Ok(RewindReport {
                changed: vec!["/repo/a".to_string(), "/repo/b".to_string()],
                insertions: 3,
                deletions: 1,
                failures: Vec::new(),
            }),
            1 => Ok(RewindReport {
                failures: vec![
                    "/repo/c: it is gone".to_string(),
                    "/repo/d: too".to_string(),
                ],
                ..RewindReport::default()
            }),
            _ => Err("nothing is kept of that".to_string()),
        }
    }
}

/// Any answer that fits the job.
fn late_answer(job: &Job) -> Answer {
    match job {
        Job::Model(_) => Answer::Model(ModelOutcome::Failed(ModelFailure {
            category: ErrorCategory::Unknown,
            status: None,
            message: "given up".to_string(),
        })),
        Job::Tool { .. } => Answer::Tool(ToolOutcome::text("too late")),
        Job::Task { .. } => Answer::Task(ToolOutcome::text("too late")),
        Job::Hook { .. } => Answer::Hook(HookReport::failed("too late")),
        Job::Persist => Answer::Persisted(Verdict::Passed),
        Job::Store(_) => Answer::Stored(Verdict::Passed),
        Job::Flush => Answer::Flushed(Verdict::Passed),
        Job::Vet => Answer::Vetted(Verdict::Passed),
        Job::Validate => Answer::Validated(Validity::Fits),
        Job::Match(_) => Answer::Matched(Vec::new()),
        Job::ReadSchema => Answer::SchemaRead(Ok(())),
        Job::Rewind => Answer::Rewound(Ok(RewindReport::default())),
        Job::Seed => Answer::Seeded(Seeding::Seeded),
    }
}
