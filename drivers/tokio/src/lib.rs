//! The tokio driver of `AgentX`: the wait primitive, and a task for each model
//! request. Everything else is [`agentx_pump`].

mod model;

use agentx_core::agent::AgentSession;
use agentx_core::effect::EffectId;
use agentx_core::time::Instant;
use agentx_pump::model::ModelRun;
use agentx_pump::pump::{ModelNews, ModelTask, News, Post, Pump};
use agentx_pump::tls::TrustStore;
use agentx_pump::world::{Stdio, World};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// Deltas that wait for the session before the runs that make them pause.
const MODEL_NEWS: usize = 64;

/// Runs a session to its end on a runtime of its own; gives the exit status.
///
/// # Errors
///
/// When the runtime, a thread or a signal handler cannot be set up.
pub fn run(session: AgentSession, world: World, stdio: Stdio) -> io::Result<u8> {
    let runtime = runtime()?;
    let status = runtime.block_on(drive(session, world, stdio));
    // A name lookup or a root store that still loads is not worth waiting for.
    runtime.shutdown_background();
    status
}

/// Drives one model request without a session; every piece of news goes to `each`.
///
/// # Errors
///
/// When the runtime cannot be set up.
pub fn request(
    run: ModelRun,
    trust: Arc<TrustStore>,
    mut each: impl FnMut(ModelNews),
) -> io::Result<()> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let (news, mut news_in) = mpsc::channel(MODEL_NEWS);
        let driven = tokio::spawn(model::drive(run, EffectId(0), news, trust, Instant::ZERO));
        while let Some((_, item)) = news_in.recv().await {
            each(item);
        }
        drop(driven);
    });
    runtime.shutdown_background();
    Ok(())
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
}

async fn drive(session: AgentSession, world: World, stdio: Stdio) -> io::Result<u8> {
    let (news, mut news_in) = mpsc::unbounded_channel::<News>();
    let (model, mut model_in) = mpsc::channel::<(EffectId, ModelNews)>(MODEL_NEWS);
    // The loop may be gone while a thread still has something to tell.
    let post: Post = Arc::new(move |item| drop(news.send(item)));
    let trust = Arc::clone(&world.trust);
    let mut pump = Pump::start(session, world, stdio, &post)?;
    let mut runs = Runs {
        trust,
        news: model,
        tasks: BTreeMap::new(),
    };
    loop {
        runs.take_tasks(&mut pump);
        if pump.exit().is_some() {
            return Ok(pump.finish());
        }
        tokio::select! {
            biased;
            Some(item) = news_in.recv() => pump.take(item),
            Some((id, item)) = model_in.recv(), if pump.wants_progress() => runs.tell(&mut pump, id, item),
            () = until(pump.now(), pump.deadline()) => pump.tick(),
        }
        // Threads come first, so that an interrupt never waits; but after each
        // step the others have their turn too, however busy the threads are
        // (DEC-28): news of a model, the clock, and the runs on this thread.
        runs.take_tasks(&mut pump);
        if pump.wants_progress()
            && let Ok((id, item)) = model_in.try_recv()
        {
            runs.tell(&mut pump, id, item);
        }
        if pump.deadline().is_some_and(|due| due <= pump.now()) {
            pump.tick();
        }
        tokio::task::yield_now().await;
    }
}

/// Model requests under way.
struct Runs {
    trust: Arc<TrustStore>,
    news: mpsc::Sender<(EffectId, ModelNews)>,
    tasks: BTreeMap<EffectId, AbortHandle>,
}

impl Runs {
    fn take_tasks(&mut self, pump: &mut Pump) {
        while let Some(task) = pump.next_model() {
            self.take(task, pump.now());
        }
    }

    fn take(&mut self, task: ModelTask, now: Instant) {
        match task {
            ModelTask::Run(id, run) => {
                let driven =
                    model::drive(*run, id, self.news.clone(), Arc::clone(&self.trust), now);
                self.tasks.insert(id, tokio::spawn(driven).abort_handle());
            }
            ModelTask::Cancel(id) => {
                if let Some(task) = self.tasks.remove(&id) {
                    task.abort();
                }
            }
        }
    }

    /// Passes news on, unless their request was cancelled meanwhile.
    fn tell(&mut self, pump: &mut Pump, id: EffectId, item: ModelNews) {
        if !self.tasks.contains_key(&id) {
            return;
        }
        if matches!(item, ModelNews::Done(_)) {
            self.tasks.remove(&id);
        }
        pump.model(id, item);
    }
}

/// Sleeps until `deadline`, for ever without one.
async fn until(now: Instant, deadline: Option<Instant>) {
    match deadline {
        Some(deadline) if deadline <= now => {}
        // A microsecond more, so that the clock has passed it for sure.
        Some(deadline) => tokio::time::sleep(deadline.since(now) + Duration::from_micros(1)).await,
        None => std::future::pending().await,
    }
}
