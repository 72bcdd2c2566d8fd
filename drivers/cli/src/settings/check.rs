//! Settings against the tools that there are.

use super::{Loaded, Refusal, refusal};
use agentx_core::policy::{Sourced, write_rule};
use agentx_core::schema::permission::Behavior;
use agentx_core::tool::ToolSpec;
use agentx_tools::{CommandTool, CommandTools, builtin_specs};
use std::collections::BTreeSet;

/// The tool whose rules are about commands.
const SHELL: &str = "Bash";

impl Loaded {
    /// The command tools. Refuses settings that do not fit the tools, and notes
    /// rules that name a tool nobody has.
    ///
    /// # Errors
    ///
    /// A command tool that cannot be; a rule with brackets for a tool whose
    /// calls name neither path nor command.
    pub(crate) fn check(&mut self) -> Result<CommandTools, Refusal> {
        let builtin = builtin_specs();
        let tools = self.layers.tools();
        let mut known: BTreeSet<&str> = tools
            .iter()
            .map(|tool| &*tool.value.declared.name)
            .collect();
        known.extend(builtin.iter().map(|spec| &*spec.name));
        let mut notes = Vec::new();
        for Sourced { layer, value } in self.layers.sources() {
            let file = self.names.get(&layer).map_or("", String::as_str);
            for (at, tool) in value.tools.iter().enumerate() {
                // One that a higher layer replaces has to be right, too.
                CommandTool::new(tool.declared.clone()).map_err(|fault| {
                    let fault = format!("tools[{at}].{fault}");
                    refusal(file, self.keys.redact(&fault))
                })?;
            }
            for behavior in Behavior::ALL {
                let rules = value.permissions.rules(*behavior);
                for (at, rule) in rules.iter().enumerate() {
                    let place = format!("permissions.{}[{at}]", behavior.as_str());
                    let shown = write_rule(rule, *behavior).unwrap_or_default();
                    let shown = self.keys.redact(&shown);
                    if rule.rule_content.is_some() && !takes_content(&builtin, &rule.tool_name) {
                        let what = format!(
                            "{place}: rule {shown:?}: brackets are for Bash and for tools that name a path"
                        );
                        return Err(refusal(file, what));
                    }
                    let name = &*rule.tool_name;
                    if !known.contains(name) && !name.starts_with("mcp__") {
                        let name = self.keys.redact(name);
                        notes.push(format!(
                            "warning: {file}: {place}: no tool has the name {name:?}"
                        ));
                    }
                }
            }
        }
        let commands = tools
            .iter()
            .map(|tool| CommandTool::new(tool.value.declared.clone()));
        let commands: Vec<CommandTool> =
            commands.collect::<Result<_, _>>().map_err(Refusal::new)?;
        let commands = CommandTools::new(commands);
        self.notes.extend(notes);
        commands.map_err(|fault| refusal("settings", fault))
    }
}

/// Whether calls of a tool name something that brackets of a rule could mean.
pub(super) fn takes_content(builtin: &[ToolSpec], name: &str) -> bool {
    let of_path = |spec: &ToolSpec| *spec.name == *name && spec.path_member.is_some();
    name == SHELL || builtin.iter().any(of_path)
}
