//! What the model calls the tools of servers by (RT-MCPS-009, RT-MCPS-014).
//!
//! `mcp__SERVER__TOOL`, each part with everything but letters, digits, `-` and
//! `_` replaced by `_`. Rules part server and tool at the first two underscores
//! behind the prefix, so no server may bring such a pair along: a rule for one
//! server would then speak about the tools of another.
//!
//! A tool whose name had to be changed, and is then like another one, or is too
//! long for a provider, ends with a digest of the name that the server gave it.
//! What a tool is called depends on the tools of its server alone.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// How the names of all tools of servers begin.
const PREFIX: &str = "mcp__";

/// Characters of a name that providers take.
const PROVIDER_CHARS: usize = 64;

/// Hexadecimal digits of a digest, and the underscore before them.
const DIGEST_CHARS: usize = 9;

/// The part of a server in the names of its tools.
///
/// # Errors
///
/// Why no server may be called that; `chars` is how long the part may be.
pub fn server_part(name: &str, chars: usize) -> Result<String, String> {
    if name.is_empty() {
        return Err("the name of an MCP server is empty".into());
    }
    if name.chars().count() > chars {
        return Err(format!(
            "the name of this MCP server is longer than {chars} characters"
        ));
    }
    let part = plain(name);
    if part.contains("__") || part.ends_with('_') {
        return Err(format!(
            "the name of this MCP server reads {part:?} in names of tools, and must not have two \
             underscores in a row there or end with one"
        ));
    }
    Ok(part)
}

/// What the model calls these tools of one server by, in their order; `None`
/// for one that cannot be told from an earlier one.
#[must_use]
pub fn tool_names(server_part: &str, tools: &[&str]) -> Vec<Option<Arc<str>>> {
    let mut like = BTreeMap::new();
    for tool in tools {
        *like.entry(plain(tool)).or_insert(0_u32) += 1;
    }
    let room = PROVIDER_CHARS.saturating_sub(PREFIX.len() + server_part.len() + 2);
    let mut taken = BTreeMap::new();
    tools
        .iter()
        .map(|tool| {
            let part = plain(tool);
            let alone = like.get(&part) == Some(&1);
            let part = if part.len() <= room && (alone || part == **tool) {
                part
            } else {
                digested(&part, tool, room)
            };
            let name: Arc<str> = format!("{PREFIX}{server_part}__{part}").into();
            taken
                .insert(Arc::clone(&name), ())
                .is_none()
                .then_some(name)
        })
        .collect()
}

fn plain(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect()
}

fn digested(part: &str, name: &str, room: usize) -> String {
    let kept = part.len().min(room.saturating_sub(DIGEST_CHARS));
    // All of it is ASCII.
    let kept = part.get(..kept).unwrap_or_default();
    format!("{kept}_{:08x}", digest(name))
}

/// FNV-1a over the bytes of a name, folded to four bytes. It tells names apart;
/// nothing rests on it being hard to hit.
fn digest(name: &str) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    u32::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(server: &str, tools: &[&str]) -> Vec<String> {
        let names = tool_names(server, tools).into_iter();
        names
            .map(|name| name.as_deref().unwrap_or("-").into())
            .collect()
    }

    // covers: RT-MCPS-014
    #[test]
    fn names_are_plain_short_and_tell_tools_apart() {
        assert_eq!(
            names("calc", &["add", "sub"]),
            ["mcp__calc__add", "mcp__calc__sub"]
        );
        assert_eq!(names("calc", &["do it"]), ["mcp__calc__do_it"]);
        // A name that stands as it is keeps it, wherever it comes in the list.
        let alike = names("calc", &["do it", "do_it", "do.it"]);
        assert_eq!(alike.get(1).map(String::as_str), Some("mcp__calc__do_it"));
        assert!(
            alike
                .iter()
                .all(|name| name.starts_with("mcp__calc__do_it"))
        );
        let distinct: alloc::collections::BTreeSet<_> = alike.iter().collect();
        assert_eq!(distinct.len(), 3);
        // The order of the list is nothing to them.
        let mut turned = names("calc", &["do.it", "do_it", "do it"]);
        turned.reverse();
        assert_eq!(alike, turned);
        let long = "x".repeat(100);
        let longer = "x".repeat(101);
        let cut = names("calc", &[&long, &longer]);
        assert!(cut.iter().all(|name| name.len() == PROVIDER_CHARS));
        assert_ne!(cut.first(), cut.last());
        assert_eq!(names("calc", &["a", "a"]), ["mcp__calc__a", "-"]);
    }

    // covers: RT-MCPS-009
    #[test]
    fn a_server_cannot_pass_for_another_one() {
        assert_eq!(server_part("my tools", 40).as_deref(), Ok("my_tools"));
        assert_eq!(server_part("a-1_b", 40).as_deref(), Ok("a-1_b"));
        for name in ["", "a__b", "a._b", "a_", "é", "a.", &"s".repeat(41)] {
            assert!(server_part(name, 40).is_err(), "{name}");
        }
    }
}
