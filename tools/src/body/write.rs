//! `Write`.

use crate::change::Change;
use crate::input::WriteInput;
use crate::place::{Fence, Leaf, OpenFault, Place};
use crate::replace::{Target, make_folders};
use crate::stop::Stop;
use crate::text::shown;
use crate::toolbox::Call;

pub(crate) fn run(call: &Call<'_>) -> Result<String, Stop> {
    let input = WriteInput::parse(&call.request.call.input, call.guard())?;
    let shown = shown(&input.file_path, call.guard());
    let fence = call.fence()?;
    let place = fence.enter(&input.file_path)?;
    put(call, &fence, &place, &input.content, &shown)
}

fn put(
    call: &Call<'_>,
    fence: &Fence,
    place: &Place,
    content: &str,
    shown: &str,
) -> Result<String, Stop> {
    let mut change = Change::of(call, place);
    let bytes = content.len();
    match &place.leaf {
        Leaf::Folder => Err(OpenFault::Kind("a folder").told(shown)),
        Leaf::File { name, stat } => {
            place.must_be_regular().map_err(|fault| fault.told(shown))?;
            change.must_be_seen(shown)?;
            let kept = change.replaces_file(call, fence, place, shown)?;
            // Only what was seen may be lost, not what comes before the end.
            let known = change.is_of_known();
            let old = kept.as_ref().filter(|_| !known).unwrap_or(stat);
            let target = Target {
                folder: &place.folder,
                name,
                shown,
                old: Some(old),
                unchanged: known || kept.is_some(),
                rights: None,
            };
            let made = target.replace(call.cancel, content.as_bytes())?;
            change.done(content.as_bytes(), &made);
            Ok(format!("Replaced `{shown}`: {bytes} bytes."))
        }
        Leaf::Missing { names } => {
            let Some((name, folders)) = names.split_last() else {
                return Err(Stop::fault("The path is empty."));
            };
            let target = Target {
                folder: &make_folders(&place.folder, folders, shown)?,
                name,
                shown,
                old: None,
                unchanged: true,
                rights: None,
            };
            change.makes();
            let made = target.replace(call.cancel, content.as_bytes())?;
            change.done(content.as_bytes(), &made);
            Ok(format!("Created `{shown}`: {bytes} bytes."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Owned;
    use agentx_core::checkpoint::{Bookkeeping, Checkpoint};
    use std::fs;

    /// Writes "mine" over "seen", which becomes "theirs" once the path was walked.
    fn race(bookkeeping: Bookkeeping, read: bool) -> (Result<String, Stop>, String) {
        let top = tempfile::TempDir::new().unwrap();
        let path = top.path().join("f");
        fs::write(&path, "seen").unwrap();
        let mut owned = Owned::new(top.path());
        owned.request.bookkeeping = bookkeeping;
        let call = owned.call();
        let fence = call.fence().unwrap();
        let place = fence.enter("f").unwrap();
        if read {
            let (_, stat) = place.open_file().unwrap();
            call.seen.note(&place.path(), &stat);
        }
        fs::write(&path, "theirs").unwrap();
        let answer = put(&call, &fence, &place, "mine", "f");
        (answer, fs::read_to_string(&path).unwrap())
    }

    #[test]
    fn what_comes_after_the_look_is_not_lost_where_the_file_was_read() {
        for checkpoint in [None, Some(Checkpoint(0))] {
            let noted = Bookkeeping {
                checkpoint,
                reads: true,
            };
            let text = "`f` changed in the meantime; read it again.";
            let refused = (Err(Stop::fault(text)), "theirs".to_owned());
            assert_eq!(race(noted, true), refused);
            let (answer, content) = race(noted, false);
            assert_eq!((answer.is_ok(), &*content), (true, "mine"));
        }
        let (answer, content) = race(Bookkeeping::default(), true);
        assert_eq!((answer.is_ok(), &*content), (true, "mine"));
    }
}
