//! The command line: what was asked for, or why it cannot be had
//! (configuration, "Commands").

mod choice;
mod discovery;
mod plan;
mod reference;
mod stored;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use choice::Launch;
pub(crate) use discovery::ListFormat;
pub(crate) use plan::{Plan, Source, Terminals};
pub(crate) use reference::{Base, Debugging, Reference, Source as SettingSource, SystemPrompt};
pub(crate) use stored::{Question, StoredOptions, Telling, Wanted, Which};
pub(crate) use words::{
    Driver, InputFormat, OutputFormat, Profile, TextOrFile, ToolChoice, profile,
};

use crate::refusal::Refusal;
use agentx_core::schema::Money;
use agentx_core::schema::permission::PermissionMode;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, CommandFactory, FromArgMatches as _, Parser, Subcommand};
use reference::ReferenceOptions;
use std::ffi::OsString;
use std::path::PathBuf;

/// Name of the program.
const PROGRAM: &str = "agentx";

/// The version line (configuration, "Commands").
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (agentx)\n");

/// The same for hosts that look for a program of another name and want a version
/// they know (configuration, "Profiles").
const HOSTED_VERSION: &str = concat!("2.1.0 (agentx ", env!("CARGO_PKG_VERSION"), ")\n");

/// Options of the contract that this version does not have. They are refused
/// by name, so that nobody takes them for a typing error.
const NOT_YET: [&str; 1] = ["--attachment"];

const AFTER_HELP: &str = "\
Examples:
  agentx demo
      See a whole session now: no configuration, no network
  agentx
      Talk with the agent on this terminal; /help there tells more
  agentx -p \"What does this project do?\"
      Answer one prompt in the current folder
  git diff | agentx -p \"Review this change\"
      The prompt, a newline, and the text on stdin
  agentx -p --tools Read,Glob,Grep --output-format json \"Find dead code\"
      Only look at files; print one JSON document with answer, usage and cost
  agentx -p --json-schema '{\"properties\":{\"todos\":{\"type\":\"integer\"}}}' \"Count the TODOs\"
      Answer as JSON that fits a schema, here or in a file
  agentx -p --settings '{\"permissions\":{\"allow\":[\"Bash(cargo test:*)\"]}}' \"Fix the test\"
      Let some commands run without a question
  agentx -p --input-format stream-json --output-format stream-json
      Serve a host program: one JSON record a line, both ways
  agentx -p --continue \"And the tests?\"
      Go on with the newest session of the current folder
  agentx --list-providers
      Show the providers of auth.json; with --output-format json for programs
  agentx schema agent.result
      Print the JSON Schema of one record; without a name, of all of them

Files:
  $AGENTX_HOME/auth.json       The providers; mode 0600 in a folder of mode 0700.
      The shortest one, whose model echoes the prompt:
      {\"version\": 2, \"providers\": [{\"id\": \"play\", \"type\": \"scripted\",
        \"scripted\": {\"model\": \"scripted\", \"from_prompt\": true}}]}
  $AGENTX_HOME/settings.json   Permissions and command tools, for all folders
  .agentx/settings.json        The same for one project, .agentx/settings.local.json
                               for this machine; heeded with --trust-workspace
  /etc/agentx/policy.json      The same for this machine, above all others
  $AGENTX_HOME/sessions/       The stored sessions

Environment:
  AGENTX_HOME      Absolute path of the home folder [default: ~/.agentx]
  AGENTX_PROFILE   As --profile; without both, the name claude means reference
  AGENTX_LOG       Filter for logs on stderr, such as `debug`

Exit status:
  0 success, 1 the last prompt failed, the input was malformed or the session
  cannot be resumed, 2 usage or configuration, 128+N ended by signal N
  (on a terminal: 130 after Ctrl-C twice, or once at an empty prompt)";

/// A coding agent behind a pipe.
#[derive(Debug, Parser)]
#[command(
    name = PROGRAM,
    version,
    disable_version_flag = true,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    override_usage = "agentx [OPTIONS] [PROMPT]\n       agentx demo [--output-format FORMAT] [--driver DRIVER]\n       agentx schema [RECORD]\n       agentx sessions list | show ID\n       agentx --list-providers [--output-format text|json]",
    subcommand_help_heading = "Subcommands",
    after_help = AFTER_HELP
)]
pub(crate) struct Options {
    /// What the agent is asked first; with text on stdin, both joined by a newline
    prompt: Option<String>,

    /// Answer and end; implied by stream-json and by redirection
    #[arg(short, long)]
    print: bool,

