//! `Write`.

use crate::change::Change;
use crate::input::WriteInput;
use crate::place::{Leaf, OpenFault};
use crate::replace::{Target, make_folders};
use crate::stop::Stop;
use crate::text::shown;
use crate::toolbox::Call;

pub(crate) fn run(call: &Call<'_>) -> Result<String, Stop> {
    let input = WriteInput::parse(&call.request.call.input, call.guard())?;
    let shown = shown(&input.file_path, call.guard());
    let fence = call.fence()?;
    let place = fence.enter(&input.file_path)?;
    let mut change = Change::of(call, &place);
    let bytes = input.content.len();
    match &place.leaf {
        Leaf::Folder => Err(OpenFault::Kind("a folder").told(&shown)),
        Leaf::File { name, stat } => {
            place
                .must_be_regular()
                .map_err(|fault| fault.told(&shown))?;
            change.must_be_seen(&shown)?;
            let kept = change.replaces_file(call, &fence, &place, &shown)?;
            let target = Target {
                folder: &place.folder,
                name,
                shown: &shown,
                old: Some(kept.as_ref().unwrap_or(stat)),
                unchanged: kept.is_some(),
                rights: None,
            };
            let made = target.replace(call.cancel, input.content.as_bytes())?;
            change.done(input.content.as_bytes(), &made);
            Ok(format!("Replaced `{shown}`: {bytes} bytes."))
        }
        Leaf::Missing { names } => {
            let Some((name, folders)) = names.split_last() else {
                return Err(Stop::fault("The path is empty."));
            };
            let target = Target {
                folder: &make_folders(&place.folder, folders, &shown)?,
                name,
                shown: &shown,
                old: None,
                unchanged: true,
                rights: None,
            };
            change.makes();
            let made = target.replace(call.cancel, input.content.as_bytes())?;
            change.done(input.content.as_bytes(), &made);
            Ok(format!("Created `{shown}`: {bytes} bytes."))
        }
    }
}
