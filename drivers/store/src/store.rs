//! The store itself.

use crate::claim::Claim;
use crate::error::StoreError;
use crate::folder::Folder;
use crate::limits::ENTRIES;
use crate::schema;
use crate::sync::Syncer;
use agentx_core::store::{Batch, Binding, Entry, Opening, Origin, Restored, Restorer};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use std::path::Path;
use std::sync::Arc;

/// All stored sessions. A process that writes claims the session it writes to.
#[derive(Debug)]
pub struct Store {
    // Fields are dropped in this order: what was committed is synced first,
    // and the claim is given back last.
    syncer: Option<Syncer>,
    database: Connection,
    claim: Option<(String, Claim)>,
    folder: Folder,
}

/// What a listing tells of a session, without opening its transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// When it was begun, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// When it was written last, in milliseconds since the Unix epoch.
    pub updated_ms: u64,
    /// Version of the product that began it.
    pub version: String,
    /// Its working directory.
    pub cwd: String,
    /// The provider it is bound to (WIRE-025).
    pub binding: Binding,
    /// The beginning of its first prompt.
    pub title: String,
    /// Prompts that were stored.
    pub prompts: u64,
    /// Entries that were stored.
    pub entries: u64,
    /// The session it was forked from.
    pub origin: Option<String>,
}

const COLUMNS: &str = "id, created_ms, updated_ms, version, cwd, provider, kind, model, route, title, prompts, entries, origin, number";

impl Store {
    /// Opens the store in a home folder, and makes one where there is none.
    ///
    /// # Errors
    ///
    /// A store that is damaged, of a newer version, read-only, not safe, or
    /// kept locked by others.
    pub fn open(home: &Path) -> Result<Self, StoreError> {
        let opened = Self::open_if(home, true)?;
        opened.ok_or_else(|| StoreError::System("the store is gone".into()))
    }

    /// Opens the store in a home folder, if there is one.
    ///
    /// # Errors
    ///
    /// As for [`Store::open`].
    pub fn open_existing(home: &Path) -> Result<Option<Self>, StoreError> {
        Self::open_if(home, false)
    }

    fn open_if(home: &Path, create: bool) -> Result<Option<Self>, StoreError> {
        let Some(folder) = Folder::open(home, create)? else {
            return Ok(None);
        };
        if !folder.check_database(create)? {
            return Ok(None);
        }
        let mut database = schema::connect(&folder.database())?;
        if create && database.is_readonly(rusqlite::MAIN_DB)? {
            return Err(StoreError::ReadOnly);
        }
        schema::prepare(&mut database, &folder)?;
        Ok(Some(Self {
            syncer: None,
            database,
            claim: None,
            folder,
        }))
    }

    /// Claims a session for this process, until the store is dropped or claims
    /// another one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Claimed`] when another process has it.
    pub fn claim(&mut self, session_id: &str) -> Result<(), StoreError> {
        if self.claim.as_ref().is_none_or(|(id, _)| id != session_id) {
            let claim = Claim::new(&self.folder, session_id)?;
            self.claim = Some((session_id.to_owned(), claim));
        }
        Ok(())
    }

    /// Stores a batch: all of it or nothing. When this returns, the batch is
    /// with the operating system; a sync follows.
    ///
    /// # Errors
    ///
    /// Another process has the session or went on with it, the disk is full or
    /// failed, the database is locked or damaged.
    pub fn append(&mut self, batch: &Batch) -> Result<(), StoreError> {
        self.claim(&batch.session_id)?;
        let syncer = match self.syncer.take() {
            Some(syncer) => syncer,
            None => Syncer::start(self.folder.share()?)?,
        };
        let syncer = self.syncer.insert(syncer);
        syncer.check()?;
        let transaction = self
            .database
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        write(&transaction, batch)?;
        transaction.commit()?;
        syncer.committed();
        Ok(())
    }

