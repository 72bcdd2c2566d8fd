//! What hosts of the profile `reference` ask for on the command line and in the
//! environment, against what is there.

pub(crate) mod servers;
pub(crate) mod settings;
#[cfg(test)]
mod tests;

use crate::compose;
use crate::options::{Base, Plan, SystemPrompt};
use crate::refusal::Refusal;
use crate::structured;
use agentx_core::agent::{Profile, Reference, StateRecords};
use agentx_core::guard::Guard;
use agentx_providers::registry::Entry;
use servers::Servers;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

/// Bytes of a system prompt in a file.
const SYSTEM_BYTES: usize = 1 << 20;

/// The word for the model that is there anyway (DEC-52).
const DEFAULT_MODEL: &str = "default";

/// The effort of not thinking at all.
const NO_THINKING: &str = "none";

/// What a session is told of its host. In the profile `standalone` that is what our
/// own options say.
#[derive(Debug)]
pub(crate) struct Hosted {
    /// Which control operations are installed, and what goes with them.
    pub(crate) profile: Profile,
    /// What the model is told first, if anything.
    pub(crate) system: Option<Arc<str>>,
    /// The effort it is asked for.
    pub(crate) effort: Option<Arc<str>>,
    /// Whether the host is asked for permission (DEC-31).
    pub(crate) asks: bool,
}

impl Hosted {
    /// Holds what the command line asks for against the selected entry; tells on
    /// stderr what has no effect. `keys` must not show there.
    ///
    /// # Errors
    ///
    /// A model or an effort that the entry does not have; a file that cannot be
    /// used.
    pub(crate) fn read(
        plan: &Plan,
        entry: &Entry,
        keys: &Guard,
        cwd: &str,
    ) -> Result<Self, Refusal> {
        let own = compose::system_prompt(cwd);
        let told = plan.effort.as_deref();
        let Some(asked) = &plan.reference else {
            return Ok(Self {
                profile: Profile::Standalone,
                system: Some(own.into()),
                effort: entry.effort(told)?,
                asks: true,
            });
        };
        check_models(&asked.models, entry)?;
        let (effort, note) = effort(entry, told, asked.thinking_disabled)?;
        let system = system_prompt(&asked.system, own)?;
        let servers = Servers::read(&asked.mcp_configs, keys)?;
        let notes = asked.notes.iter().chain(&servers.notes).map(String::as_str);
        for note in notes.chain(note) {
            crate::complain(keys.redact(note));
        }
        let profile = Profile::Reference(Reference {
            states: state_records(env::var_os),
            may_bypass_permissions: asked.allow_bypass,
            await_initialize: asked.await_initialize,
            sdk_servers: servers.in_host,
            file_checkpoints: file_checkpoints(env::var_os(FILE_CHECKPOINTS).as_deref()),
            ..Reference::default()
        });
        Ok(Self {
            profile,
            system,
            effort,
            asks: asked.ask_host,
        })
    }
}

/// Takes the names of models that the process can serve: it has one model, so
/// these are its name, the id of its entry, and `default` (DEC-52).
///
/// # Errors
///
/// Any other name. It is not shown, since it may be anything.
pub(crate) fn check_models(
    models: &[(&'static str, String)],
    entry: &Entry,
) -> Result<(), Refusal> {
    let known = [&*entry.model, &*entry.id, DEFAULT_MODEL];
    match models
        .iter()
        .find(|(_, name)| !known.contains(&name.as_str()))
    {
        None => Ok(()),
        Some((option, _)) => Err(Refusal::new(format_args!(
            "{option}: no such model; the provider {:?} serves {:?}, which {DEFAULT_MODEL} and the provider's id stand for, too",
            &*entry.id, &*entry.model
        ))),
    }
}

/// The effort to ask for: where the model is not to think and no effort is named,
/// the effort `none` of an entry that declares it. Else a line for stderr.
///
/// # Errors
///
/// An effort that the entry does not declare.
pub(crate) fn effort(
    entry: &Entry,
    asked: Option<&str>,
    thinking_disabled: bool,
) -> Result<(Option<Arc<str>>, Option<&'static str>), Refusal> {
    if asked.is_none() && thinking_disabled {
        return match entry.effort(Some(NO_THINKING)) {
            Ok(effort) => Ok((effort, None)),
            Err(_) => Ok((
                entry.effort(None)?,
                Some("warning: thinking is not disabled: the provider declares no effort none"),
            )),
        };
    }
    Ok((entry.effort(asked)?, None))
}

/// The system prompt that is asked for; `own` is ours.
///
/// # Errors
///
/// A file that cannot be read, is too long or no UTF-8.
pub(crate) fn system_prompt(
    asked: &SystemPrompt,
    own: String,
) -> Result<Option<Arc<str>>, Refusal> {
    let base = match &asked.base {
        Base::Own => own,
        Base::Text(text) => text.clone(),
        Base::File(path) => read_text(path).map_err(|fault| {
            Refusal::new(format_args!(
                "--system-prompt-file {}: {fault}",
                path.display()
            ))
        })?,
    };
    let parts = [Some(base), asked.append.clone()].into_iter().flatten();
    let parts: Vec<String> = parts.filter(|part| !part.trim().is_empty()).collect();
    Ok((!parts.is_empty()).then(|| parts.join("\n\n").into()))
}

fn read_text(path: &Path) -> Result<String, String> {
    let bytes = structured::file(path, SYSTEM_BYTES)?;
    if bytes.len() > SYSTEM_BYTES {
        return Err(format!("over {SYSTEM_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        format!("no UTF-8 at byte {at}")
    })
}

/// Which state records the host wants, as its variables tell (DEC-12). A variable
/// that is blank, or says no, is taken for one that is not there.
fn state_records(variable: impl Fn(&'static str) -> Option<OsString>) -> StateRecords {
    let set = |name| says_yes(variable(name).as_deref());
    if set("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") {
        StateRecords::Plain
    } else if set("CLAUDE_CODE_SDK_READS_SESSION_STATE") {
        StateRecords::HostOnly
    } else if set("CLAUDE_CODE_ENTRYPOINT") {
        StateRecords::Off
    } else {
        StateRecords::Plain
    }
}

/// The variable by which hosts ask for checkpoints of files.
const FILE_CHECKPOINTS: &str = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING";

/// Whether files can be put back: unless the host says that it does not want it.
fn file_checkpoints(value: Option<&OsStr>) -> bool {
    let told = value.filter(|value| !value.to_string_lossy().trim().is_empty());
    told.is_none() || says_yes(told)
}

fn says_yes(value: Option<&OsStr>) -> bool {
    let no = ["", "0", "false", "no", "off"];
    value.is_some_and(|value| {
        let word = value.to_string_lossy().trim().to_ascii_lowercase();
        !no.contains(&word.as_str())
    })
}
