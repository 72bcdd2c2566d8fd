//! The shared operations, which the profile `reference` installs.

mod files;
mod initialize;

pub(super) use files::Files;
pub(super) use initialize::{Initializing, REJECTED};

use super::AgentSession;
use crate::schema::inbound::SharedOperation;

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
            SharedOperation::RewindFiles {
                user_message_id,
                dry_run,
            } => self.rewind_files(id, &user_message_id, dry_run),
            SharedOperation::SeedReadState { path, mtime } => {
                self.seed_read_state(id, path, mtime);
            }
            SharedOperation::GetSettings
            | SharedOperation::ReloadPlugins
            | SharedOperation::SetPermissionMode { .. }
            | SharedOperation::SetModel { .. }
            | SharedOperation::SetMaxThinkingTokens { .. }
            | SharedOperation::CancelAsyncMessage { .. }
            | SharedOperation::StopTask { .. }
            | SharedOperation::ApplyFlagSettings { .. } => {
                self.refuse_unsupported(id, operation.name());
            }
        }
    }
}
