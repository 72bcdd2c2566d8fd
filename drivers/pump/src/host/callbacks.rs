//! What a host does when its agent asks.

use super::task::{BoxFuture, Failure};
use agentx_core::hook::HookEvent;
use agentx_core::json::RawJson;
use agentx_core::mcp::McpReply;
use agentx_core::schema::host::{Decision, HookMatcher, Initialize, OnFailure};
use agentx_core::schema::outbound::{CanUseTool, Elicitation, HookCallback, McpMessage};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

/// A callback: a question in, a future of the answer out.
pub(super) type Callback<Q, A> = Arc<dyn Fn(Q) -> BoxFuture<Result<A, Failure>> + Send + Sync>;

/// What a host answers when its agent asks; each by a callback of its own.
///
/// A callback runs as a task of the runtime beside the reading of records, any
/// number of them at once up to [`CALLBACKS`](super::CALLBACKS). One that fails or panics, and
/// one that is not there, is a refusal: a call that is asked about does not run, a
/// hook has failed, a message to a server is an error, an elicitation is
/// cancelled. What an agent takes back is dropped, and its answer goes nowhere
/// (WIRE-PERM-002).
#[derive(Clone, Default)]
pub struct Callbacks {
    pub(super) permit: Option<Callback<CanUseTool, Decision>>,
    pub(super) elicit: Option<Callback<Elicitation, McpReply>>,
    pub(super) servers: BTreeMap<Arc<str>, Callback<McpMessage, Option<RawJson>>>,
    pub(super) hooks: Vec<(HookOn, Callback<HookCallback, RawJson>)>,
}

/// When a hook is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookOn {
    event: HookEvent,
    matcher: HookMatcher,
}

impl HookOn {
    /// At every such event.
    #[must_use]
    pub const fn event(event: HookEvent) -> Self {
        Self {
            event,
            matcher: HookMatcher {
                matcher: None,
                callbacks: Vec::new(),
                timeout: None,
                on_failure: None,
            },
        }
    }

    /// Only for tools whose whole name fits the pattern.
    #[must_use]
    pub fn tools(mut self, pattern: impl Into<String>) -> Self {
        self.matcher.matcher = Some(pattern.into());
        self
    }

    /// The agent waits so many seconds for the answer and no longer.
    #[must_use]
    pub const fn timeout(mut self, seconds: u64) -> Self {
        self.matcher.timeout = Some(seconds);
        self
    }

    /// What a failure means where the hook decides something; a denial without this.
    #[must_use]
    pub const fn on_failure(mut self, means: OnFailure) -> Self {
        self.matcher.on_failure = Some(means);
        self
    }
}

impl Callbacks {
    /// No callback: whatever is asked is refused.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides whether a call of a tool may run.
    #[must_use]
    pub fn can_use_tool<A>(
        mut self,
        decide: impl Fn(CanUseTool) -> A + Send + Sync + 'static,
    ) -> Self
    where
        A: Future<Output = Result<Decision, Failure>> + Send + 'static,
    {
        self.permit = Some(boxed(decide));
        self
    }

    /// Adds a hook: what it returns is the object that a hook answers, `{}` for
    /// one that decides nothing. The agent has to run in its profile `reference`,
    /// and learns of hooks by `initialize`.
    #[must_use]
    pub fn hook<A>(
        mut self,
        on: HookOn,
        run: impl Fn(HookCallback) -> A + Send + Sync + 'static,
    ) -> Self
    where
        A: Future<Output = Result<RawJson, Failure>> + Send + 'static,
    {
        self.hooks.push((on, boxed(run)));
        self
    }

    /// Adds an MCP server that lives in this host: JSON-RPC messages in, answers
    /// out, `None` to a message that asks nothing. The agent has to run in its profile `reference`, and learns of servers
    /// by `initialize`.
    #[must_use]
    pub fn mcp_server<A>(
        mut self,
        name: impl Into<Arc<str>>,
        serve: impl Fn(McpMessage) -> A + Send + Sync + 'static,
    ) -> Self
    where
        A: Future<Output = Result<Option<RawJson>, Failure>> + Send + 'static,
    {
        self.servers.insert(name.into(), boxed(serve));
        self
    }

    /// Asks the user something for an MCP server.
    #[must_use]
    pub fn elicit<A>(mut self, ask: impl Fn(Elicitation) -> A + Send + Sync + 'static) -> Self
    where
        A: Future<Output = Result<McpReply, Failure>> + Send + 'static,
    {
        self.elicit = Some(boxed(ask));
        self
    }

    /// Adds hooks and servers to what a host says of itself.
    pub(super) fn announce(&self, mut initialize: Initialize) -> Initialize {
        for (at, (on, _)) in self.hooks.iter().enumerate() {
            let hooks = initialize.hooks.get_or_insert_default();
            let event = hooks.entry(on.event.as_str().into()).or_default();
            event.push(HookMatcher {
                callbacks: vec![hook_id(at)],
                ..on.matcher.clone()
            });
        }
        if !self.servers.is_empty() {
            let servers = initialize.sdk_servers.get_or_insert_default();
            servers.extend(self.servers.keys().cloned());
        }
        initialize
    }

    pub(super) fn hook_of(&self, id: &str) -> Option<&Callback<HookCallback, RawJson>> {
        let hooks = self.hooks.iter().enumerate();
        let mut found = hooks.filter(|(at, _)| *hook_id(*at) == *id);
        found.next().map(|(_, (_, run))| run)
    }
}

/// The name of the hook that was added after so many others.
fn hook_id(at: usize) -> Arc<str> {
    format!("hook_{at}").into()
}

fn boxed<Q, A, R>(callback: impl Fn(Q) -> A + Send + Sync + 'static) -> Callback<Q, R>
where
    A: Future<Output = Result<R, Failure>> + Send + 'static,
{
    Arc::new(move |question| Box::pin(callback(question)))
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callbacks")
            .field("can_use_tool", &self.permit.is_some())
            .field("elicit", &self.elicit.is_some())
            .field("servers", &self.servers.keys())
            .field("hooks", &self.hooks.len())
            .finish()
    }
}
