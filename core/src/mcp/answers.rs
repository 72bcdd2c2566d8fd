//! What becomes of the answers to a client's requests.

use super::catalog::Listing;
use super::{McpClient, McpOutput, McpState, McpTool, Purpose, VERSIONS, content, rpc};
use crate::json::{Object, RawJson, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;

impl McpClient {
    pub(super) fn answered(&mut self, request: u64, message: &RawJson) {
        let Some(purpose) = self.settle(request) else {
            return;
        };
        let read = rpc::with(message, |value| {
            match rpc::answer(value, request)? {
                Ok(result) => self.result(purpose, result)?,
                Err(error) => self.unanswered(purpose, &error),
            }
            Ok(())
        });
        if let Err(fault) = read {
            self.unanswered(purpose, &format!("its answer is malformed: {fault}"));
        }
    }

    /// Takes a result.
    ///
    /// # Errors
    ///
    /// What is wrong with it; then nothing has changed.
    fn result(&mut self, purpose: Purpose, result: Object<'_>) -> Result<(), String> {
        match purpose {
            Purpose::Initialize => self.initialized(result),
            Purpose::List => self.listed(result),
            Purpose::Call(call) => {
                let limits = &self.settings.limits;
                let (blocks, chars) = (limits.mcp_content_blocks, limits.tool_output_chars);
                let (outcome, structured) =
                    content::outcome(result, &self.settings.guard, blocks, chars)?;
                self.out.push_back(McpOutput::Called {
                    call,
                    outcome,
                    structured,
                });
                Ok(())
            }
        }
    }

    fn initialized(&mut self, result: Object<'_>) -> Result<(), String> {
        let version = result.get("protocolVersion").and_then(Value::as_str);
        let version = version.ok_or("it names no version of the protocol")?;
        if !VERSIONS.iter().any(|known| version == **known) {
            return Err("it speaks a version of the protocol that is not known here".to_string());
        }
        let capabilities = result.get("capabilities").and_then(Value::as_object);
        let capabilities = capabilities.ok_or("it names no capabilities")?;
        let has_tools = capabilities.get("tools").is_some();
        self.send(rpc::notification("notifications/initialized"));
        if has_tools {
            self.list();
        } else {
            self.ready(Arc::new([]));
        }
        Ok(())
    }

    pub(super) fn list(&mut self) {
        self.list_is_old = false;
        self.listing = Some(Listing::default());
        self.request(Purpose::List, "tools/list", |_| {});
    }

    fn listed(&mut self, result: Object<'_>) -> Result<(), String> {
        let Some(listing) = &mut self.listing else {
            return Ok(());
        };
        if let Some(cursor) = listing.page(result, &self.settings)? {
            self.request(Purpose::List, "tools/list", |w| {
                w.member_str("cursor", &cursor);
            });
            return Ok(());
        }
        let (tools, left_out) = self.listing.take().unwrap_or_default().finish();
        if let Some(text) = left_out {
            self.warn(&text);
        }
        self.ready(tools);
        if self.list_is_old {
            self.list();
        }
        Ok(())
    }

    fn ready(&mut self, tools: Arc<[McpTool]>) {
        self.start_due = None;
        self.set_tools(tools);
        self.set_state(McpState::Connected);
    }
}
