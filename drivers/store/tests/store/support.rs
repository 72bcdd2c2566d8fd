//! A home folder, and batches to store in it.

use agentx_core::model::Usage;
use agentx_core::schema::outbound::{ResultStop, TextBlock};
use agentx_core::store::{
    AnswerEntry, Batch, Binding, Entry, EntryBlock, Opening, Origin, PromptEntry, TurnEntry,
};
use agentx_core::time::WallTime;
use agentx_store::Store;
use std::path::PathBuf;
use tempfile::TempDir;

pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(self.folder.path()).unwrap()
    }

    /// A file or folder of the store.
    pub(crate) fn of_store(&self, name: &str) -> PathBuf {
        self.folder.path().join("sessions").join(name)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.of_store("store.db")
    }
}

pub(crate) fn binding() -> Binding {
    Binding {
        provider: "main".into(),
        kind: "scripted".into(),
        model: "test-model".into(),
        route: "00ff".into(),
    }
}

pub(crate) fn opening(title: &str) -> Opening {
    Opening {
        version: "0.0.0".to_owned(),
        cwd: "/repo".to_owned(),
        binding: binding(),
        title: title.to_owned(),
        origin: None,
    }
}

pub(crate) fn prompt(uuid: &str, text: &str) -> Entry {
    Entry::Prompt(PromptEntry {
        time_ms: 1,
        uuid: uuid.into(),
        content: vec![text.to_owned()],
    })
}

pub(crate) fn answer(text: &str) -> Entry {
    Entry::Answer(AnswerEntry {
        time_ms: 2,
        content: vec![EntryBlock::Text(TextBlock {
            text: text.to_owned(),
        })],
        usage: Some(Usage::ZERO),
    })
}

pub(crate) fn turn(uuid: &str) -> Entry {
    Entry::Turn(TurnEntry {
        time_ms: 3,
        prompt_uuid: uuid.into(),
        stop_reason: ResultStop::EndTurn,
        is_error: false,
        num_turns: 1,
        usage: Usage::ZERO,
        dropped_calls: Vec::new(),
    })
}

/// The first batch of a session.
pub(crate) fn first(id: &str, time: u64, entries: Vec<Entry>) -> Batch {
    Batch {
        opening: Some(Box::new(opening("a title"))),
        ..later(id, 0, time, entries)
    }
}

/// A batch of a session that is stored.
pub(crate) fn later(id: &str, first: u64, time: u64, entries: Vec<Entry>) -> Batch {
    Batch {
        session_id: id.into(),
        first,
        opening: None,
        entries: entries.into(),
        time: WallTime(time),
    }
}

/// The first batch of a fork of `origin`, which had so many entries.
pub(crate) fn fork(id: &str, origin: &str, entries: u64, time: u64, own: Vec<Entry>) -> Batch {
    let origin = Origin {
        session_id: origin.into(),
        entries,
    };
    Batch {
        opening: Some(Box::new(Opening {
            origin: Some(origin),
            ..opening("a fork")
        })),
        ..later(id, entries, time, own)
    }
}

/// The entries of a session as they are stored.
pub(crate) fn entries(store: &Store, id: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let each = |entry, _: &str| {
        entries.push(entry);
        Ok::<(), agentx_store::StoreError>(())
    };
    store.each_entry(id, each).unwrap();
    entries
}
