//! The shared operations, which the profile `reference` installs.

mod controls;
mod files;
mod initialize;
mod settings;

pub(super) use files::Files;
pub(super) use initialize::{Initializing, REJECTED};

use super::AgentSession;
use crate::schema::inbound::SharedOperation;

/// What a request is told that the end of the session overtook.
const ENDED: &str = "the session ended before this was done";

impl AgentSession {
    /// Serves a shared operation.
    pub(super) fn shared_operation(&mut self, id: &str, operation: SharedOperation) {
        match operation {
            SharedOperation::Initialize(request) => self.initialize_with(id, &request),
            SharedOperation::Interrupt => self.interrupt_turn(Some(id)),
            SharedOperation::GetContextUsage => {
                let payload = self.context_usage();
                self.answer(id, Some(payload));
            }
            SharedOperation::McpStatus => {
                let payload = self.mcp_status();
                self.answer(id, Some(payload));
            }
            SharedOperation::McpReconnect { server_name } => self.mcp_reconnect(id, &server_name),
            SharedOperation::McpToggle {
                server_name,
                enabled,
            } => self.mcp_toggle(id, &server_name, enabled),
            SharedOperation::McpSetServers { servers } => self.mcp_set_servers(id, &servers),
            SharedOperation::McpMessage {
                server_name,
                message,
            } => self.mcp_message(id, &server_name, *message),
            SharedOperation::GetSettings => self.get_settings(id),
            SharedOperation::ApplyFlagSettings { settings } => {
                self.apply_flag_settings(id, &settings);
            }
            SharedOperation::SetPermissionMode { mode } => self.set_permission_mode(id, &mode),
            SharedOperation::SetModel { model } => self.set_model(id, model.as_deref()),
            SharedOperation::SetMaxThinkingTokens { tokens } => {
                self.set_max_thinking_tokens(id, tokens);
            }
            SharedOperation::CancelAsyncMessage { message_uuid } => {
                self.cancel_async_message(id, &message_uuid);
            }
            SharedOperation::StopTask { task_id } => self.stop_named_task(id, &task_id),
            SharedOperation::ReloadPlugins => self.reload_plugins(id),
            SharedOperation::RewindFiles {
                user_message_id,
                dry_run,
            } => self.rewind_files(id, &user_message_id, dry_run),
            SharedOperation::SeedReadState { path, mtime } => {
                self.seed_read_state(id, path, mtime);
            }
        }
    }
}
