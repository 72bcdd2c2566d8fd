//! The command line of the profile `reference`: that of hosts which already
//! exist, on top of our own.
//!
//! Both spellings of a value are taken, `--name value` and `--name=value`, empty
//! ones and those that begin with a dash included. Of an option that stands twice
//! the last one counts; lists add up. What changes nothing is told once on stderr,
//! and what would mislead by changing nothing is refused by name.

mod plan;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use plan::{Base, Debugging, Reference, SystemPrompt};
pub(crate) use values::Source;

use super::{Profile, TextOrFile, words};
use crate::refusal::Refusal;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use std::path::PathBuf;

/// Options of hosts that are refused, and why.
const REFUSED: [(&str, &str); 3] = [
    ("--session-mirror", "sessions are not mirrored to a host"),
    (
        "--resume-session-at",
        "a session is resumed as a whole, not up to a message",
    ),
    (
        "--resume-drops-turn",
        "a session is resumed as a whole, without leaving a turn out",
    ),
];

/// Options of the profile `reference` alone.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options of the profile reference")]
pub(crate) struct ReferenceOptions {
    /// The system prompt in place of our own; an empty one is none
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,

    /// A file that holds the system prompt
    #[arg(long, value_name = "FILE", conflicts_with = "system_prompt")]
    system_prompt_file: Option<PathBuf>,

    /// Text behind the system prompt
    #[arg(long, value_name = "TEXT")]
    append_system_prompt: Option<String>,

    /// Rules for calls that run without a question, separated by commas or blanks
    #[arg(long = "allowedTools", alias = "allowed-tools", value_name = "RULES")]
    allowed_tools: Vec<String>,

    /// Rules for calls that are refused; a tool of ours by its bare name is not offered
    #[arg(
        long = "disallowedTools",
        alias = "disallowed-tools",
        value_name = "RULES"
    )]
    disallowed_tools: Vec<String>,

    /// The model or the id of the provider, or default
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// As --model; there is no other to fall back to
    #[arg(long, value_name = "NAME")]
    fallback_model: Option<String>,

    /// adaptive, enabled or disabled; disabled chooses the effort none
    #[arg(long, value_name = "WORD", value_parser = values::thinking)]
    thinking: Option<values::Thinking>,

    /// 0 chooses the effort none, other numbers change nothing
    #[arg(long, value_name = "N", value_parser = values::tokens)]
    max_thinking_tokens: Option<u64>,

    /// Accepted; changes nothing
    #[arg(long, value_name = "WORD")]
    thinking_display: Option<String>,

    /// Accepted; changes nothing
    #[arg(long, value_name = "NAMES")]
    betas: Vec<String>,

    /// Accepted; changes nothing
    #[arg(long, value_name = "N", value_parser = values::tokens)]
    task_budget: Option<u64>,

    /// Who answers permission questions: stdio, which is this program's host
    #[arg(long, value_name = "WHO", value_parser = values::prompt_tool)]
    permission_prompt_tool: Option<()>,

    /// none: deny what would be asked
    #[arg(long, value_name = "WORD", value_parser = values::prompts)]
    permission_prompts: Option<()>,

    /// Let the host choose the mode bypassPermissions later
    #[arg(long)]
    allow_dangerously_skip_permissions: bool,

    /// Which settings files count: some of user, project, local [default: all]
    #[arg(long, value_name = "NAMES", value_parser = values::sources)]
    setting_sources: Option<values::Sources>,

    /// MCP servers: a file, or JSON that starts with {
    #[arg(long, value_name = "FILE|JSON", value_parser = words::text_or_file)]
    mcp_config: Vec<TextOrFile>,

    /// No MCP servers but those of --mcp-config and of the host
    #[arg(long)]
    strict_mcp_config: bool,

    /// Write records about hooks
    #[arg(long)]
    include_hook_events: bool,

    /// Begin no turn before `initialize` is applied
    #[arg(long)]
    await_initialize: bool,

    /// Accepted; changes nothing
    #[arg(long, value_name = "DIR")]
    plugin_dir: Vec<PathBuf>,

    /// Accepted; changes nothing
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Logs on stderr, as AGENTX_LOG=debug
    #[arg(long, alias = "debug-to-stderr", value_name = "WORDS", num_args = 0..=1, default_missing_value = "")]
    debug: Option<String>,

    /// Logs into this file
    #[arg(long, value_name = "FILE")]
    debug_file: Option<PathBuf>,

    /// Whether the mode was given as `auto`.
    #[arg(skip)]
    auto_mode: bool,
}

/// The grammar of this profile, made of that of `standalone`.
pub(super) fn command(standalone: Command) -> Command {
    let about = standalone.get_about().cloned();
    let command = ReferenceOptions::augment_args(standalone)
        .about(about.unwrap_or_default())
        .args_override_self(true);
    let command = command.mut_args(|option| {
        let dashed = needs_value(&option) && !option.is_positional();
        if dashed {
            option.allow_hyphen_values(true)
        } else {
            option
        }
    });
    command
        .mut_arg("tools", |option| {
            option
                .value_parser(values::tools)
                .help("Built-in tools to offer, separated by commas; none if empty [default: all]")
        })
        .mut_arg("permission_mode", |option| {
            option.value_parser(values::permission_mode).help(
                "default, acceptEdits, plan, dontAsk, bypassPermissions, or auto (as default)",
            )
        })
        .mut_arg("max_budget_usd", |option| {
            option.value_parser(values::dollars)
        })
}

/// What is said about an option that nobody takes here, where this profile knows
/// of it.
pub(super) fn known(name: &str, profile: Profile) -> Option<Refusal> {
    let refused = REFUSED.iter().find(|(refused, _)| *refused == name);
    match (profile, refused) {
        (Profile::Reference, Some((_, why))) => {
            Some(Refusal::new(format_args!("{name} is not available: {why}")))
        }
        (Profile::Reference, None) => None,
        (Profile::Standalone, _) => {
            let grammar = ReferenceOptions::augment_args(Command::new(""));
            let long = name.strip_prefix("--")?;
            let own = grammar.get_arguments().any(|option| names(option, long));
            own.then(|| {
                Refusal::new(format_args!(
                    "{name} is an option of another profile: expected --profile reference with it"
                ))
            })
        }
    }
}

/// Whether this is the option of that name, without its dashes.
pub(super) fn names(option: &Arg, long: &str) -> bool {
    let aliases = option.get_all_aliases().unwrap_or_default();
    option.get_long() == Some(long) || aliases.contains(&long)
}

/// Whether an option cannot stand without a value.
pub(super) fn needs_value(option: &Arg) -> bool {
    let values = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    values
        && option
            .get_num_args()
            .is_none_or(|count| count.min_values() > 0)
}

impl ReferenceOptions {
    /// Reads what [`command`] has matched.
    pub(super) fn read(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = <Self as clap::FromArgMatches>::from_arg_matches(matches)?;
        let told = matches.value_source("permission_mode") == Some(ValueSource::CommandLine);
        let mut words = matches.get_raw("permission_mode").into_iter().flatten();
        options.auto_mode = told && words.any(|word| word == values::AUTO);
        Ok(options)
    }
}
