//! What a session says of itself: `system/init` and the answer to `initialize`.

use super::AgentSession;
use crate::json::RawJson;
use crate::mark::mark;
use crate::schema::declare::Json;
use crate::schema::outbound::{ApiKeySource, ControlResponse, Outbound, SystemInit};
use crate::schema::payload::{InitializeApplied, McpStatusPayload};
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The one output style there is.
pub(super) const OUTPUT_STYLE: &str = "default";

impl AgentSession {
    /// What the session is made of (WIRE-023): its first record, or that of each
    /// turn in the profile `reference` (DEC-39). Its guard knows the routing
    /// values too.
    pub(super) fn send_init(&mut self) {
        mark!(self.marks, WIRE_023);
        self.offer_mcp_tools();
        let provider = &self.config.provider;
        let reference = self.config.profile.reference();
        let init = SystemInit {
            api_key_source: ApiKeySource::User,
            agentx_version: self.config.version.clone(),
            claude_code_version: reference.map(|profile| profile.claude_code_version.clone()),
            cwd: self.config.cwd.clone(),
            tools: self
                .agent_loop
                .tools()
                .iter()
                .map(|tool| Arc::clone(&tool.name))
                .collect(),
            mcp_servers: self.mcp_servers(),
            model: Arc::clone(&provider.model),
            provider: Arc::clone(&provider.id),
            provider_type: Arc::clone(&provider.kind),
            reasoning_capabilities: provider.reasoning.clone(),
            permission_mode: self.policy.mode(),
            slash_commands: Vec::new(),
            output_style: OUTPUT_STYLE.to_string(),
            skills: Vec::new(),
            plugins: Vec::new(),
            agents: self.config.initialize.agent_names(),
            input_capabilities: None,
        };
        let guard = self.config.metadata.clone();
        self.send_guarded(&Outbound::SystemInit(init), &guard);
    }

    /// The answer to `mcp_status`.
    pub(super) fn mcp_status(&self) -> RawJson {
        raw(&McpStatusPayload {
            servers: self.mcp_statuses(),
        })
    }

    /// The same of a host that is told what was applied of what it asked for.
    pub(super) fn send_applied(&mut self, id: &str, applied: InitializeApplied) {
        let version = self.config.profile.reference();
        let version = version.map(|reference| reference.claude_code_version.clone());
        Arc::make_mut(&mut self.config)
            .initialize
            .apply(applied, version);
        self.send_initialize_answer(id);
    }

    /// The catalogue of WIRE-024, under the same guard as `system/init`.
    pub(super) fn send_initialize_answer(&mut self, id: &str) {
        let payload = raw(&self.config.initialize);
        let response = ControlResponse::success(id.into(), Some(payload));
        let guard = self.config.metadata.clone();
        self.send_guarded(&Outbound::ControlResponse(response), &guard);
    }
}

/// A payload as kept text. Payloads made here are flat enough for every depth limit.
pub(super) fn raw(payload: &impl Json) -> RawJson {
    payload.to_raw().unwrap_or_else(|_| RawJson::empty_object())
}
