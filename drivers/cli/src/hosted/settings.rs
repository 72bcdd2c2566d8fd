//! Settings as hosts write them: with members that are of no use here.

use crate::refusal::Refusal;
use agentx_core::json::{ScanLimits, Scanner, Writer};

/// Members that our settings have.
const KNOWN: [&str; 4] = ["permissions", "hooks", "tools", "mcpServers"];

/// The member that asks for a sandbox.
const SANDBOX: &str = "sandbox";

/// Members that are told of by name.
const SHOWN: usize = 16;

/// Settings without the members that mean nothing here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The text to be read.
    pub(crate) text: Vec<u8>,
    /// Names of the members that were left out.
    pub(crate) left_out: Vec<String>,
}

/// Leaves out what we do not know. A text that cannot be read is kept as it is:
/// whoever reads it tells why.
///
/// # Errors
///
/// A sandbox: commands would run without one, though the host relies on it.
pub(crate) fn keep_known(text: Vec<u8>) -> Result<Kept, Refusal> {
    let mut scanner = Scanner::new();
    let root = scanner.scan(&text, &ScanLimits::DEFAULT).ok();
    let Some(object) = root.and_then(|root| root.as_object()) else {
        return Ok(Kept {
            text,
            left_out: Vec::new(),
        });
    };
    let mut left_out = Vec::new();
    let mut w = Writer::new();
    w.begin_object();
    for (name, value) in object {
        let name = name.decode_lossy();
        if KNOWN.contains(&&*name) {
            w.member_value(&name, value);
            continue;
        }
        if name == SANDBOX {
            let sandbox = value.as_object();
            let enabled = sandbox.map(|sandbox| sandbox.get("enabled"));
            let off = enabled.is_some_and(|enabled| {
                enabled.is_none_or(|enabled| enabled.as_bool() == Some(false))
            });
            if !off {
                return Err(Refusal::new(
                    "--settings: sandbox.enabled: there is no sandbox; expected false",
                ));
            }
        }
        if left_out.len() < SHOWN {
            left_out.push(format!("{name:?}"));
        }
    }
    w.end_object();
    Ok(Kept {
        text: w.finish(),
        left_out,
    })
}