    /// Every session, the one written last first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn sessions(&self) -> Result<Vec<Summary>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM session ORDER BY updated_ms DESC, number DESC");
        let mut statement = self.database.prepare(&query)?;
        let rows = statement.query_map([], |row| read(row).map(|(summary, _)| summary))?;
        rows.map(|row| row.map_err(StoreError::from)).collect()
    }

    /// The session of this id, if there is one.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn session(&self, id: &str) -> Result<Option<Summary>, StoreError> {
        Ok(self.find(id)?.map(|(summary, _)| summary))
    }

    /// The session that was written last in this working directory.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn latest(&self, cwd: &str) -> Result<Option<Summary>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM session WHERE cwd = ?1 ORDER BY updated_ms DESC, number DESC LIMIT 1"
        );
        let found = self.database.query_row(&query, [cwd], read).optional()?;
        Ok(found.map(|(summary, _)| summary))
    }

    /// Gives each entry of a session, in order, with its JSON text.
    ///
    /// # Errors
    ///
    /// An unknown session, a damaged or missing entry, what `each` returns.
    pub fn each_entry<E: From<StoreError>>(
        &self,
        id: &str,
        mut each: impl FnMut(Entry, &str) -> Result<(), E>,
    ) -> Result<Summary, E> {
        // One look at a session that may be growing.
        let look = self.database.unchecked_transaction();
        let _look = look.map_err(StoreError::from)?;
        let (summary, number) = self.find(id)?.ok_or(StoreError::Unknown)?;
        let query = "SELECT place, body FROM entry WHERE place >= ?1 AND place < ?2 ORDER BY place";
        let mut statement = self.database.prepare(query).map_err(StoreError::from)?;
        let from = place(number, 0)?;
        let to = place(number.saturating_add(1), 0)?;
        let mut rows = statement.query([from, to]).map_err(StoreError::from)?;
        let mut count = 0;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            let (at, body) = (row.get::<_, i64>(0), row.get_ref(1));
            let body = body.map_err(StoreError::from)?;
            let text = body.as_str().map_err(|_| StoreError::Corrupt)?;
            if at.map_err(StoreError::from)? != place(number, count)? {
                break;
            }
            let entry = Entry::parse(text.as_bytes()).map_err(|fault| StoreError::Entry {
                number: count,
                fault,
            })?;
            each(entry, text)?;
            count += 1;
        }
        if count != summary.entries {
            let missing = StoreError::Missing {
                told: summary.entries,
                found: count,
            };
            return Err(missing.into());
        }
        Ok(summary)
    }

    /// What a session begins with that goes on with a stored one.
    ///
    /// # Errors
    ///
    /// As for [`Store::each_entry`].
    pub fn restore(&self, id: &str) -> Result<Restored, StoreError> {
        let mut restorer = Restorer::new();
        let mut number = 0;
        self.each_entry(id, |entry, _| {
            let pushed = restorer.push(entry);
            let pushed = pushed.map_err(|fault| StoreError::Entry { number, fault });
            number += 1;
            pushed
        })?;
        Ok(restorer.finish())
    }

    fn find(&self, id: &str) -> Result<Option<(Summary, i64)>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM session WHERE id = ?1");
        Ok(self.database.query_row(&query, [id], read).optional()?)
    }
}

/// A row of [`COLUMNS`]: the summary, and the session's number.
fn read(row: &Row<'_>) -> rusqlite::Result<(Summary, i64)> {
    let count = |column: usize| row.get(column).map(i64::unsigned_abs);
    let shared = |column: usize| row.get::<_, String>(column).map(Arc::from);
    let summary = Summary {
        id: row.get(0)?,
        created_ms: count(1)?,
        updated_ms: count(2)?,
        version: row.get(3)?,
        cwd: row.get(4)?,
        binding: Binding {
            provider: shared(5)?,
            kind: shared(6)?,
            model: shared(7)?,
            route: shared(8)?,
        },
        title: row.get(9)?,
        prompts: count(10)?,
        entries: count(11)?,
        origin: row.get(12)?,
    };
    Ok((summary, row.get(13)?))
}

fn write(transaction: &Transaction<'_>, batch: &Batch) -> Result<(), StoreError> {
    let number = match &batch.opening {
        Some(opening) => open(transaction, batch, opening)?,
        None => go_on(transaction, batch)?,
    };
    let mut insert = transaction.prepare("INSERT INTO entry (place, body) VALUES (?1, ?2)")?;
    let mut prompts = 0;
    for (at, entry) in (batch.first..).zip(batch.entries.iter()) {
        let body = entry.to_json();
        let body = std::str::from_utf8(&body).map_err(|_| StoreError::Corrupt)?;
        insert.execute(params![place(number, at)?, body])?;
        prompts += i64::from(matches!(entry, Entry::Prompt(_)));
    }
    let entries = signed(batch.first)?.saturating_add(signed(batch.entries.len() as u64)?);
    transaction.execute(
        "UPDATE session SET updated_ms = max(updated_ms, ?2), entries = ?3, prompts = prompts + ?4 WHERE number = ?1",
        params![number, signed(batch.time.0)?, entries, prompts],
    )?;
    Ok(())
}

