//! The control operations about MCP servers. Each is answered before anything
//! follows from it, since that may need the host (acceptance 8).

use super::super::AgentSession;
use super::super::catalog::raw;
use super::super::requests::Purpose;
use crate::json::{RawJson, ScanLimits, Scanner, Value};
use crate::mcp::{McpInput, McpState};
use crate::schema::payload::McpServersPayload;
use crate::text::cut;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;

impl AgentSession {
    /// `mcp_reconnect`: leaves a server and connects it anew.
    pub(in crate::agent) fn mcp_reconnect(&mut self, id: &str, name: &str) {
        let Some(server) = self.mcp.named(name) else {
            return self.refuse_server(id, name);
        };
        if let Err(fault) = &server.part {
            let fault = fault.clone();
            return self.refuse(id, fault);
        }
        if *server.client.state() == McpState::Disabled {
            return self.refuse(id, format!("MCP server {name:?} is disabled"));
        }
        let server = server.id;
        self.answer(id, None);
        self.connect_server(server);
    }

    /// `mcp_toggle`: switches a server off, or on again.
    pub(in crate::agent) fn mcp_toggle(&mut self, id: &str, name: &str, enabled: bool) {
        let Some(server) = self.mcp.named(name) else {
            return self.refuse_server(id, name);
        };
        let is_enabled = *server.client.state() != McpState::Disabled;
        let server = server.id;
        self.answer(id, None);
        if enabled && !is_enabled {
            self.connect_server(server);
        } else if !enabled && is_enabled {
            self.tell_server(server, McpInput::Disable);
        }
    }

    /// `mcp_message`: a server of the host speaks by itself. The answer says that
    /// this was taken; what the client answers is a message of its own.
    pub(in crate::agent) fn mcp_message(&mut self, id: &str, name: &str, message: RawJson) {
        let Some(server) = self.mcp.named(name) else {
            return self.refuse_server(id, name);
        };
        if !server.client.is_open() {
            return self.refuse(id, format!("MCP server {name:?} is not connected"));
        }
        let server = server.id;
        let most = self.config.limits.mcp_unacknowledged;
        if self.unacknowledged() >= most {
            return self.refuse(
                id,
                format!("{most} messages to MCP servers are not acknowledged yet"),
            );
        }
        self.answer(id, None);
        self.tell_server(server, McpInput::Message(message));
    }

    /// How many messages to servers wait for nothing but an acknowledgement.
    fn unacknowledged(&self) -> usize {
        let open = self.waiters.iter();
        open.filter(|pending| matches!(pending.waiter.purpose, Purpose::Mcp { request: None, .. }))
            .count()
    }

    fn refuse_server(&mut self, id: &str, name: &str) {
        let name = self.safe(name);
        let name = cut(&name, self.config.limits.mcp_error_chars);
        self.refuse(id, format!("unknown MCP server {name:?}"));
    }

    /// `mcp_set_servers`: these are the servers of the host from now on. Those
    /// that stay are left alone.
    pub(in crate::agent) fn mcp_set_servers(&mut self, id: &str, servers: &RawJson) {
        let (wanted, mut errors) = self.wanted_servers(servers);
        let gone = |name: &Arc<str>| !wanted.contains(name);
        let names = self
            .mcp
            .servers
            .iter()
            .map(|server| Arc::clone(&server.name));
        let removed: Vec<Arc<str>> = names.filter(gone).collect();
        let is_new = |name: &&Arc<str>| self.mcp.named(name).is_none();
        let mut added: Vec<Arc<str>> = wanted.iter().filter(is_new).cloned().collect();
        let room =
            (self.config.limits.mcp_servers + removed.len()).saturating_sub(self.mcp.servers.len());
        for name in added.drain(room.min(added.len())..) {
            let most = self.config.limits.mcp_servers;
            errors.insert(name, format!("a session has {most} MCP servers at most"));
        }
        let payload = raw(&McpServersPayload {
            added: added.clone(),
            removed: removed.clone(),
            errors,
        });
        if !self.fits_record(id, &payload) {
            // Nothing changes that could not be told.
            let most = self.config.limits.reference_record_bytes;
            let error = format!("mcp_set_servers: the answer does not fit its {most} bytes");
            return self.refuse(id, error);
        }
        self.answer(id, Some(payload));
        // A request that waits for servers waits for the new ones, too.
        self.mcp.setting = true;
        for name in removed {
            self.remove_server(&name);
        }
        self.add_sdk_servers(added);
        self.mcp.setting = false;
        self.go_on_after_start();
    }

    /// The servers of a request that can be had, in its order, and what keeps the
    /// others from it.
    pub(in crate::agent) fn wanted_servers(
        &self,
        servers: &RawJson,
    ) -> (Vec<Arc<str>>, BTreeMap<Arc<str>, String>) {
        let (mut wanted, mut errors) = (Vec::new(), BTreeMap::new());
        let mut parts = BTreeMap::new();
        let mut scanner = Scanner::new();
        let value = scanner.scan(servers.as_str().as_bytes(), &ScanLimits::DEFAULT);
        let Some(servers) = value.ok().and_then(Value::as_object) else {
            return (wanted, errors);
        };
        for (name, entry) in servers {
            let name: Arc<str> = name.decode_lossy().into();
            let shown = self.placeless(&name);
            let most = self.config.limits.mcp_error_chars;
            let part = if *shown == *name {
                kind_of(entry).and_then(|()| {
                    crate::mcp::server_part(&name, self.config.limits.mcp_server_name_chars)
                })
            } else {
                Err("the name of this MCP server must not be told".to_string())
            };
            let part = part.and_then(|part| match parts.insert(part, Arc::clone(&name)) {
                Some(other) => Err(format!(
                    "in names of tools, this MCP server reads like {other:?}"
                )),
                None => Ok(()),
            });
            match part {
                Ok(()) => wanted.push(name),
                Err(fault) => {
                    errors.insert(cut(&shown, most).into(), fault);
                }
            }
        }
        (wanted, errors)
    }

    fn remove_server(&mut self, name: &str) {
        let Some(id) = self.mcp.named(name).map(|server| server.id) else {
            return;
        };
        self.tell_server(id, McpInput::Disable);
        self.mcp.servers.retain(|server| server.id != id);
    }
}

/// Whether an entry is of a kind that can be had.
fn kind_of(entry: Value<'_>) -> Result<(), String> {
    let entry = entry.as_object().ok_or("expected an object")?;
    let kind = match entry.get("type") {
        // Without a type it is a program, as in files of settings.
        None => "stdio".into(),
        Some(kind) => kind.as_str().ok_or("type must be a text")?.decode_lossy(),
    };
    match kind.as_ref() {
        "sdk" => Ok(()),
        "stdio" | "sse" | "http" => Err(format!("servers of type {kind:?} are not available yet")),
        _ => Err("expected a server of type \"sdk\"".to_string()),
    }
}
