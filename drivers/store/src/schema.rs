//! The layout of the database, and how a connection to it is set up.

use crate::claim::Claim;
use crate::error::StoreError;
use crate::folder::Folder;
use crate::limits::{BUSY, CACHE_KIB};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::Path;

/// What marks a database as ours: "AgXS".
const APPLICATION: i64 = 0x4167_5853;

/// Version of the layout.
pub(crate) const LAYOUT: i64 = 1;

/// An entry's place is the number of its session times 2^32, plus its own
/// number: the entries of a session lie side by side, and need no index.
const TABLES: &str = "
    CREATE TABLE session (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        created_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL,
        version TEXT NOT NULL,
        cwd TEXT NOT NULL,
        provider TEXT NOT NULL,
        kind TEXT NOT NULL,
        model TEXT NOT NULL,
        route TEXT NOT NULL,
        title TEXT NOT NULL,
        prompts INTEGER NOT NULL,
        entries INTEGER NOT NULL,
        origin TEXT
    ) STRICT;
    CREATE INDEX session_by_folder ON session (cwd, updated_ms);
    CREATE TABLE entry (
        place INTEGER PRIMARY KEY,
        body TEXT NOT NULL
    ) STRICT;
";

/// Connects to the database at `path`, which must be there.
pub(crate) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(BUSY)?;
    // Otherwise every process that ends would wait for the disk.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    database.execute_batch(&format!(
        "PRAGMA synchronous = NORMAL;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA cell_size_check = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -{CACHE_KIB};"
    ))?;
    Ok(database)
}

/// Holds the database against the layout; lays out one that is empty.
pub(crate) fn prepare(database: &mut Connection, folder: &Folder) -> Result<(), StoreError> {
    if is_ours(database)? {
        return Ok(());
    }
    // Whoever comes first lays it out; the others wait, and look again.
    let _turn = Claim::wait(folder, "layout", BUSY)?;
    if is_ours(database)? {
        Ok(())
    } else if is_empty(database)? {
        lay_out(database)
    } else {
        Err(StoreError::Foreign)
    }
}

/// Whether it has our layout; one that has none yet does not.
fn is_ours(database: &Connection) -> Result<bool, StoreError> {
    match found(database)? {
        (APPLICATION, LAYOUT) => Ok(true),
        (APPLICATION, found) if found > LAYOUT => Err(StoreError::Newer {
            found,
            known: LAYOUT,
        }),
        (APPLICATION, _) => Err(StoreError::Corrupt),
        (0, 0) => Ok(false),
        _ => Err(StoreError::Foreign),
    }
}

/// The kind and the layout that the database says it has, in one look: another
/// process may be laying it out.
fn found(database: &Connection) -> Result<(i64, i64), StoreError> {
    let look = database.unchecked_transaction()?;
    let number = |pragma: &str| look.query_row(pragma, [], |row| row.get(0));
    Ok((
        number("PRAGMA application_id")?,
        number("PRAGMA user_version")?,
    ))
}

fn is_empty(database: &Connection) -> Result<bool, StoreError> {
    let tables = "SELECT count(*) FROM sqlite_schema";
    let count: i64 = database.query_row(tables, [], |row| row.get(0))?;
    Ok(count == 0)
}

fn lay_out(database: &mut Connection) -> Result<(), StoreError> {
    database.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {LAYOUT};"
    ))?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    /// Who looks while another lays the database out sees all of it or nothing.
    #[test]
    fn a_database_is_never_seen_half_laid_out() {
        for _ in 0..100 {
            let home = tempfile::tempdir().unwrap();
            let folder = Folder::open(home.path(), true).unwrap().unwrap();
            folder.check_database(true).unwrap();
            let mut writer = connect(&folder.database()).unwrap();
            let reader = connect(&folder.database()).unwrap();
            let ready = Barrier::new(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    ready.wait();
                    lay_out(&mut writer).unwrap();
                });
                ready.wait();
                while !is_ours(&reader).unwrap() {}
            });
        }
    }
}
