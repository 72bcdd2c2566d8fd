//! The MCP servers of `--mcp-config`.

use crate::options::TextOrFile;
use crate::refusal::Refusal;
use crate::structured;
use agentx_core::guard::Guard;
use agentx_core::json::closed::{self, Fault, Fields};
use agentx_core::json::{ScanLimits, Scanner, Value};
use agentx_core::policy::limits::FILE_BYTES;
use std::sync::Arc;

/// MCP servers of a command line.
const SERVERS: usize = 64;

/// Bytes of a server's name.
const NAME_BYTES: usize = 128;

/// The type of a server that lives in the host and is spoken to through it.
const IN_HOST: &str = "sdk";

/// The type of a server that does not name one.
const UNNAMED: &str = "stdio";

/// Types of servers that there are elsewhere.
const ELSEWHERE: [&str; 5] = [UNNAMED, "http", "sse", "ws", "claudeai-proxy"];

/// The servers that are asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Servers {
    /// Names of those in the host, each once.
    pub(crate) in_host: Vec<Arc<str>>,
    /// What is worth a line on stderr.
    pub(crate) notes: Vec<String>,
}

impl Servers {
    /// Reads each `--mcp-config`. A server that stands twice counts once, as the
    /// last one says. `keys` must not show in what is said.
    ///
    /// # Errors
    ///
    /// A file that cannot be read; a text that names no servers: what is wrong, and
    /// where. No value of it is shown.
    pub(crate) fn read(configs: &[TextOrFile], keys: &Guard) -> Result<Self, Refusal> {
        let mut found: Vec<Server> = Vec::new();
        for config in configs {
            let (name, bytes) = match config {
                TextOrFile::Text(text) => {
                    ("--mcp-config".to_owned(), Ok(text.clone().into_bytes()))
                }
                TextOrFile::File(path) => (
                    format!("--mcp-config {}", path.display()),
                    structured::file(path, FILE_BYTES),
                ),
            };
            let read = bytes.and_then(|bytes| read(&bytes).map_err(|fault| fault.to_string()));
            let servers = read
                .map_err(|fault| Refusal::new(format_args!("{name}: {}", keys.redact(&fault))))?;
            for server in servers {
                found.retain(|known| known.name != server.name);
                found.push(server);
            }
        }
        if found.len() > SERVERS {
            return Err(Refusal::new(format_args!(
                "--mcp-config: at most {SERVERS} servers are expected"
            )));
        }
        let mut servers = Self::default();
        for Server { name, kind } in found {
            match kind {
                Kind::InHost => servers.in_host.push(name.into()),
                Kind::Elsewhere(kind) => servers.notes.push(format!(
                    "warning: --mcp-config: server {name:?}: servers of type {kind} are not available yet"
                )),
            }
        }
        Ok(servers)
    }
}

/// A server as it stands there.
#[derive(Debug)]
struct Server {
    name: String,
    kind: Kind,
}

/// Where it is.
#[derive(Debug)]
enum Kind {
    InHost,
    Elsewhere(&'static str),
}

fn read(bytes: &[u8]) -> Result<Vec<Server>, Fault> {
    if bytes.len() > FILE_BYTES {
        return Err(Fault::new("", format_args!("over {FILE_BYTES} bytes")));
    }
    let mut scanner = Scanner::new();
    let root = scanner.scan(bytes, &ScanLimits::DEFAULT);
    let root = root.map_err(|error| closed::unreadable(error, bytes))?;
    if root.has_unpaired_surrogate() {
        return Err(Fault::new("", "an unpaired surrogate escape"));
    }
    let fields = Fields::open(root, String::new(), &["mcpServers"])?;
    let Some(servers) = fields.need("mcpServers")?.as_object() else {
        return Err(fields.fault("mcpServers", "an object is expected"));
    };
    let servers = servers.iter().enumerate();
    servers
        .map(|(at, (name, value))| server(&name.decode_lossy(), value, at))
        .collect()
}

fn server(name: &str, value: Value<'_>, at: usize) -> Result<Server, Fault> {
    // By its number: whatever a name holds, it is not quoted in a fault.
    let place = format!("mcpServers, server {}", at.saturating_add(1));
    if name.is_empty() || name.len() > NAME_BYTES || name.chars().any(char::is_control) {
        let what =
            format_args!("expected a name of 1 to {NAME_BYTES} bytes without control characters");
        return Err(Fault::new(&place, what));
    }
    let Some(object) = value.as_object() else {
        return Err(Fault::new(&place, "an object is expected"));
    };
    let kind = match object.get("type") {
        None => UNNAMED.into(),
        Some(value) => closed::text(value, &format!("{place}: type"))?,
    };
    let kind = if kind == IN_HOST {
        Kind::InHost
    } else {
        let known = ELSEWHERE.iter().find(|known| ***known == *kind);
        let Some(known) = known else {
            let what = format_args!("expected one of {IN_HOST}, {}", ELSEWHERE.join(", "));
            return Err(Fault::new(&format!("{place}: type"), what));
        };
        Kind::Elsewhere(known)
    };
    Ok(Server {
        name: name.to_owned(),
        kind,
    })
}
