//! A host client that blocks: starts an agent and speaks the other end of the wire
//! without any runtime.
//!
//! ```no_run
//! use agentx_mio::host::{Agent, Callbacks, Decision, start};
//!
//! # fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let callbacks = Callbacks::new().can_use_tool(|question| {
//!     Ok(match &*question.tool_name {
//!         "Bash" => Decision::allow(),
//!         tool => Decision::deny(format!("{tool} may not run here")),
//!     })
//! });
//! let client = start(Agent::agentx("agentx").cwd("/tmp"), callbacks)?;
//! let uuid = client.prompt("What is in this folder?")?;
//! for record in client.records() {
//!     let record = record?;
//!     if record.is_end_of(&uuid) {
//!         client.close();
//!     }
//! }
//! println!("{}", client.wait());
//! # Ok(())
//! # }
//! ```
//!
//! Each callback runs on a thread of its own, so it may block; one that the agent
//! takes back runs on, and its answer goes nowhere. A client is shared between
//! threads by reference: one may wait for records while another interrupts.
//! `agentx_tokio::host` and `agentx_async_std::host` have the same names.

pub use agentx_pump::host::{
    Agent, Body, CALL_TIMEOUT, CALLBACKS, Call, CanUseTool, Decision, Elicitation, Ended, Error,
    Failure, HookCallback, HookEvent, HookOn, Initialize, McpMessage, McpReply, OnFailure,
    OtherCall, Outbound, PermissionMode, PermissionUpdate, Prompt, RawJson, Record,
    STDERR_LINE_BYTES, STDERR_LINES, UNREAD_BYTES, UNREAD_OVERHEAD_BYTES, UNWRITTEN_BYTES,
};

use agentx_pump::host::{self, threads, wait};
use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

/// Starts an agent.
///
/// # Errors
///
/// [`Error::NotFound`] and [`Error::NotStarted`]; nothing is left behind then.
pub fn start(agent: Agent, callbacks: Callbacks) -> Result<Client, Error> {
    host::start(agent, callbacks.0, threads()).map(Client)
}

/// What a host answers when its agent asks; each by a function of its own.
///
/// A function runs on a thread beside the reading of records, up to [`CALLBACKS`]
/// of them at once, those that were taken back and run on included. One that fails or panics, and one that is not there, is a
/// refusal: a call that is asked about does not run, a hook has failed, a message
/// to a server is an error, an elicitation is cancelled (WIRE-PERM-002).
#[derive(Clone, Debug, Default)]
pub struct Callbacks(host::Callbacks);

/// A function as one that gives a future, which is ready.
fn at_once<Q, A>(
    callback: impl Fn(Q) -> Result<A, Failure> + Send + Sync + 'static,
) -> impl Fn(Q) -> Ready<Result<A, Failure>> + Send + Sync + 'static {
    move |question| ready(callback(question))
}

impl Callbacks {
    /// No callback: whatever is asked is refused.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides whether a call of a tool may run.
    #[must_use]
    pub fn can_use_tool(
        self,
        decide: impl Fn(CanUseTool) -> Result<Decision, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(self.0.can_use_tool(at_once(decide)))
    }

    /// Adds a hook: what it returns is the object that a hook answers, `{}` for
    /// one that decides nothing. The agent has to run in its profile `reference`,
    /// and learns of hooks by `initialize`.
    #[must_use]
    pub fn hook(
        self,
        on: HookOn,
        run: impl Fn(HookCallback) -> Result<RawJson, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(self.0.hook(on, at_once(run)))
    }

    /// Adds an MCP server that lives in this host: JSON-RPC messages in, answers
    /// out, `None` to a message that asks nothing. The agent has to run in its
    /// profile `reference`, and learns of servers by `initialize`.
    #[must_use]
    pub fn mcp_server(
        self,
        name: impl Into<Arc<str>>,
        serve: impl Fn(McpMessage) -> Result<Option<RawJson>, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(self.0.mcp_server(name, at_once(serve)))
    }

    /// Asks the user something for an MCP server.
    #[must_use]
    pub fn elicit(
        self,
        ask: impl Fn(Elicitation) -> Result<McpReply, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(self.0.elicit(at_once(ask)))
    }
}

/// One agent at work, seen by its host.
///
/// Records come in the order in which the agent wrote them, and have to be taken:
/// above [`UNREAD_BYTES`] of them the agent is not read, and answers wait behind
/// them. Each record goes to one of the threads that wait for the next.
///
/// Dropping a client ends the agent and everything in its process group, and
/// waits until they are gone.
#[derive(Debug)]
pub struct Client(host::Client);

/// Declares methods that wait for those of the client that does not.
macro_rules! waits {
    ($(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) -> $value:ty;
    )+) => {
        impl Client {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                ///
                #[doc = concat!("As [`agentx_pump::host::Client::", stringify!($name), "`].")]
                pub fn $name(&self, $($argument: $type),*) -> Result<$value, Error> {
                    wait(self.0.$name($($argument),*))
                }
            )+
        }
    };
}

