//! One change of a file by a tool, and what is noted of it.

use crate::checkpoint::{Before, Book, Version};
use crate::place::{Fence, Leaf, Place};
use crate::replace::Rights;
use crate::seen::Seen;
use crate::stop::Stop;
use crate::text::read_bounded;
use crate::toolbox::Call;
use agentx_core::checkpoint::Checkpoint;
use rustix::fs::Stat;
use std::path::PathBuf;
use std::sync::MutexGuard;

/// A change that is about to be made. Where checkpoints are kept, no other is
/// made until it is done.
pub(crate) struct Change<'a> {
    path: PathBuf,
    book: Option<(Checkpoint, MutexGuard<'a, Book>)>,
    /// What the file was, where that is not known yet.
    before: Option<Before>,
    seen: Option<&'a Seen>,
    /// Whether some version of the file was seen.
    known: bool,
    /// Whether another version was seen than the one that is changed.
    outdated: bool,
}

impl<'a> Change<'a> {
    /// A change of what is at this place.
    pub(crate) fn of(call: &Call<'a>, place: &Place) -> Self {
        let noted = call.request.bookkeeping;
        let path = place.path();
        let seen = noted.reads.then_some(call.seen);
        let current = match (&place.leaf, seen) {
            (Leaf::File { stat, .. }, Some(seen)) => seen.is_current(&path, stat),
            _ => None,
        };
        let book = noted.checkpoint.map(|at| (at, call.checkpoints.lock()));
        Self {
            path,
            book,
            before: None,
            seen,
            known: current.is_some(),
            outdated: current == Some(false),
        }
    }

    /// Whether the version that was seen is the only one that may be replaced.
    pub(crate) const fn is_of_known(&self) -> bool {
        self.known
    }

    /// Refuses to lose what another program wrote after the file was read.
    pub(crate) fn must_be_seen(&self, shown: &str) -> Result<(), Stop> {
        if self.outdated {
            let text = format!("`{shown}` changed since it was read; read it again.");
            return Err(Stop::fault(text));
        }
        Ok(())
    }

    /// There is no file yet.
    pub(crate) fn makes(&mut self) {
        if self.is_lacking() {
            self.before = Some(Before::Missing);
        }
    }

    /// This content is replaced.
    pub(crate) fn replaces(&mut self, content: &[u8], stat: &Stat) {
        if self.is_lacking()
            && let Some((at, book)) = &mut self.book
        {
            self.before = Some(book.keep(*at, content, Rights::of(stat)));
        }
    }

    /// The file at this place is replaced, whatever it holds; gives what it was
    /// when it was read for that.
    pub(crate) fn replaces_file(
        &mut self,
        call: &Call<'_>,
        fence: &Fence,
        place: &Place,
        shown: &str,
    ) -> Result<Option<Stat>, Stop> {
        let Some((_, book)) = self.book.as_ref().filter(|_| self.is_lacking()) else {
            return Ok(None);
        };
        let limit = book.file_bytes();
        let read = || {
            let (file, stat) = place.open_file().map_err(|fault| fault.told(shown))?;
            fence.judge_file(&stat, shown)?;
            let content = read_bounded(call.cancel, file, shown, limit)?;
            Ok((content, stat))
        };
        match read() {
            Ok((Some(content), stat)) => {
                self.replaces(&content, &stat);
                Ok(Some(stat))
            }
            Ok((None, _)) => {
                let why = format!("it was larger than the {limit} bytes that are kept");
                self.before = Some(Before::Lost(why));
                Ok(None)
            }
            Err(Stop::Cancelled) => Err(Stop::Cancelled),
            // The tool can do its work all the same.
            Err(Stop::Fault(why)) => {
                self.before = Some(Before::Lost(why));
                Ok(None)
            }
        }
    }

    /// The change was made.
    pub(crate) fn done(mut self, content: &[u8], made: &Stat) {
        let before = self.before.take();
        if let Some((at, book)) = &mut self.book {
            let now = Version::of(Some(content));
            book.changed(self.path.clone(), *at, before, now);
        }
        // A part of another version is not known by it.
        if let Some(seen) = self.seen.filter(|_| !self.outdated) {
            seen.note(&self.path, made);
        }
    }

    fn is_lacking(&self) -> bool {
        let book = self.book.as_ref();
        book.is_some_and(|(at, book)| book.lacks(&self.path, *at))
    }
}

/// One that was not made leaves nothing that takes room.
impl Drop for Change<'_> {
    fn drop(&mut self) {
        if let (Some((_, book)), Some(Before::Kept(image))) = (&mut self.book, &self.before) {
            book.take_back(image);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Checkpoints;
    use crate::limits::CheckpointLimits;
    use crate::testing::Owned;
    use agentx_core::checkpoint::Bookkeeping;

    #[test]
    fn changes_that_fail_take_no_room_from_others() {
        let top = tempfile::TempDir::new().unwrap();
        std::fs::write(top.path().join("f"), "12345").unwrap();
        let mut owned = Owned::new(top.path());
        let limits = CheckpointLimits {
            kept_bytes: 10,
            ..CheckpointLimits::default()
        };
        owned.checkpoints = Checkpoints::new(top.path(), &limits);
        for at in [0, 1, 1, 1] {
            owned.request.bookkeeping = Bookkeeping {
                checkpoint: Some(Checkpoint(at)),
                reads: false,
            };
            let call = owned.call();
            let place = call.fence().unwrap().enter("f").unwrap();
            let (_, stat) = place.open_file().unwrap();
            let mut change = Change::of(&call, &place);
            change.replaces(b"12345", &stat);
            if at == 0 {
                change.done(b"new", &stat);
            }
        }
        let book = owned.checkpoints.lock();
        assert!(book.reaches(Checkpoint(0)));
        assert_eq!(book.since(Checkpoint(0)).len(), 1);
        assert!(book.since(Checkpoint(1)).is_empty());
    }
}
