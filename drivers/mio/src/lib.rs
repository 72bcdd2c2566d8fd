//! The blocking driver of `AgentX`, on mio: the wait primitive, and a thread on
//! which model requests share one `Poll`. Everything else is [`agentx_pump`].

mod connect;
mod exchange;
pub mod host;
mod mailbox;
mod requests;

use agentx_core::agent::AgentSession;
use agentx_core::effect::EffectId;
use agentx_core::time::Instant;
use agentx_pump::drive::Listener;
use agentx_pump::model::ModelRun;
use agentx_pump::pump::{ModelNews, ModelTask, Pump};
use agentx_pump::tls::TrustStore;
use agentx_pump::world::{Stdio, World};
use mailbox::Mail;
use requests::Requests;
use std::io;
use std::sync::Arc;

/// Runs a session to its end on the calling thread; gives the exit status.
///
/// # Errors
///
/// When the poll, a thread or a signal handler cannot be set up.
pub fn run(session: AgentSession, world: World, stdio: Stdio) -> io::Result<u8> {
    let requests = Requests::start(Arc::clone(&world.trust))?;
    let mailbox = requests.mailbox();
    let post = mailbox.post();
    let mut pump = Pump::start(session, world, stdio, &post)?;
    loop {
        take_tasks(&requests, &mut pump);
        if pump.exit().is_some() {
            return Ok(pump.finish());
        }
        // Threads come first, so that an interrupt never waits.
        match mailbox.wait(pump.wants_progress(), pump.wait()) {
            Some(Mail::News(item)) => pump.take(item),
            Some(Mail::Model(id, item)) => pump.model(id, item),
            None => pump.tick(),
        }
        pump.take_turns(|| mailbox.model());
    }
}

/// Drives one model request without a session; every piece of news goes to `each`.
///
/// # Errors
///
/// When the poll or a thread cannot be set up.
pub fn request(
    run: ModelRun,
    trust: Arc<TrustStore>,
    each: impl FnMut(ModelNews),
) -> io::Result<()> {
    let requests = Requests::start(trust)?;
    let mailbox = requests.mailbox();
    let mut listener = Listener::new(each);
    requests.run(EffectId(0), Box::new(run), Instant::ZERO);
    // The only other mail is that the request is lost.
    while let Some(Mail::Model(_, item)) = mailbox.wait(true, None) {
        let over = matches!(item, ModelNews::Done(_));
        listener.take(item);
        if over {
            break;
        }
    }
    Ok(())
}

fn take_tasks(requests: &Requests, pump: &mut Pump) {
    while let Some(task) = pump.next_model() {
        match task {
            ModelTask::Run(id, run) => requests.run(id, run, pump.now()),
            ModelTask::Cancel(id) => requests.cancel(id),
        }
    }
}