waits! {
    /// Begins the session: tells the agent of the hooks and servers among the
    /// callbacks, and gives what it says of itself.
    initialize() -> RawJson;
    /// The same with further members, which an agent of the profile `reference`
    /// takes.
    initialize_with(initialize: Initialize) -> RawJson;
    /// Sends a prompt; gives its UUID, which its `result` record repeats. Does not
    /// wait for the turn.
    prompt(text: impl Into<String>) -> Arc<str>;
    /// Sends a prompt with all that belongs to it: blocks, a UUID, a priority.
    send(prompt: Prompt) -> Arc<str>;
    /// Stops the running turn. Its `result` follows as a record.
    interrupt() -> ();
    /// Changes the permission mode.
    set_permission_mode(mode: PermissionMode) -> RawJson;
    /// Changes the model; without a name to that of the agent's start.
    set_model(model: Option<String>) -> RawJson;
    /// Bounds the reasoning of the model, or ends the bound.
    set_max_thinking_tokens(tokens: Option<u64>) -> RawJson;
    /// What the context of the model holds.
    get_context_usage() -> RawJson;
    /// The settings, merged and by their sources.
    get_settings() -> RawJson;
    /// Puts an object of settings into the layer of flags.
    apply_flag_settings(settings: RawJson) -> RawJson;
    /// Reads plugins again.
    reload_plugins() -> RawJson;
    /// Puts files back to where the prompt of this UUID began, or with `dry_run`
    /// tells what that would change.
    rewind_files(prompt: impl Into<Arc<str>>, dry_run: bool) -> RawJson;
    /// Takes back the prompt of this UUID, if it waits.
    cancel_async_message(prompt: impl Into<Arc<str>>) -> RawJson;
    /// Tells that the host has seen a file as it was at `mtime`, in milliseconds
    /// since 1970.
    seed_read_state(path: impl Into<String>, mtime: u64) -> RawJson;
    /// Stops a background task.
    stop_task(task: impl Into<Arc<str>>) -> RawJson;
    /// How MCP servers are.
    mcp_status() -> RawJson;
    /// Connects an MCP server again.
    mcp_reconnect(server: impl Into<Arc<str>>) -> RawJson;
    /// Switches an MCP server on or off.
    mcp_toggle(server: impl Into<Arc<str>>, enabled: bool) -> RawJson;
    /// Replaces the MCP servers that hosts have set: an object by their names.
    mcp_set_servers(servers: RawJson) -> RawJson;
    /// Lets an MCP server of this host speak on its own.
    mcp_message(server: impl Into<Arc<str>>, message: RawJson) -> RawJson;
    /// Sets variables for tools that the agent starts from now on.
    update_environment(
        variables: impl IntoIterator<Item = (impl Into<Arc<str>>, impl Into<String>)>
    ) -> ();
    /// Calls any operation, and gives the payload of its answer.
    call(call: impl Into<Call>) -> Option<RawJson>;
    /// The same with a time of its own.
    call_within(call: impl Into<Call>, timeout: Duration) -> Option<RawJson>;
}

impl Client {
    /// Waits for the next record. `None` when the agent has ended and all are taken.
    ///
    /// # Errors
    ///
    /// Once, as the last item: [`Error::Ended`] when the agent ended although its
    /// input was open, or crashed; [`Error::Protocol`] when it wrote what is no
    /// record, whereupon it is ended.
    pub fn next(&self) -> Option<Result<Record, Error>> {
        wait(self.0.next())
    }

    /// The same as an iterator.
    #[must_use]
    pub const fn records(&self) -> Records<'_> {
        Records(self)
    }

    /// Ends the agent's input behind everything that was sent. The agent finishes
    /// what it was asked for, without anybody to answer its questions, and ends;
    /// its records are still to be taken.
    pub fn close(&self) {
        self.0.close();
    }

    /// Waits for the end of the agent, which this does not bring about. Somebody has
    /// to take the records meanwhile.
    pub fn wait(&self) -> Ended {
        wait(self.0.wait())
    }

    /// Closes the input, reads what comes until the agent has ended, and tells how.
    pub fn end(&self) -> Ended {
        wait(self.0.end())
    }

    /// Ends the agent and its process group now: SIGTERM, SIGTERM again after
    /// 2 s, SIGKILL after one more. What it still writes can be taken.
    pub fn kill(&self) -> Ended {
        wait(self.0.kill())
    }

    /// Its process id, which is also that of its process group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// The last lines that it wrote on stderr so far, oldest first.
    #[must_use]
    pub fn stderr(&self) -> Arc<[String]> {
        self.0.stderr()
    }
}

/// The records of a client, one by one.
#[derive(Clone, Debug)]
pub struct Records<'a>(&'a Client);

impl Iterator for Records<'_> {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
