//! Stores that are damaged, foreign, unsafe or in the way of others.

use crate::support::{Home, answer, first, later, prompt};
use agentx_store::{Store, StoreError};
use rusqlite::Connection;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn stored() -> Home {
    let home = Home::new();
    let mut store = home.store();
    store
        .append(&first(
            "a",
            1,
            vec![prompt("u", "go"), answer("x"), answer("y")],
        ))
        .unwrap();
    home
}

fn sql(home: &Home, text: &str) {
    let database = Connection::open(home.database()).unwrap();
    database.execute_batch(text).unwrap();
}

fn fault(home: &Home) -> StoreError {
    Store::open(&home.path()).map(|_| ()).unwrap_err()
}

#[test]
fn what_is_no_store_of_ours_is_told_apart() {
    let newer = stored();
    sql(&newer, "PRAGMA user_version = 9");
    let told = fault(&newer);
    assert_eq!(told, StoreError::Newer { found: 9, known: 1 });
    assert!(told.to_string().contains("newer version of agentx"));

    let foreign = Home::new();
    drop(foreign.store());
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        let _ = fs::remove_file(foreign.of_store(name));
    }
    sql(&foreign, "CREATE TABLE cats (name TEXT)");
    fs::set_permissions(foreign.database(), Permissions::from_mode(0o600)).unwrap();
    assert_eq!(fault(&foreign), StoreError::Foreign);

    let garbage = stored();
    for name in ["store.db-wal", "store.db-shm"] {
        let _ = fs::remove_file(garbage.of_store(name));
    }
    fs::write(garbage.database(), "no database".repeat(1_000)).unwrap();
    assert_eq!(fault(&garbage), StoreError::Corrupt);
}

#[test]
fn damaged_and_missing_entries_are_named() {
    let damaged = stored();
    sql(
        &damaged,
        "UPDATE entry SET body = '{\"type\":\"answer\"}' WHERE body LIKE '%\"x\"%'",
    );
    let told = damaged.store().restore("a").unwrap_err();
    assert_eq!(
        told.to_string(),
        "entry 1 is damaged: an entry lacks one of its members"
    );
    let missing = stored();
    sql(&missing, "DELETE FROM entry WHERE body LIKE '%\"x\"%'");
    let told = missing.store().restore("a").unwrap_err();
    assert_eq!(told.to_string(), "entries are missing: 1 of 3 are there");
    let stray = stored();
    sql(
        &stray,
        r#"UPDATE entry SET body = '{"type":"tool_result","time_ms":1,"tool_use_id":"t","content":[],"is_error":false}' WHERE body LIKE '%"y"%'"#,
    );
    let told = stray.store().restore("a").unwrap_err();
    assert_eq!(
        told.to_string(),
        "entry 2 is damaged: an entry has the result of no open call"
    );
}

#[test]
fn links_and_open_modes_are_refused_by_name() {
    let open = stored();
    fs::set_permissions(open.database(), Permissions::from_mode(0o644)).unwrap();
    let told = fault(&open).to_string();
    assert!(
        told.ends_with("sessions/store.db: mode 0644, expected 0600"),
        "{told}"
    );

    let folder = stored();
    fs::set_permissions(folder.of_store(""), Permissions::from_mode(0o750)).unwrap();
    let told = fault(&folder).to_string();
    assert!(told.contains("mode 0750, expected 0700"), "{told}");

    for name in ["store.db", "store.db-wal"] {
        let linked = stored();
        fs::rename(linked.of_store(name), linked.of_store("elsewhere")).unwrap();
        symlink(linked.of_store("elsewhere"), linked.of_store(name)).unwrap();
        let told = fault(&linked).to_string();
        assert!(told.contains("expected a regular file"), "{told}");
    }

    let linked = stored();
    let elsewhere = linked.path().join("elsewhere");
    fs::rename(linked.of_store(""), &elsewhere).unwrap();
    symlink(&elsewhere, linked.path().join("sessions")).unwrap();
    let told = fault(&linked).to_string();
    assert!(told.contains("expected a folder, and no link"), "{told}");
}

#[test]
fn a_database_that_others_keep_locked_is_busy_and_stays_whole() {
    let home = stored();
    let mut store = home.store();
    let other = Connection::open(home.database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let batch = later("a", 3, 2, vec![answer("z")]);
    assert_eq!(store.append(&batch), Err(StoreError::Busy));
    other.execute_batch("COMMIT").unwrap();
    store.append(&batch).unwrap();
    assert_eq!(store.restore("a").unwrap().entries, 4);
}
