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
    /// Whether another version was seen than the one that is changed.
    outdated: bool,
}

impl<'a> Change<'a> {
    /// A change of what is at this place.
    pub(crate) fn of(call: &Call<'a>, place: &Place) -> Self {
        let noted = call.request.bookkeeping;
        let path = place.path();
        let seen = noted.reads.then_some(call.seen);
        let outdated = match (&place.leaf, seen) {
            (Leaf::File { stat, .. }, Some(seen)) => seen.is_outdated(&path, stat),
            _ => false,
        };
        let book = noted.checkpoint.map(|at| (at, call.checkpoints.lock()));
        Self {
            path,
            book,
            before: None,
            seen,
            outdated,
        }
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
    pub(crate) fn done(self, content: &[u8], made: &Stat) {
        if let Some((at, mut book)) = self.book {
            let now = Version::of(Some(content));
            book.changed(self.path.clone(), at, self.before, now);
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
