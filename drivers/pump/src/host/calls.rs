//! What an agent can be asked for and told: a method for each operation.

use super::client::Client;
use super::error::Error;
use super::news::{Ask, News};
use super::slot::{Outcome, Slot, slot};
use agentx_core::host::CallId;
use agentx_core::json::RawJson;
use agentx_core::schema::host::{
    ApplyFlagSettings, Call, CancelAsyncMessage, EnvironmentUpdate, GetContextUsage, GetSettings,
    Initialize, Interrupt, McpReconnect, McpSend, McpSetServers, McpStatus, McpToggle, Prompt,
    ReloadPlugins, RewindFiles, SeedReadState, SetMaxThinkingTokens, SetModel, SetPermissionMode,
    StopTask,
};
use agentx_core::schema::permission::PermissionMode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

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
    /// `prompt_uuid`. Does not wait for the turn. Dropping the future does not
    /// take the prompt back.
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
    /// [`Agent::timeout`](super::Agent::timeout); [`Error::Protocol`] for an answer that is none;
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

    pub(super) fn tell(&self, ask: Ask) {
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