    /// What stdin carries: text or stream-json [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = words::input_format)]
    input_format: Option<InputFormat>,

    /// What stdout carries: text, json (one document) or stream-json [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = words::output_format)]
    output_format: Option<OutputFormat>,

    /// Provider to use, an id of auth.json [default: the only one, or its default]
    #[arg(long, value_name = "ID")]
    provider: Option<String>,

    /// Reasoning effort, one that the provider declares [default: its default]
    #[arg(long, value_name = "E")]
    effort: Option<String>,

    /// Show the providers and end; takes no other option but --output-format
    #[arg(long)]
    list_providers: bool,

    /// Folder to work in [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// default, acceptEdits, plan, dontAsk or bypassPermissions [default: as settings say]
    #[arg(long, value_name = "MODE", value_parser = words::permission_mode)]
    permission_mode: Option<PermissionMode>,

    /// Further folder to work in; may be given several times
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,

    /// Settings that go before those of files: a file, or JSON that starts with {
    #[arg(long, value_name = "FILE|JSON", value_parser = words::text_or_file)]
    settings: Option<TextOrFile>,

    /// JSON Schema that the answer has to fit; text output then prints that JSON
    #[arg(long, value_name = "FILE|JSON", value_parser = words::text_or_file)]
    json_schema: Option<TextOrFile>,

    /// Heed the settings files of the folder to work in
    #[arg(long)]
    trust_workspace: bool,

    /// Built-in tools to offer, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_parser = words::tools)]
    tools: Option<ToolChoice>,

    /// Offer no built-in tools
    #[arg(long, conflicts_with = "tools")]
    no_tools: bool,

    /// Which control operations are installed: standalone or reference, which also
    /// takes the options of hosts that are made for it
    #[arg(long, value_name = "PROFILE", value_parser = words::profile)]
    profile: Option<Profile>,

    /// Model requests that one prompt may take
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = words::count)]
    max_turns: Option<u32>,

    /// Money that the process may spend, such as 0.50; needs prices in auth.json
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = crate::money::dollars)]
    max_budget_usd: Option<Money>,

    /// Echo user records and matched control responses; stream-json only
    #[arg(long)]
    replay_user_messages: bool,

    /// Write answers piece by piece as they come, too; stream-json only
    #[arg(long)]
    include_partial_messages: bool,

    /// What runs the session: tokio, async-std or mio [default: tokio]
    #[arg(long, value_name = "DRIVER", value_parser = words::driver)]
    driver: Option<Driver>,

    #[command(flatten)]
    stored: StoredOptions,

    /// What the command line of the profile `reference` says beside all this.
    #[arg(skip)]
    reference: Option<Box<ReferenceOptions>>,

    /// Accepted; changes nothing
    #[arg(long)]
    verbose: bool,

    /// Show the version
    #[arg(short = 'v', long, action = ArgAction::Version)]
    version: Option<bool>,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play a whole session with a scripted model and real tools
    Demo {
        /// What stdout carries: text or stream-json [default: text]
        #[arg(long, value_name = "FORMAT", value_parser = words::demo_format)]
        output_format: Option<OutputFormat>,
        /// What runs the session: tokio, async-std or mio [default: tokio]
        #[arg(long, value_name = "DRIVER", value_parser = words::driver)]
        driver: Option<Driver>,
    },
    /// Print the JSON Schema (2020-12) of the wire records
    #[command(after_help = crate::schema::names())]
    Schema {
        /// One record [default: all of them, in one document]
        record: Option<String>,
    },
    /// List stored sessions, or show one
    Sessions {
        #[command(subcommand)]
        question: Question,
    },
}

/// What the process is to do.
#[derive(Debug)]
pub(crate) enum Invocation {
    /// Run a session.
    Run(Box<Options>),
    /// Show one.
    Demo(OutputFormat, Driver),
    /// Show the providers (WIRE-026).
    List(ListFormat),
    /// Tell the schema of a record, or of all of them.
    Schema(Option<String>),
    /// Tell of stored sessions.
    Sessions(Question),
    /// Say something on stdout: help or version.
    Say(String),
}

