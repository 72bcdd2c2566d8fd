//! Rules of the command line, which join those of `--settings`.

use super::check::takes_content;
use super::{Loaded, Refusal};
use agentx_core::policy::{Layer, Settings, edit, read_rule};
use agentx_core::schema::permission::{
    Behavior, Destination, PermissionRule, PermissionUpdate, RulesAction, RulesUpdate,
};
use agentx_tools::builtin_specs;

/// What a rule for tools of MCP servers begins with.
const MCP: &str = "mcp__";

/// All tools of an MCP server, as some hosts write it.
const ANY_TOOL: &str = "__*";

/// An option that gives rules.
struct Giver {
    name: &'static str,
    behavior: Behavior,
}

const ALLOWED: Giver = Giver {
    name: "--allowedTools",
    behavior: Behavior::Allow,
};

const DISALLOWED: Giver = Giver {
    name: "--disallowedTools",
    behavior: Behavior::Deny,
};

/// What rules of the command line come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ruled {
    /// Names of tools that are refused in every call.
    pub(crate) withheld: Vec<String>,
    /// The rules, for a layer that lacks them.
    pub(crate) rules: Vec<PermissionUpdate>,
}

/// What becomes of a rule.
enum Fate {
    Kept(PermissionRule),
    /// It changes nothing, and why.
    Dropped(String),
}

impl Loaded {
    /// Adds rules to the layer of the command line.
    ///
    /// # Errors
    ///
    /// A rule that should deny and cannot be understood. One that should allow is
    /// told of and left out: the call is asked about then.
    pub(crate) fn add_rules(
        &mut self,
        allow: &[String],
        deny: &[String],
    ) -> Result<Ruled, Refusal> {
        if allow.is_empty() && deny.is_empty() {
            return Ok(Ruled::default());
        }
        let allow = self.rules(&ALLOWED, allow)?;
        let deny = self.rules(&DISALLOWED, deny)?;
        let bare = deny.iter().filter(|rule| rule.rule_content.is_none());
        let withheld = bare.map(|rule| rule.tool_name.clone()).collect();
        let flag = self
            .layers
            .sources()
            .find(|source| source.layer == Layer::Flag);
        // The text says what holds, for whoever reads or changes it later.
        let text = flag.map(|flag| flag.value.text().as_str());
        let updates = [(Behavior::Allow, allow), (Behavior::Deny, deny)];
        let updates = updates.map(|(behavior, rules)| {
            PermissionUpdate::Rules(RulesUpdate {
                action: RulesAction::Add,
                rules,
                behavior,
                destination: Destination::Session,
            })
        });
        let text = edit(text, &updates, "").map_err(Refusal::new)?;
        let settings = Settings::read_guarded(text.as_bytes(), &self.keys);
        self.layers
            .set(Layer::Flag, settings.map_err(Refusal::new)?);
        Ok(Ruled {
            withheld,
            rules: updates.into(),
        })
    }

    fn rules(&mut self, option: &Giver, texts: &[String]) -> Result<Vec<PermissionRule>, Refusal> {
        let mut rules = Vec::new();
        for text in texts {
            match self.rule(option, text)? {
                Fate::Kept(rule) => rules.push(rule),
                Fate::Dropped(why) => {
                    let name = option.name;
                    let note = format!("warning: {name}: rule {text:?} has no effect: {why}");
                    self.notes.push(self.keys.redact(&note).into_owned());
                }
            }
        }
        Ok(rules)
    }

    fn rule(&self, option: &Giver, text: &str) -> Result<Fate, Refusal> {
        let whole = text.strip_suffix(ANY_TOOL);
        // Of `mcp__*` no server would be left.
        let whole = whole.filter(|server| server.starts_with(MCP));
        let spelled = whole.unwrap_or(text);
        let refused = |why: &str| match option.behavior {
            Behavior::Allow => Ok(Fate::Dropped(why.to_owned())),
            Behavior::Ask | Behavior::Deny => {
                let what = format!("{}: rule {text:?}: {why}", option.name);
                Err(Refusal::new(self.keys.redact(&what)))
            }
        };
        let rule = match read_rule(spelled, option.behavior) {
            Ok(rule) => rule,
            Err(fault) => return refused(&fault.to_string()),
        };
        if may_be_several(text) {
            return refused("its brackets do not match, so that it may be several rules");
        }
        let builtin = builtin_specs();
        let name = &*rule.tool_name;
        let ours = builtin.iter().any(|spec| *spec.name == *name);
        let known = ours
            || name.starts_with(MCP)
            || self
                .layers
                .tools()
                .iter()
                .any(|tool| *tool.value.declared.name == *name);
        if !known {
            return Ok(Fate::Dropped("no tool has that name".to_owned()));
        }
        if rule.rule_content.is_some() && !takes_content(&builtin, name) {
            return refused("brackets are for Bash and for tools that name a path");
        }
        Ok(Fate::Kept(rule))
    }
}

/// Whether a list may have been cut at the wrong place: of brackets that do not
/// match nobody knows which one ends a rule.
fn may_be_several(text: &str) -> bool {
    let brackets = |bracket| text.matches(bracket).count();
    let mut ends = text.split(')').skip(1);
    brackets('(') != brackets(')')
        && ends.any(|rest| rest.starts_with(|next: char| next == ',' || next.is_whitespace()))
}
