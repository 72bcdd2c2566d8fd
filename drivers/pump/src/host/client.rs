//! What an embedder holds: one agent, its records, and what it can be asked.

use super::agent::Agent;
use super::callbacks::Callbacks;
use super::engine::{Ask, Engine, News, Over, Shelf, State, UNREAD_BYTES};
use super::error::{Ended, Error};
use super::mailbox::Mailbox;
use super::process::Process;
use super::slot::{Outcome, Slot, slot};
use super::tail::Tail;
use super::task::Spawn;
use super::{CALLBACKS, Record};
use crate::pump;
use crate::stdio::{READ_BYTES, Writer};
use agentx_core::host::{CallId, Config, HostSession};
use agentx_core::ids::Seed;
use agentx_core::json::RawJson;
use agentx_core::schema::host::{
    ApplyFlagSettings, Call, CancelAsyncMessage, EnvironmentUpdate, GetContextUsage, GetSettings,
    Initialize, Interrupt, McpReconnect, McpSend, McpSetServers, McpStatus, McpToggle, Prompt,
    ReloadPlugins, RewindFiles, SeedReadState, SetMaxThinkingTokens, SetModel, SetPermissionMode,
    StopTask,
};
use agentx_core::schema::permission::PermissionMode;
use agentx_core::time::Instant;
use futures_core::Stream;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

/// One agent at work, seen by its host.
///
/// Records come in the order in which the agent wrote them, and have to be taken:
/// above [`UNREAD_BYTES`] of them the agent is not read, and answers wait behind
/// them. Every method may be called from several tasks at once; each record goes
/// to one of those that wait for the next.
///
/// Dropping a client ends the agent and everything in its process group, and
/// waits until they are gone: some milliseconds for an agent that heeds SIGTERM,
/// about three seconds for one that does not. [`Client::end`] and
/// [`Client::kill`] do the same without holding up a thread.
pub struct Client {
    news: Sender<News>,
    calls: AtomicU64,
    shelf: Shelf,
    ended: Mailbox<Over>,
    tail: Tail,
    process: Process,
    callbacks: Callbacks,
}

/// Starts an agent whose callbacks run as tasks of `spawn`.
///
/// # Errors
///
/// [`Error::NotFound`] and [`Error::NotStarted`]; nothing is left behind.
pub fn start(mut agent: Agent, callbacks: Callbacks, spawn: Spawn) -> Result<Client, Error> {
    let (child, input, output, errors) = agent.spawn()?;
    let (news, told) = channel();
    let exit = news.clone();
    let process = Process::watch(child, move |status| drop(exit.send(News::Exited(status))));
    let process = process.map_err(|error| agent.fault(&error))?;
    let (gate, passed) = channel();
    let tail = Tail::default();
    let client = Client {
        news: news.clone(),
        calls: AtomicU64::new(0),
        shelf: Shelf::default(),
        ended: Mailbox::default(),
        tail: tail.clone(),
        process: process.clone(),
        callbacks: callbacks.clone(),
    };
    let listener = agent.told.take();
    let begin = || -> io::Result<()> {
        let writer = Writer::start(input, posted(&news))?;
        let (out, err) = (news.clone(), news.clone());
        thread("host stdout").spawn(move || read(output, &out, &passed))?;
        let lines = tail.clone();
        thread("host stderr").spawn(move || {
            lines.follow(errors, listener);
            let _ = err.send(News::ErrorsEnd);
        })?;
        let engine = Engine {
            session: HostSession::new(config(), Instant::ZERO),
            started: std::time::Instant::now(),
            callbacks,
            spawn,
            timeout: agent.timeout,
            news: news.clone(),
            process,
            writer: Some(writer),
            gate,
            tail,
            shelf: client.shelf.clone(),
            ended: client.ended.clone(),
            state: State::default(),
        };
        thread("host").spawn(move || engine.run(&told))?;
        Ok(())
    };
    // On a failure the client is dropped, which ends the agent.
    begin().map_err(|error| agent.fault(&error))?;
    Ok(client)
}

