//! Entries of the session store, as a resumed session reads them.

use agentx_core::model::Message;
use agentx_core::store::{Entry, Restorer};
use std::collections::BTreeSet;

/// Entries, one a line. However wrong they are, every call in the history that
/// comes of them has exactly one result, right behind it, and an id that no other
/// call has or will have (DEC-35).
pub fn target(data: &[u8]) {
    let mut restorer = Restorer::new();
    for line in data.split(|byte| *byte == b'\n') {
        let Ok(entry) = Entry::parse(line) else {
            continue;
        };
        if restorer.push(entry).is_err() {
            return;
        }
    }
    let restored = restorer.finish();
    let mut open: Vec<String> = Vec::new();
    let mut called = BTreeSet::new();
    for message in &restored.history {
        match &**message {
            Message::User(_) => assert!(open.is_empty(), "{open:?} have no result"),
            Message::Assistant(blocks) => {
                assert!(open.is_empty(), "{open:?} have no result");
                open = blocks.iter().filter_map(call).collect();
                for id in &open {
                    assert!(called.insert(id.clone()), "{id} is called twice");
                    let known = restored.tool_use_ids.contains(id.as_str());
                    assert!(known, "{id} may be used again");
                }
            }
            Message::ToolResults(results) => {
                let ids: Vec<_> = results.iter().map(|r| r.tool_use_id.to_string()).collect();
                assert_eq!(std::mem::take(&mut open), ids);
            }
        }
    }
    assert!(open.is_empty(), "{open:?} have no result");
}

fn call(block: &agentx_core::model::Block) -> Option<String> {
    match block {
        agentx_core::model::Block::ToolCall(call) => Some(call.id.to_string()),
        _ => None,
    }
}