/// Adds a session, with the entries it shares with another; gives its number.
fn open(
    transaction: &Transaction<'_>,
    batch: &Batch,
    opening: &Opening,
) -> Result<i64, StoreError> {
    let known = "SELECT 1 FROM session WHERE id = ?1";
    let known = transaction.query_row(known, [&*batch.session_id], |_| Ok(()));
    if known.optional()?.is_some() {
        return Err(StoreError::Exists);
    }
    let Binding {
        provider,
        kind,
        model,
        route,
    } = &opening.binding;
    let origin = opening.origin.as_ref().map(|origin| &*origin.session_id);
    transaction.execute(
        "INSERT INTO session (id, created_ms, updated_ms, version, cwd, provider, kind, model, route, title, prompts, entries, origin)
         VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, 0, ?10)",
        params![
            &*batch.session_id,
            signed(batch.time.0)?,
            opening.version,
            opening.cwd,
            &**provider,
            &**kind,
            &**model,
            &**route,
            opening.title,
            origin,
        ],
    )?;
    let number = transaction.last_insert_rowid();
    match &opening.origin {
        Some(origin) if origin.entries != batch.first => return Err(StoreError::Changed),
        Some(origin) => copy(transaction, origin, number)?,
        None if batch.first != 0 => return Err(StoreError::Changed),
        None => {}
    }
    Ok(number)
}

/// Copies the entries that a fork shares with its origin.
fn copy(transaction: &Transaction<'_>, origin: &Origin, number: i64) -> Result<(), StoreError> {
    let source = "SELECT number, prompts FROM session WHERE id = ?1";
    let source = transaction.query_row(source, [&*origin.session_id], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    });
    let (source, prompts) = source.optional()?.ok_or(StoreError::Unknown)?;
    let (from, to) = (place(source, 0)?, place(source, origin.entries)?);
    let copied = transaction.execute(
        "INSERT INTO entry (place, body) SELECT place - ?1 + ?3, body FROM entry WHERE place >= ?1 AND place < ?2",
        params![from, to, place(number, 0)?],
    )?;
    if copied as u64 != origin.entries {
        return Err(StoreError::Missing {
            told: origin.entries,
            found: copied as u64,
        });
    }
    let told = "UPDATE session SET prompts = ?2 WHERE number = ?1";
    transaction.execute(told, params![number, prompts])?;
    Ok(())
}

/// The number of a session whose entries end where the batch begins.
fn go_on(transaction: &Transaction<'_>, batch: &Batch) -> Result<i64, StoreError> {
    let known = "SELECT number, entries FROM session WHERE id = ?1";
    let known = transaction.query_row(known, [&*batch.session_id], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    });
    let (number, entries) = known.optional()?.ok_or(StoreError::Unknown)?;
    if entries == signed(batch.first)? {
        Ok(number)
    } else {
        Err(StoreError::Changed)
    }
}

/// Where an entry lies in its table.
fn place(session: i64, entry: u64) -> Result<i64, StoreError> {
    let base = session.checked_mul(signed(ENTRIES)?);
    let entry = (entry < ENTRIES).then_some(signed(entry)?);
    base.zip(entry)
        .and_then(|(base, entry)| base.checked_add(entry))
        .ok_or_else(|| StoreError::System("the session has too many entries".into()))
}

fn signed(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| StoreError::System("a number is too large".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentx_core::store::PromptEntry;
    use agentx_core::time::WallTime;

    fn batch(first: u64, text: &str) -> Batch {
        let opening = Opening {
            version: "0.0.0".into(),
            cwd: "/".into(),
            binding: Binding {
                provider: "p".into(),
                kind: "k".into(),
                model: "m".into(),
                route: "r".into(),
            },
            title: "t".into(),
            origin: None,
        };
        Batch {
            session_id: "s".into(),
            first,
            opening: (first == 0).then(|| Box::new(opening)),
            entries: [Entry::Prompt(PromptEntry {
                time_ms: 0,
                uuid: "u".into(),
                content: vec![text.into()],
            })]
            .into(),
            time: WallTime(0),
        }
    }

    // covers: DEC-32
    #[test]
    fn a_full_disk_fails_the_batch_and_what_was_stored_stays() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path()).unwrap();
        store.append(&batch(0, "small")).unwrap();
        let bound = |store: &Store, pages: u32| {
            let set = format!("PRAGMA max_page_count = {pages}");
            store.database.query_row(&set, [], |_| Ok(())).unwrap();
        };
        bound(&store, 1);
        let long = "x".repeat(100_000);
        assert_eq!(store.append(&batch(1, &long)), Err(StoreError::Full));
        assert_eq!(store.restore("s").unwrap().entries, 1);
        bound(&store, 1_000_000);
        store.append(&batch(1, &long)).unwrap();
        assert_eq!(store.restore("s").unwrap().entries, 2);
    }
}