fn thread(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.into())
}

/// What the writer of records tells, as news of this loop.
fn posted(news: &Sender<News>) -> pump::Post {
    let news = news.clone();
    Arc::new(move |item| {
        let item = match item {
            pump::News::Wrote(count) => News::Wrote(count),
            _ => News::WriteFailed,
        };
        let _ = news.send(item);
    })
}

/// Reads stdout to its end, one piece on its way at a time.
fn read(mut output: impl Read, news: &Sender<News>, passed: &Receiver<()>) {
    loop {
        let mut piece = vec![0; READ_BYTES];
        match output.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(count @ 1..) => piece.truncate(count),
            Ok(_) | Err(_) => break,
        }
        if news.send(News::Piece(piece)).is_err() || passed.recv().is_err() {
            return;
        }
    }
    let _ = news.send(News::OutputEnd);
}

/// Ids need not be secret, only new.
fn config() -> Config {
    let mut config = Config::new(Seed::from_u64(RandomState::new().hash_one(0)));
    config.limits.host_requests = CALLBACKS;
    config
}

/// What the agent is asked for and told.
impl Client {
    /// Begins the session: tells the agent of the hooks and servers among the
    /// callbacks, and gives what it says of itself. To be called once, before the
    /// first prompt.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn initialize(&self) -> Result<RawJson, Error> {
        self.initialize_with(Initialize::default()).await
    }

    /// The same with further members, which an agent of the profile `reference`
    /// takes.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn initialize_with(&self, initialize: Initialize) -> Result<RawJson, Error> {
        self.payload(self.callbacks.announce(initialize)).await
    }

    /// Sends a prompt; gives its UUID, which its `result` record repeats as
    /// `prompt_uuid`. Does not wait for the turn.
    ///
    /// # Errors
    ///
    /// [`Error::Stalled`], [`Error::TooMany`], [`Error::Invalid`],
    /// [`Error::Closed`] and [`Error::Ended`]: the prompt was not sent.
    pub async fn prompt(&self, text: impl Into<String>) -> Result<Arc<str>, Error> {
        self.send(Prompt::text(text)).await
    }

    /// Sends a prompt with all that belongs to it: blocks, a UUID, a priority.
    ///
    /// # Errors
    ///
    /// As [`Client::prompt`].
    pub async fn send(&self, prompt: Prompt) -> Result<Arc<str>, Error> {
        self.ask(|slot| Ask::Prompt(Box::new(prompt), slot)).await
    }

    /// Stops the running turn. Its `result` follows as a record.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.call(Interrupt {}).await.map(drop)
    }

    /// Changes the permission mode.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<RawJson, Error> {
        self.payload(SetPermissionMode { mode }).await
    }

    /// Changes the model; without a name to that of the agent's start.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn set_model(&self, model: Option<String>) -> Result<RawJson, Error> {
        self.payload(SetModel { model }).await
    }

    /// Bounds the reasoning of the model, or ends the bound.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<RawJson, Error> {
        self.payload(SetMaxThinkingTokens {
            max_thinking_tokens: tokens,
        })
        .await
    }

    /// What the context of the model holds.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn get_context_usage(&self) -> Result<RawJson, Error> {
        self.payload(GetContextUsage {}).await
    }

    /// The settings, merged and by their sources.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn get_settings(&self) -> Result<RawJson, Error> {
        self.payload(GetSettings {}).await
    }

    /// Puts an object of settings into the layer of flags.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn apply_flag_settings(&self, settings: RawJson) -> Result<RawJson, Error> {
        self.payload(ApplyFlagSettings { settings }).await
    }

    /// Reads plugins again.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn reload_plugins(&self) -> Result<RawJson, Error> {
        self.payload(ReloadPlugins {}).await
    }

    /// Puts files back to where the prompt of this UUID began, or with `dry_run`
    /// tells what that would change.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn rewind_files(
        &self,
        prompt: impl Into<Arc<str>>,
        dry_run: bool,
    ) -> Result<RawJson, Error> {
        self.payload(RewindFiles {
            user_message_id: prompt.into(),
            dry_run,
        })
        .await
    }

    /// Takes back the prompt of this UUID, if it waits.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn cancel_async_message(
        &self,
        prompt: impl Into<Arc<str>>,
    ) -> Result<RawJson, Error> {
        self.payload(CancelAsyncMessage {
            message_uuid: prompt.into(),
        })
        .await
    }

    /// Tells that the host has seen a file as it was at `mtime`, in milliseconds
    /// since 1970.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn seed_read_state(
        &self,
        path: impl Into<String>,
        mtime: u64,
    ) -> Result<RawJson, Error> {
        self.payload(SeedReadState {
            path: path.into(),
            mtime,
        })
        .await
    }

    /// Stops a background task.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn stop_task(&self, task: impl Into<Arc<str>>) -> Result<RawJson, Error> {
        self.payload(StopTask {
            task_id: task.into(),
        })
        .await
    }

    /// How MCP servers are.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn mcp_status(&self) -> Result<RawJson, Error> {
        self.payload(McpStatus {}).await
    }

    /// Connects an MCP server again.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn mcp_reconnect(&self, server: impl Into<Arc<str>>) -> Result<RawJson, Error> {
        self.payload(McpReconnect {
            server_name: server.into(),
        })
        .await
    }

    /// Switches an MCP server on or off.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn mcp_toggle(
        &self,
        server: impl Into<Arc<str>>,
        enabled: bool,
    ) -> Result<RawJson, Error> {
        self.payload(McpToggle {
            server_name: server.into(),
            enabled,
        })
        .await
    }

    /// Replaces the MCP servers that hosts have set: an object by their names.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn mcp_set_servers(&self, servers: RawJson) -> Result<RawJson, Error> {
        self.payload(McpSetServers { servers }).await
    }

    /// Lets an MCP server of this host speak on its own.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn mcp_message(
        &self,
        server: impl Into<Arc<str>>,
        message: RawJson,
    ) -> Result<RawJson, Error> {
        self.payload(McpSend {
            server_name: server.into(),
            message,
        })
        .await
    }

    /// Sets variables for tools that the agent starts from now on.
    ///
    /// # Errors
    ///
    /// As [`Client::prompt`].
    pub async fn update_environment(
        &self,
        variables: impl IntoIterator<Item = (impl Into<Arc<str>>, impl Into<String>)>,
    ) -> Result<(), Error> {
        let variables = variables.into_iter();
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let update = EnvironmentUpdate {
            variables: variables.collect(),
        };
        self.ask(|slot| Ask::Environment(update, slot)).await
    }

    /// Calls any operation, also one that has no method here, and gives the payload
    /// of its answer. Dropping the future forgets the call; what the agent does
    /// about it is done regardless.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the agent's words; [`Error::TimedOut`] after
    /// [`Agent::timeout`]; [`Error::Protocol`] for an answer that is none;
    /// [`Error::Ended`] and [`Error::Closed`] when no answer can come; the others
    /// when it was not sent.
    pub async fn call(&self, call: impl Into<Call>) -> Result<Option<RawJson>, Error> {
        self.timed(call.into(), None).await
    }

    /// The same with a time of its own.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub async fn call_within(
        &self,
        call: impl Into<Call>,
        timeout: Duration,
    ) -> Result<Option<RawJson>, Error> {
        self.timed(call.into(), Some(timeout)).await
    }

    async fn payload(&self, call: impl Into<Call>) -> Result<RawJson, Error> {
        let payload = self.timed(call.into(), None).await?;
        Ok(payload.unwrap_or_else(RawJson::empty_object))
    }

    async fn timed(&self, call: Call, timeout: Option<Duration>) -> Result<Option<RawJson>, Error> {
        let id = CallId(self.calls.fetch_add(1, Ordering::Relaxed));
        let waits = Waits { client: self, id };
        let answer = self.ask(|slot| Ask::Call(id, Box::new(call), timeout, slot));
        let answer = answer.await;
        // It is over, so there is nothing to forget.
        std::mem::forget(waits);
        answer
    }

    async fn ask<T>(&self, ask: impl FnOnce(Slot<T>) -> Ask) -> Result<T, Error> {
        let (slot, outcome): (_, Outcome<T>) = slot();
        self.tell(ask(slot));
        match outcome.get().await {
            Some(answer) => answer,
            // The loop is over, and everything about the end is known.
            None => Err(self.over().await.why),
        }
    }

    fn tell(&self, ask: Ask) {
        // A loop that is over drops it, which settles it.
        let _ = self.news.send(News::Ask(ask));
    }
}

