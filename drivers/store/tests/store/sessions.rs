//! What is stored is there, in order, and listed without being read.

use crate::support::{Home, answer, binding, entries, first, fork, later, prompt, turn};
use agentx_store::{Store, StoreError};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

// covers: DEC-32
#[test]
fn what_was_appended_is_read_back_in_order() {
    let home = Home::new();
    let mut store = home.store();
    store
        .append(&first("a", 10, vec![prompt("u1", "go")]))
        .unwrap();
    store
        .append(&first("b", 11, vec![prompt("u9", "other")]))
        .unwrap();
    store
        .append(&later("a", 1, 12, vec![answer("done"), turn("u1")]))
        .unwrap();
    let all = [prompt("u1", "go"), answer("done"), turn("u1")];
    assert_eq!(entries(&store, "a"), all);
    // And by another process, without the first one's end.
    assert_eq!(entries(&home.store(), "a"), all);
    let restored = store.restore("a").unwrap();
    assert_eq!((restored.entries, restored.history.len()), (3, 2));
}

#[test]
fn a_listing_tells_the_newest_first_and_what_it_is() {
    let home = Home::new();
    assert_eq!(
        Store::open_existing(&home.path()).unwrap().map(|_| ()),
        None
    );
    assert!(!home.of_store("").exists(), "looking makes nothing");
    let mut store = home.store();
    assert_eq!(store.sessions(), Ok(Vec::new()));
    store
        .append(&first("a", 10, vec![prompt("u1", "go")]))
        .unwrap();
    store
        .append(&first("b", 20, vec![prompt("u2", "go")]))
        .unwrap();
    store
        .append(&later("a", 1, 30, vec![turn("u1"), prompt("u3", "on")]))
        .unwrap();
    let listed = store.sessions().unwrap();
    let ids: Vec<_> = listed.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    let a = &listed[0];
    assert_eq!(
        (a.created_ms, a.updated_ms, a.prompts, a.entries),
        (10, 30, 2, 3)
    );
    assert_eq!(
        (a.title.as_str(), a.cwd.as_str(), &a.binding),
        ("a title", "/repo", &binding())
    );
    assert_eq!((a.version.as_str(), a.origin.as_deref()), ("0.0.0", None));
    assert_eq!(
        store.latest("/repo").unwrap().map(|s| s.id),
        Some("a".to_owned())
    );
    assert_eq!(store.latest("/elsewhere"), Ok(None));
    assert_eq!(store.session("b").unwrap().map(|s| s.prompts), Some(1));
    assert_eq!(store.session("c"), Ok(None));
    assert_eq!(store.restore("c"), Err(StoreError::Unknown));
}

#[test]
fn a_fork_begins_with_the_entries_of_its_origin_and_leaves_that_alone() {
    let home = Home::new();
    let mut store = home.store();
    store
        .append(&first(
            "a",
            10,
            vec![prompt("u1", "go"), answer("done"), turn("u1")],
        ))
        .unwrap();
    let own = vec![prompt("u2", "another way")];
    store.append(&fork("f", "a", 3, 20, own)).unwrap();
    store
        .append(&later("a", 3, 30, vec![prompt("u3", "on")]))
        .unwrap();
    store
        .append(&later("f", 4, 40, vec![answer("so")]))
        .unwrap();
    assert_eq!(entries(&store, "a").len(), 4);
    let forked = entries(&store, "f");
    assert_eq!(forked.len(), 5);
    assert_eq!(
        forked[..4],
        [
            prompt("u1", "go"),
            answer("done"),
            turn("u1"),
            prompt("u2", "another way")
        ]
    );
    let summary = store.session("f").unwrap().unwrap();
    assert_eq!((summary.origin.as_deref(), summary.prompts), (Some("a"), 2));
    let missing = StoreError::Missing { told: 9, found: 4 };
    assert_eq!(
        store.append(&fork("g", "a", 9, 50, Vec::new())),
        Err(missing)
    );
    assert_eq!(
        store.append(&fork("g", "z", 1, 50, Vec::new())),
        Err(StoreError::Unknown)
    );
    assert_eq!(store.session("g"), Ok(None), "all of a batch or nothing");
}

#[test]
fn files_are_closed_to_others_and_claims_leave_none_behind() {
    let home = Home::new();
    let mut store = home.store();
    store
        .append(&first("a", 10, vec![prompt("u1", "go")]))
        .unwrap();
    let mode = |name: &str| {
        let facts = fs::metadata(home.of_store(name)).unwrap();
        facts.permissions().mode() & 0o777
    };
    assert_eq!(mode(""), 0o700);
    for name in ["store.db", "store.db-wal", "store.db-shm", "a.lock"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    drop(store);
    assert!(!home.of_store("a.lock").exists());
    assert_eq!(entries(&home.store(), "a").len(), 1);
}

#[test]
fn a_long_log_is_written_back_and_nothing_is_lost() {
    let home = Home::new();
    let mut store = home.store();
    let text = "x".repeat(100_000);
    store
        .append(&first("a", 0, vec![prompt("u", &text)]))
        .unwrap();
    // Each round ends with the last sync of its store.
    for round in 1..=6 {
        for n in 0..20 {
            let at = (round - 1) * 20 + n + 1;
            store
                .append(&later("a", at, at, vec![answer(&text)]))
                .unwrap();
        }
        drop(store);
        store = home.store();
    }
    let log = fs::metadata(home.of_store("store.db-wal")).unwrap().len();
    assert!(log < 2 << 20, "the log grew to {log} bytes");
    assert_eq!(entries(&store, "a").len(), 121);
}
