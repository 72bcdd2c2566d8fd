//! Putting files back to what they were at a checkpoint.
//!
//! Each file is put back as a whole or not at all, and a failure of one is no
//! failure of the others. What somebody else made of a file after the tools is
//! not lost: such a file is left as it is.

use crate::cancel::CancelToken;
use crate::checkpoint::{Before, Book, Version};
use crate::count::Lines;
use crate::place::{Fence, Leaf, OpenFault, Place};
use crate::replace::{Rights, Target, make_folders};
use crate::stop::{CANCELLED, Stop};
use crate::text::{read_bounded, shown};
use crate::toolbox::ToolboxConfig;
use agentx_core::checkpoint::{RewindReport, RewindRequest};
use agentx_core::tool::Access;
use rustix::fs::Stat;
use std::path::Path;

/// Puts back what tools changed since a checkpoint.
pub(crate) fn run(
    config: &ToolboxConfig,
    book: &mut Book,
    request: &RewindRequest,
    cancel: &CancelToken,
) -> Result<RewindReport, String> {
    if !book.reaches(request.to) {
        return Err("the files of that message are no longer kept".to_owned());
    }
    let guard = &config.guard;
    let told = |stop| match stop {
        Stop::Fault(text) => guard.redact(&text).into_owned(),
        Stop::Cancelled => CANCELLED.to_owned(),
    };
    // Whoever asks is the host, and the tools had leave to be there.
    let fence = Fence::new(&config.home, &request.directories, Access::Granted, guard);
    let fence = fence.map_err(told)?;
    let mut report = RewindReport::default();
    for (path, before) in book.since(request.to) {
        let mut file = Restored {
            book,
            request,
            cancel,
            fence: &fence,
            path: &path,
            shown: &shown(&path.to_string_lossy(), guard),
        };
        match file.put_back(&before) {
            Ok(None) => {}
            Ok(Some(lines)) => {
                let path = path.to_string_lossy();
                report.changed.push(guard.redact(&path).into_owned());
                report.insertions = report.insertions.saturating_add(lines.added);
                report.deletions = report.deletions.saturating_add(lines.removed);
            }
            Err(stop) => report.failures.push(told(stop)),
        }
    }
    Ok(report)
}

/// One file on its way back.
struct Restored<'a> {
    book: &'a mut Book,
    request: &'a RewindRequest,
    cancel: &'a CancelToken,
    fence: &'a Fence,
    path: &'a Path,
    shown: &'a str,
}

impl Restored<'_> {
    /// Puts it back; gives what that changed, if anything.
    fn put_back(&mut self, before: &Before) -> Result<Option<Lines>, Stop> {
        self.cancel.check()?;
        let shown = self.shown;
        let kept = match before {
            Before::Missing => None,
            Before::Kept(image) => {
                let content = self.book.read(image);
                let content = content.map_err(|fault| {
                    Stop::fault(format!("`{shown}` was not put back: {fault}."))
                })?;
                Some((content, image.rights))
            }
            Before::Lost(why) => {
                let text = format!("`{shown}` was not put back: what it was is not kept, {why}.");
                return Err(Stop::fault(text));
            }
        };
        let place = self.place()?;
        let present = self.present(&place)?;
        let old = present.as_ref().map(|(content, _)| &**content);
        let new = kept.as_ref().map(|(content, _)| &**content);
        if old == new {
            return Ok(None);
        }
        // What is not there is nobody's loss.
        if old.is_some() && Some(Version::of(old)) != self.book.last(self.path) {
            let text = format!("`{shown}` was left as it is: it was changed after the tools did.");
            return Err(Stop::fault(text));
        }
        let lines = Lines::of(old.unwrap_or_default(), new.unwrap_or_default());
        if !self.request.dry_run {
            let rights = kept.as_ref().map(|(_, rights)| *rights);
            self.write(&place, present.as_ref(), new, rights)?;
        }
        Ok(Some(lines))
    }

    /// Where it is, if that is still the same place.
    fn place(&self) -> Result<Place, Stop> {
        let place = self.fence.enter_path(self.path, self.shown)?;
        if place.path() == self.path {
            Ok(place)
        } else {
            let shown = self.shown;
            let text = format!("`{shown}` was not put back: its path leads elsewhere now.");
            Err(Stop::fault(text))
        }
    }

    /// What is there now.
    fn present(&self, place: &Place) -> Result<Option<(Vec<u8>, Stat)>, Stop> {
        let shown = self.shown;
        match &place.leaf {
            Leaf::Missing { .. } => Ok(None),
            Leaf::Folder => Err(OpenFault::Kind("a folder").told(shown)),
            Leaf::File { .. } => {
                let (file, stat) = place.open_file().map_err(|fault| fault.told(shown))?;
                self.fence.judge_file(&stat, shown)?;
                let limit = self.book.file_bytes();
                let content = read_bounded(self.cancel, file, shown, limit)?;
                let content = content.ok_or_else(|| {
                    Stop::fault(format!(
                        "`{shown}` was left as it is: it is larger than {limit} bytes."
                    ))
                })?;
                Ok(Some((content, stat)))
            }
        }
    }

    fn write(
        &mut self,
        place: &Place,
        present: Option<&(Vec<u8>, Stat)>,
        new: Option<&[u8]>,
        rights: Option<Rights>,
    ) -> Result<(), Stop> {
        let at = self.request.at;
        let before = self.book.lacks(self.path, at).then(|| match present {
            None => Before::Missing,
            // Not at the cost of what is still to be put back.
            Some((content, stat)) => self.book.keep_in_room(at, content, Rights::of(stat)),
        });
        let made;
        let (folder, name) = match &place.leaf {
            Leaf::Folder => return Ok(()),
            Leaf::File { name, .. } => (&place.folder, name),
            Leaf::Missing { names } => {
                let Some((name, folders)) = names.split_last() else {
                    return Ok(());
                };
                made = make_folders(&place.folder, folders, self.shown)?;
                (&made, name)
            }
        };
        let target = Target {
            folder,
            name,
            shown: self.shown,
            old: present.map(|(_, stat)| stat),
            unchanged: true,
            rights,
        };
        match new {
            Some(content) => target.replace(self.cancel, content).map(|_| ())?,
            None => target.remove()?,
        }
        let path = self.path.to_owned();
        self.book.changed(path, at, before, Version::of(new));
        Ok(())
    }
}