/// Reads the command line. The first argument is the program's name.
///
/// # Errors
///
/// A usage error: what is wrong with which argument, and what was expected.
pub(crate) fn read(arguments: &[OsString], launch: Launch) -> Result<Invocation, Refusal> {
    let words = arguments.get(1..).unwrap_or_default();
    if let Some(format) = discovery::read(words) {
        return format.map(Invocation::List);
    }
    // Hosts link the program under other names; messages keep to its own.
    let line = [OsString::from(PROGRAM)].into_iter();
    let line = line.chain(words.iter().cloned());
    let options = match Options::parsed(line, launch.profile) {
        Ok(options) => options,
        Err(error) => return explain(&error, words, launch),
    };
    match options.command {
        None => Ok(Invocation::Run(Box::new(options))),
        Some(Command::Demo {
            output_format,
            driver,
        }) => {
            let output = output_format.unwrap_or_default();
            Ok(Invocation::Demo(output, driver.unwrap_or_default()))
        }
        Some(Command::Schema { record }) => Ok(Invocation::Schema(record)),
        Some(Command::Sessions { question }) => Ok(Invocation::Sessions(question)),
    }
}

/// The grammar of a profile.
fn grammar(profile: Profile) -> clap::Command {
    match profile {
        Profile::Standalone => Options::command(),
        Profile::Reference => reference::command(Options::command()),
    }
}

impl Options {
    fn parsed(line: impl Iterator<Item = OsString>, profile: Profile) -> Result<Self, clap::Error> {
        let matches = grammar(profile).try_get_matches_from(line)?;
        let mut options = Self::from_arg_matches(&matches)?;
        if profile == Profile::Reference {
            options.reference = Some(Box::new(ReferenceOptions::read(&matches)?));
        }
        Ok(options)
    }
}

/// Help and version come as errors; the rest is told in our way. `words` are
/// the arguments; the first ones may be a command.
fn explain(error: &clap::Error, words: &[OsString], launch: Launch) -> Result<Invocation, Refusal> {
    let mut all = grammar(launch.profile);
    // Only a built command knows that it has `--help`.
    all.build();
    let command = named(&all, words);
    // After a prompt any word could be a command; it never is.
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) {
        return Err(unexpected(command, word));
    }
    match error.kind() {
        ErrorKind::DisplayHelp => Ok(Invocation::Say(error.to_string())),
        ErrorKind::DisplayVersion => {
            let line = if launch.hosted_name {
                HOSTED_VERSION
            } else {
                VERSION
            };
            Ok(Invocation::Say(line.to_owned()))
        }
        ErrorKind::UnknownArgument => Err(unknown(error, command, launch.profile)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            let name = command.get_name();
            Err(Refusal::new(format_args!(
                "{name}: expected {}",
                questions(command)
            )))
        }
        _ => {
            // The first paragraph says it all; one line is kept to.
            let text = error.to_string();
            let text = text.split("\n\n").next().unwrap_or_default();
            let text = text.strip_prefix("error: ").unwrap_or(text);
            let words: Vec<&str> = text.split_whitespace().collect();
            Err(Refusal::new(words.join(" ")))
        }
    }
}

/// The command that the first words name, down to the last one that does.
fn named<'c>(all: &'c clap::Command, words: &[OsString]) -> &'c clap::Command {
    let mut command = all;
    for word in words {
        match command.find_subcommand(word) {
            Some(inner) => command = inner,
            None => break,
        }
    }
    command
}

/// What a command of commands takes.
fn questions(command: &clap::Command) -> String {
    let names = command.get_subcommands().map(clap::Command::get_name);
    names.collect::<Vec<_>>().join(" or ")
}

/// A word too many.
fn unexpected(command: &clap::Command, word: &str) -> Refusal {
    let expected = if command.get_name() == PROGRAM {
        "one prompt is expected, quoted as a whole".to_owned()
    } else if command.has_subcommands() {
        format!("expected {}", questions(command))
    } else {
        let name = command.get_bin_name().unwrap_or_default();
        let more = if command.get_positionals().count() == 0 {
            "no prompt"
        } else {
            "no more"
        };
        format!("`{name}` takes {more}")
    };
    Refusal::new(format_args!("unexpected argument {word:?}: {expected}"))
}

fn unknown(error: &clap::Error, command: &clap::Command, profile: Profile) -> Refusal {
    let name = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) => name.as_str(),
        _ => "an argument",
    };
    if NOT_YET.contains(&name) {
        return Refusal::not_yet(name);
    }
    if !name.starts_with('-') {
        return unexpected(command, name);
    }
    if command.get_name() == PROGRAM
        && let Some(refusal) = reference::known(name, profile)
    {
        return refusal;
    }
    let known = command.get_arguments();
    let known = known.filter_map(|option| option.get_long());
    let known: Vec<String> = known.map(|name| format!("--{name}")).collect();
    let expected = if command.has_subcommands() && command.get_name() != PROGRAM {
        questions(command)
    } else {
        format!("one of {}", known.join(", "))
    };
    Refusal::new(format_args!("unknown option {name:?}: expected {expected}"))
}
