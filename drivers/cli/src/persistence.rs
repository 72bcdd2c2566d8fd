//! Which session a run is of, and where it is stored.

use crate::options::{Wanted, Which};
use crate::refusal::Refusal;
use agentx_core::agent::Config;
use agentx_core::store::{Batch, Beginning, Binding, Origin, Restored, Storing};
use agentx_core::time::WallTime;
use agentx_pump::world::Keep;
use agentx_store::{Store, StoreError, Summary};
use std::path::Path;

/// The session of a run. The default is a new one that is not stored.
#[derive(Debug, Default)]
pub(crate) struct Persistence {
    session_id: Option<String>,
    resume: Option<Restored>,
    stored: Option<(Store, Beginning)>,
}

impl Persistence {
    /// Finds what is wanted in the store of a home folder, and reads what has to
    /// be gone on from. `selected` is what the process would ask.
    ///
    /// # Errors
    ///
    /// No such session, one that is bound to another provider or open elsewhere
    /// (status 1), a store that cannot be used.
    pub(crate) fn open(
        wanted: &Wanted,
        home: &Path,
        selected: &Binding,
        cwd: &str,
    ) -> Result<Self, Refusal> {
        match wanted {
            Wanted::Unstored { id } => Ok(Self {
                session_id: id.clone(),
                ..Self::default()
            }),
            Wanted::New { id } => new(home, id.as_deref()),
            Wanted::Resumed(which) => resumed(home, which, selected, cwd),
            Wanted::Forked { origin, id } => forked(home, origin, id.as_deref(), selected, cwd),
        }
    }

    /// Puts the session into its configuration; gives what stores its batches.
    pub(crate) fn enter(
        &mut self,
        config: &mut Config,
        binding: Binding,
        epoch: WallTime,
    ) -> Option<Keep> {
        config.session_id = self.session_id.take();
        config.resume = self.resume.take();
        let (mut store, beginning) = self.stored.take()?;
        config.store = Some(Storing {
            binding,
            epoch,
            beginning,
        });
        Some(Box::new(move |batch: &Batch| {
            store.append(batch).map_err(|error| error.to_string())
        }))
    }
}

fn new(home: &Path, id: Option<&str>) -> Result<Persistence, Refusal> {
    let store = Store::open(home).map_err(|error| {
        Refusal::new(format_args!(
            "the session store: {error}; --no-session-persistence runs without it"
        ))
    })?;
    if let Some(id) = id {
        check_free(&store, id)?;
    }
    Ok(Persistence {
        session_id: id.map(str::to_owned),
        resume: None,
        stored: Some((store, Beginning::New)),
    })
}

fn resumed(
    home: &Path,
    which: &Which,
    selected: &Binding,
    cwd: &str,
) -> Result<Persistence, Refusal> {
    let mut store = existing(home, which, cwd)?;
    let Summary { id, .. } = find(&store, which, selected, cwd)?;
    // Nobody else goes on with it from here on.
    let restored = store.claim(&id).and_then(|()| store.restore(&id));
    let restored = restored.map_err(|error| unresumable(&id, &error))?;
    let beginning = Beginning::Resumed(restored.entries);
    Ok(Persistence {
        session_id: Some(id),
        resume: Some(restored),
        stored: Some((store, beginning)),
    })
}

fn forked(
    home: &Path,
    which: &Which,
    id: Option<&str>,
    selected: &Binding,
    cwd: &str,
) -> Result<Persistence, Refusal> {
    let store = existing(home, which, cwd)?;
    let origin = find(&store, which, selected, cwd)?.id;
    if let Some(id) = id {
        check_free(&store, id)?;
    }
    let restored = store.restore(&origin);
    let restored = restored.map_err(|error| unresumable(&origin, &error))?;
    let beginning = Beginning::Forked(Origin {
        session_id: origin.into(),
        entries: restored.entries,
    });
    Ok(Persistence {
        session_id: id.map(str::to_owned),
        resume: Some(restored),
        stored: Some((store, beginning)),
    })
}

/// The store, which has to be there.
fn existing(home: &Path, which: &Which, cwd: &str) -> Result<Store, Refusal> {
    let store = Store::open_existing(home).map_err(|error| unusable(&error))?;
    store.ok_or_else(|| unknown(which, cwd))
}

/// The session, if the selected provider may go on with it (WIRE-025).
fn find(store: &Store, which: &Which, selected: &Binding, cwd: &str) -> Result<Summary, Refusal> {
    let found = match which {
        Which::Id(id) => store.session(id),
        Which::Newest => store.latest(cwd),
    };
    let found = found.map_err(|error| unusable(&error))?;
    let session = found.ok_or_else(|| unknown(which, cwd))?;
    match session.binding.admits(selected) {
        Ok(()) => Ok(session),
        Err(mismatch) => Err(unresumable(&session.id, &mismatch)),
    }
}

fn check_free(store: &Store, id: &str) -> Result<(), Refusal> {
    match store.session(id) {
        Ok(None) => Ok(()),
        Ok(Some(_)) => Err(Refusal::new(format_args!(
            "--session-id {id}: {}; --resume goes on with it",
            StoreError::Exists
        ))),
        Err(error) => Err(unusable(&error)),
    }
}

fn unknown(which: &Which, cwd: &str) -> Refusal {
    match which {
        Which::Id(id) => Refusal::failed(format_args!(
            "--resume: no stored session has the id {id:?}; agentx sessions list shows all"
        )),
        Which::Newest => Refusal::failed(format_args!(
            "--continue: no session is stored for the folder {cwd}"
        )),
    }
}

fn unresumable(id: &str, why: &dyn std::fmt::Display) -> Refusal {
    Refusal::failed(format_args!("session {id} cannot be resumed: {why}"))
}

fn unusable(error: &StoreError) -> Refusal {
    Refusal::failed(format_args!("the session store: {error}"))
}