/// Forgets a call whose future is dropped.
struct Waits<'a> {
    client: &'a Client,
    id: CallId,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.client.tell(Ask::Forget(self.id));
    }
}

/// Records and the end.
impl Client {
    /// Waits for the next record. `None` when the agent has ended and all are
    /// taken. Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Once, as the last item: [`Error::Ended`] when the agent ended although its
    /// input was open, or crashed; [`Error::Protocol`] when it wrote what is no
    /// record, whereupon it is ended.
    pub async fn next(&self) -> Option<Result<Record, Error>> {
        let item = self.shelf.records.next().await;
        item.map(|item| self.took(item))
    }

    /// The same as a stream.
    pub const fn records(&self) -> Records<'_> {
        Records { client: self }
    }

    /// Ends the agent's input behind everything that was sent. The agent finishes
    /// what it was asked for, without anybody to answer its questions, and ends;
    /// its records are still to be taken.
    pub fn close(&self) {
        self.tell(Ask::Close);
    }

    /// Waits for the end of the agent, which this does not bring about. Somebody has
    /// to take the records meanwhile.
    pub async fn wait(&self) -> Ended {
        self.over().await.ended
    }

    async fn over(&self) -> Over {
        let over = self.ended.first().await;
        // Without a word from a loop that has failed.
        over.unwrap_or_else(|| Over {
            ended: Ended::default(),
            why: Error::Ended(Ended::default()),
        })
    }

    /// Closes the input, reads what comes until the agent has ended, and tells how.
    pub async fn end(&self) -> Ended {
        self.close();
        while self.next().await.is_some() {}
        self.wait().await
    }

    /// Ends the agent and its process group now: SIGTERM, SIGTERM again after
    /// 2 s, SIGKILL after one more. What it still writes can be taken.
    pub async fn kill(&self) -> Ended {
        self.tell(Ask::Kill);
        self.wait().await
    }

    /// Its process id, which is also that of its process group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The last lines that it wrote on stderr so far, oldest first.
    #[must_use]
    pub fn stderr(&self) -> Arc<[String]> {
        self.tail.lines()
    }

    /// Counts a record as taken; tells when there is room again.
    fn took(&self, (weight, item): (usize, Result<Record, Error>)) -> Result<Record, Error> {
        let before = self.shelf.weight.fetch_sub(weight, Ordering::AcqRel);
        if before >= UNREAD_BYTES && before.saturating_sub(weight) < UNREAD_BYTES {
            let _ = self.news.send(News::Room);
        }
        item
    }
}

/// The records of a client, as a stream and one by one.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    client: &'a Client,
}

impl Records<'_> {
    /// As [`Client::next`].
    ///
    /// # Errors
    ///
    /// As [`Client::next`].
    pub async fn next(&mut self) -> Option<Result<Record, Error>> {
        self.client.next().await
    }
}

impl Stream for Records<'_> {
    type Item = Result<Record, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = self.client.shelf.records.poll(context);
        item.map(|item| item.map(|item| self.client.took(item)))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.shelf.records.discard();
        self.tell(Ask::Leave);
        self.process.stop();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}
