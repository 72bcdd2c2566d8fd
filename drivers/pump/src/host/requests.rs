//! What an agent asks for, as a task with the only way back.

use super::callbacks::Callbacks;
use super::news::News;
use super::task::{BoxFuture, FAILED, Failure, answered};
use agentx_core::effect::EffectId;
use agentx_core::host::{Answer, Request};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The callback for a request, as a task that answers; without one the request is
/// refused.
pub(super) fn task(callbacks: &Callbacks, request: Request, reply: Reply) -> Option<BoxFuture<()>> {
    let refused = match request {
        Request::Permit(question) => match callbacks.permit.clone() {
            Some(decide) => return run(reply, move || decide(*question), Answer::Permit),
            None => "this host decides about no calls",
        },
        Request::Hook(event) => match callbacks.hook_of(&event.callback_id).cloned() {
            Some(hook) => return run(reply, move || hook(*event), Answer::Hook),
            None => "this host has no such hook",
        },
        Request::Elicit(question) => match callbacks.elicit.clone() {
            Some(ask) => return run(reply, move || ask(*question), Answer::Elicit),
            None => "this host asks its user nothing",
        },
        Request::Mcp(message) => match callbacks.servers.get(&message.server_name).cloned() {
            Some(serve) => return run(reply, move || serve(*message), Answer::Mcp),
            None => "this host has no such server",
        },
    };
    reply.send(Answer::Failed(refused.to_owned()));
    None
}

/// A callback as a task that answers when it is done.
fn run<T: Send + 'static>(
    reply: Reply,
    begin: impl FnOnce() -> BoxFuture<Result<T, Failure>> + Send + 'static,
    answer: fn(T) -> Answer,
) -> Option<BoxFuture<()>> {
    Some(Box::pin(async move {
        let ended = answered(begin).await;
        reply.send(ended.map_or_else(Answer::Failed, answer));
    }))
}

/// The way back for one request. Dropped without an answer it fails the request:
/// a task that is lost allows nothing (WIRE-PERM-002).
/// Shares `running` until then, so that callbacks can be counted that run on.
pub(super) struct Reply(Option<(EffectId, Sender<News>, Arc<()>)>);

impl Reply {
    pub(super) const fn new(id: EffectId, news: Sender<News>, running: Arc<()>) -> Self {
        Self(Some((id, news, running)))
    }

    pub(super) fn send(mut self, answer: Answer) {
        self.tell(answer);
    }

    fn tell(&mut self, answer: Answer) {
        if let Some((id, news, running)) = self.0.take() {
            // It may be asked the next thing at once.
            drop(running);
            // A loop that is gone needs no answer.
            let _ = news.send(News::Answer(id, answer));
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.tell(Answer::Failed(FAILED.to_owned()));
    }
}
