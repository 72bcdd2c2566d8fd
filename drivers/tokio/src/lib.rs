//! The tokio driver of `AgentX`: the wait primitive, and a task for each model
//! request. Everything else is [`agentx_pump`].

pub mod host;
mod model;
mod serve;
#[cfg(test)]
mod tests;

pub use serve::serve;

use agentx_core::agent::AgentSession;
use agentx_core::effect::EffectId;
use agentx_core::time::Instant;
use agentx_pump::drive::{Drive, Listener, MODEL_NEWS};
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
    each: impl FnMut(ModelNews),
) -> io::Result<()> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let (news, mut news_in) = mpsc::channel(MODEL_NEWS);
        let drive = Drive::begin(run, EffectId(0), Arc::new(drop), Instant::ZERO);
        tokio::spawn(model::drive(drive, news, trust));
        let mut listener = Listener::new(each);
        while let Some((_, item)) = news_in.recv().await {
            listener.take(item);
        }
    });
    runtime.shutdown_background();
    Ok(())
}

/// The loop runs where it is started. Requests run on a thread beside it, since
/// one step of theirs may decode an event of megabytes (DEC-28).
fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("requests")
        .enable_io()
        .enable_time()
        .build()
}

async fn drive(session: AgentSession, world: World, stdio: Stdio) -> io::Result<u8> {
    let (mut runs, mut news_in, mut model_in) = Runs::new(&world);
    let post = Arc::clone(&runs.post);
    let mut pump = Pump::start(session, world, stdio, &post)?;
    loop {
        runs.take_tasks(&mut pump);
        if pump.exit().is_some() {
            return Ok(pump.finish());
        }
        tokio::select! {
            biased;
            Some(item) = news_in.recv() => pump.take(item),
            Some((id, item)) = model_in.recv(), if pump.wants_progress() => pump.model(id, item),
            () = after(pump.wait()) => pump.tick(),
        }
        // Threads come first, so that an interrupt never waits.
        pump.take_turns(|| model_in.try_recv().ok());
    }
}

/// Model requests under way.
struct Runs {
    trust: Arc<TrustStore>,
    post: Post,
    news: mpsc::Sender<(EffectId, ModelNews)>,
    tasks: BTreeMap<EffectId, AbortHandle>,
}

/// News of threads, then those of models.
type Roads = (
    Runs,
    mpsc::UnboundedReceiver<News>,
    mpsc::Receiver<(EffectId, ModelNews)>,
);

impl Runs {
    /// None yet, and where news of threads and of models arrive.
    fn new(world: &World) -> Roads {
        let (threads, news_in) = mpsc::unbounded_channel();
        let (news, model_in) = mpsc::channel(MODEL_NEWS);
        let runs = Self {
            trust: Arc::clone(&world.trust),
            // The loop may be gone while a thread still has something to tell.
            post: Arc::new(move |item| drop(threads.send(item))),
            news,
            tasks: BTreeMap::new(),
        };
        (runs, news_in, model_in)
    }

    fn take_tasks(&mut self, pump: &mut Pump) {
        while let Some(task) = pump.next_model() {
            match task {
                ModelTask::Run(id, run) => {
                    let (post, now) = (Arc::clone(&self.post), pump.now());
                    let (news, trust) = (self.news.clone(), Arc::clone(&self.trust));
                    // Begun in the task: its first step is not the loop's.
                    let task = tokio::spawn(async move {
                        model::drive(Drive::begin(*run, id, post, now), news, trust).await;
                    });
                    self.tasks.retain(|_, task| !task.is_finished());
                    self.tasks.insert(id, task.abort_handle());
                }
                ModelTask::Cancel(id) => {
                    if let Some(task) = self.tasks.remove(&id) {
                        task.abort();
                    }
                }
            }
        }
    }
}

/// A session that is dropped leaves no request behind: on the runtime of an
/// embedder they would go on.
impl Drop for Runs {
    fn drop(&mut self) {
        self.tasks.values().for_each(AbortHandle::abort);
    }
}

/// Sleeps that long, for ever without a length.
async fn after(wait: Option<Duration>) {
    match wait {
        Some(Duration::ZERO) => {}
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}
