//! Lines that begin with `/`.

use super::plain::one_line;
use super::{Output, View};

/// What every command does, in the order of `/help`.
const COMMANDS: [(&str, &str); 4] = [
    ("help", "show this"),
    ("model", "show provider, model and effort"),
    ("sessions", "list the stored sessions, the newest first"),
    ("quit", "end the session, as Ctrl-D does"),
];

const KEYS: &str = "\
Ctrl-C interrupts the turn; a second time within 2 s, or at an empty prompt, it quits.
A line that begins with a space is a prompt, whatever follows.
";

impl View {
    /// A line without its `/`.
    pub(super) fn command(&mut self, line: &str) {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let known = COMMANDS.iter().any(|(known, _)| *known == name);
        if known && !rest.trim().is_empty() {
            return self.screen.error(&format!("/{name} takes no argument"));
        }
        match name {
            "help" => self.help(),
            "model" => self.model(),
            "sessions" => {
                self.listing = true;
                self.outputs.push_back(Output::List);
            }
            "quit" => self.end(Output::End),
            _ => {
                let names = COMMANDS.map(|(name, _)| format!("/{name}")).join(", ");
                let name = one_line(name);
                self.screen.error(&format!(
                    "unknown command /{name}: expected one of {names}; begin with a space to say it to the model"
                ));
            }
        }
    }

    fn help(&mut self) {
        for (name, what) in COMMANDS {
            self.screen.line(&format!("/{name:9} {what}"));
        }
        KEYS.lines().for_each(|line| self.screen.line(line));
    }

    pub(super) fn listed(&mut self, listed: Result<&str, &str>) {
        self.listing = false;
        match listed {
            Ok("") => self.screen.line("No session is stored."),
            Ok(sessions) => {
                sessions.lines().for_each(|line| self.screen.entry(line));
                self.screen.line("`agentx --resume ID` goes on with one.");
            }
            Err(fault) => self.screen.error(fault),
        }
    }

    fn model(&mut self) {
        let facts = &self.facts;
        let effort = match &facts.effort {
            Some(effort) => format!("effort {effort}"),
            None => "without reasoning efforts".to_owned(),
        };
        let (model, provider) = (&facts.model, &facts.provider);
        let told = format!("model {model} of provider {provider}, {effort}");
        let ids = facts.providers.join(", ");
        self.screen.line(&one_line(&told));
        self.screen.line(&one_line(&format!(
            "Both are fixed for this process; another one takes --provider ID and --effort E. Providers: {ids}"
        )));
    }
}
