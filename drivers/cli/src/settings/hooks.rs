//! Hooks of the settings, against the tools that there are.

use super::{Loaded, Refusal, refusal};
use agentx_core::hook::{Hook, HookEvent, Hooks, Matcher};
use agentx_core::policy::Sourced;
use agentx_core::tool::NETWORK_TOOL;
use agentx_tools::{CommandTools, HookCommand, HookCommands, builtin_specs, resolve_matcher};

impl Loaded {
    /// The hooks and, in the same order, what they run. Notes hooks that will
    /// never run.
    ///
    /// # Errors
    ///
    /// A hook whose command or matcher is wrong, by its file and place.
    pub(crate) fn hooks(&mut self, tools: &CommandTools) -> Result<(Hooks, HookCommands), Refusal> {
        let builtin = builtin_specs();
        let names = || {
            let builtin = builtin.iter().map(|spec| &*spec.name);
            builtin.chain(tools.names()).chain([NETWORK_TOOL])
        };
        let (mut list, mut commands, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for Sourced { layer, value } in self.layers.hooks() {
            let file = self.names.get(&layer).map_or("", String::as_str);
            let command = HookCommand::new(&value.command, value.timeout);
            let command =
                command.map_err(|fault| refusal(file, format_args!("{}.{fault}", value.place)))?;
            let matcher = resolve_matcher(&value.matcher, names())
                .map_err(|fault| refusal(file, format_args!("{}: {fault}", value.matcher_place)))?;
            if matches!(&matcher, Matcher::Tools(tools) if tools.is_empty()) {
                let place = &value.matcher_place;
                notes.push(format!("warning: {file}: {place}: no tool has such a name"));
            }
            if value.event == HookEvent::PreCompact {
                let place = &value.place;
                notes.push(format!(
                    "warning: {file}: {place}: conversations are not shortened yet; this hook never runs"
                ));
            }
            list.push(Hook {
                event: value.event,
                pattern: match &matcher {
                    Matcher::All => None,
                    Matcher::Tools(_) => Some(value.matcher.as_str().into()),
                },
                matcher,
                timeout: command.timeout(),
                callback: None,
            });
            commands.push(command);
        }
        self.notes.extend(notes);
        let hooks = Hooks {
            list: list.into(),
            // No file holds a session by itself.
            transcript_path: String::new(),
            records: true,
        };
        let commands = HookCommands::new(commands);
        commands
            .map(|commands| (hooks, commands))
            .map_err(|fault| refusal("settings", fault))
    }
}
