//! The JSON scanner beside serde_json.

use agentx_core::json::Scanner;
use agentx_laws::json::judge;

/// Any text: both must judge it alike and read the same out of it.
pub fn target(data: &[u8]) {
    judge(&mut Scanner::new(), data);
}
