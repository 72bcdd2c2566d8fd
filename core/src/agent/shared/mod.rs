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
                self.answer(id, Some(super::catalog::mcp_status()));
            }
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
            | SharedOperation::ApplyFlagSettings { .. }
            | SharedOperation::McpReconnect { .. }
            | SharedOperation::McpToggle { .. }
            | SharedOperation::McpSetServers { .. }
            | SharedOperation::McpMessage { .. } => {
                self.refuse_unsupported(id, operation.name());
            }
        }
    }
}
