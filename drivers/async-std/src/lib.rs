//! The async-std driver of `AgentX`: the wait primitive, and a task for each
//! model request. Everything else is [`agentx_pump`].

pub mod host;
mod model;
mod runtime;
#[cfg(test)]
mod tests;

use agentx_core::agent::AgentSession;
use agentx_core::effect::EffectId;
use agentx_core::time::Instant;
use agentx_pump::drive::{Drive, Listener, MODEL_NEWS};
use agentx_pump::lookup::Lookups;
use agentx_pump::model::ModelRun;
use agentx_pump::pump::{ModelNews, ModelTask, News, Post, Pump};
use agentx_pump::tls::TrustStore;
use agentx_pump::world::{Stdio, World};
use async_channel::{RecvError, Sender, bounded, unbounded};
use futures_lite::future::or;
use runtime::{Task, after, block_on, spawn, start};
use std::collections::BTreeMap;
use std::future::pending;
use std::io;
use std::sync::Arc;

/// Runs a session to its end on this thread; gives the exit status. Model
/// requests run on the threads of the runtime, which all sessions share.
///
/// # Errors
///
/// When the runtime, a thread or a signal handler cannot be set up.
pub fn run(session: AgentSession, world: World, stdio: Stdio) -> io::Result<u8> {
    start()?;
    block_on(drive(session, world, stdio))
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
    start()?;
    let (news, news_in) = bounded(MODEL_NEWS);
    let drive = Drive::begin(run, EffectId(0), Arc::new(drop), Instant::ZERO);
    let _task = spawn(model::drive(drive, news, Lookups::new(trust)));
    let mut listener = Listener::new(each);
    while let Ok((_, item)) = news_in.recv_blocking() {
        listener.take(item);
    }
    Ok(())
}

/// What the loop waits for.
enum Turn {
    News(News),
    Model((EffectId, ModelNews)),
    Due,
}

async fn drive(session: AgentSession, world: World, stdio: Stdio) -> io::Result<u8> {
    let (news, news_in) = unbounded();
    let (model, model_in) = bounded(MODEL_NEWS);
    // The loop may be gone while a thread still has something to tell.
    let post: Post = Arc::new(move |item| drop(news.try_send(item)));
    let mut runs = Runs {
        lookups: Lookups::new(Arc::clone(&world.trust)),
        post: Arc::clone(&post),
        news: model,
        tasks: BTreeMap::new(),
    };
    let mut pump = Pump::start(session, world, stdio, &post)?;
    loop {
        runs.take_tasks(&mut pump);
        if pump.exit().is_some() {
            return Ok(pump.finish());
        }
        // In this order. What is not received stays in its channel.
        let threads = async { news_in.recv().await.map(Turn::News) };
        let requests = async {
            if !pump.wants_progress() {
                pending::<()>().await;
            }
            model_in.recv().await.map(Turn::Model)
        };
        let due = async {
            after(pump.wait()).await;
            Ok(Turn::Due)
        };
        match or(threads, or(requests, due)).await {
            Ok(Turn::News(item)) => pump.take(item),
            Ok(Turn::Model((id, item))) => pump.model(id, item),
            // The channels are open as long as the runs are there.
            Ok(Turn::Due) | Err(RecvError) => pump.tick(),
        }
        // Threads come first, so that an interrupt never waits.
        pump.take_turns(|| model_in.try_recv().ok());
    }
}

/// Model requests under way.
struct Runs {
    lookups: Lookups,
    post: Post,
    news: Sender<(EffectId, ModelNews)>,
    tasks: BTreeMap<EffectId, Task>,
}

impl Runs {
    fn take_tasks(&mut self, pump: &mut Pump) {
        while let Some(task) = pump.next_model() {
            match task {
                ModelTask::Run(id, run) => {
                    let (post, now) = (Arc::clone(&self.post), pump.now());
                    let (news, lookups) = (self.news.clone(), self.lookups.clone());
                    // Begun in the task: its first step is not the loop's (DEC-28).
                    let task = spawn(async move {
                        model::drive(Drive::begin(*run, id, post, now), news, lookups).await;
                    });
                    self.tasks.retain(|_, task| !task.is_over());
                    self.tasks.insert(id, task);
                }
                ModelTask::Cancel(id) => drop(self.tasks.remove(&id)),
            }
        }
    }
}
