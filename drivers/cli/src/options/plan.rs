//! What options mean together.

use super::reference::ReferenceOptions;
use super::{
    Debugging, Driver, InputFormat, Options, OutputFormat, Reference, TextOrFile, ToolChoice,
    Wanted,
};
use crate::refusal::Refusal;
use agentx_core::schema::Money;
use agentx_core::schema::permission::PermissionMode;
use std::path::PathBuf;

/// Which of the standard streams is a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminals {
    /// Somebody types on stdin.
    pub(crate) stdin: bool,
    /// Somebody reads stdout.
    pub(crate) stdout: bool,
}

/// A run that was asked for without contradiction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Where prompts come from.
    pub(crate) source: Source,
    /// What stdout carries.
    pub(crate) output: OutputFormat,
    /// Id of the provider.
    pub(crate) provider: Option<String>,
    /// Reasoning effort.
    pub(crate) effort: Option<String>,
    /// Folder to work in.
    pub(crate) cwd: Option<PathBuf>,
    /// Further folders to work in.
    pub(crate) add_dirs: Vec<PathBuf>,
    /// Permission mode at the start; else settings choose it.
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Settings of the command line.
    pub(crate) settings: Option<TextOrFile>,
    /// Schema of the answer.
    pub(crate) json_schema: Option<TextOrFile>,
    /// Whether settings of the folder to work in count.
    pub(crate) trust_workspace: bool,
    /// Which built-in tools are offered.
    pub(crate) tools: ToolChoice,
    /// Model requests that one prompt may take (DEC-40).
    pub(crate) max_turns: Option<u32>,
    /// Money that the process may spend (DEC-40).
    pub(crate) max_budget: Option<Money>,
    /// Which session, and whether it is stored.
    pub(crate) session: Wanted,
    /// Echo user records.
    pub(crate) replay_user_messages: bool,
    /// Write `stream_event` records.
    pub(crate) include_partial_messages: bool,
    /// What runs the session.
    pub(crate) driver: Driver,
    /// What a host asks for, in the profile `reference`.
    pub(crate) reference: Option<Reference>,
}

/// Where prompts come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// One prompt: the argument, stdin where that is no terminal, or both.
    OneShot {
        /// The argument.
        argument: Option<String>,
        /// Whether there is text to read.
        stdin: bool,
    },
    /// A user at a terminal.
    Interactive {
        /// The argument: the first prompt.
        argument: Option<String>,
    },
    /// User records on stdin, after the argument if there is one.
    Records {
        /// The argument.
        argument: Option<String>,
    },
}

impl Options {
    /// The run these options ask for.
    ///
    /// # Errors
    ///
    /// Options that do not go together.
    pub(crate) fn plan(self, terminals: Terminals) -> Result<Plan, Refusal> {
        let input = self.input_format.unwrap_or_default();
        let output = self.output_format.unwrap_or_default();
        let headless =
            self.print || output != OutputFormat::Text || !(terminals.stdin && terminals.stdout);
        let source = match (input, output) {
            (InputFormat::StreamJson, OutputFormat::Text | OutputFormat::Json) => {
                return Err(Refusal::new(
                    "--input-format stream-json needs --output-format stream-json",
                ));
            }
            (InputFormat::StreamJson, OutputFormat::StreamJson) => Source::Records {
                argument: self.prompt,
            },
            (InputFormat::Text, _) if !headless => Source::Interactive {
                argument: self.prompt,
            },
            (InputFormat::Text, _) => Source::OneShot {
                argument: self.prompt,
                stdin: !terminals.stdin,
            },
        };
        if self.json_schema.is_some() && matches!(source, Source::Interactive { .. }) {
            return Err(Refusal::new(
                "--json-schema is for programs, not for a session on a terminal: expected --print",
            ));
        }
        let tools = match self.tools {
            _ if self.no_tools => ToolChoice::Only(Vec::new()),
            chosen => chosen.unwrap_or_default(),
        };
        Ok(Plan {
            reference: self.reference.map(|options| options.plan(&tools)),
            session: self.stored.wanted()?,
            source,
            output,
            provider: self.provider,
            effort: self.effort,
            cwd: self.cwd,
            add_dirs: self.add_dir,
            permission_mode: self.permission_mode,
            settings: self.settings,
            json_schema: self.json_schema,
            trust_workspace: self.trust_workspace,
            tools,
            max_turns: self.max_turns,
            max_budget: self.max_budget_usd,
            replay_user_messages: self.replay_user_messages,
            include_partial_messages: self.include_partial_messages,
            driver: self.driver.unwrap_or_default(),
        })
    }

    /// The logs that the command line asks for.
    pub(crate) fn debugging(&self) -> Debugging {
        let reference = self.reference.as_deref();
        reference
            .map(ReferenceOptions::debugging)
            .unwrap_or_default()
    }

    /// Whether the profile was chosen on the command line; else the environment
    /// may choose it.
    pub(crate) const fn names_profile(&self) -> bool {
        self.profile.is_some()
    }
}
