//! Shell command lines against `prefix:*` patterns, command by command.
//!
//! The judgement is one-sided. A pattern that allows has to cover every command
//! of a line that holds nothing but words, quotes, separators and harmless
//! redirections. A pattern that denies or asks is looked for in every command,
//! inside substitutions and after commands that run other commands too; where a
//! line hides what it runs, the answer is [`Found::Unclear`], and somebody has
//! to be asked. This is no sandbox: a program that was allowed may run others.

use super::Found;
use super::shell::{self, Command, Line, Word};
use alloc::string::String;
use alloc::vec::Vec;

/// Commands that run what their later words say.
const WRAPPERS: &[&str] = &[
    ".",
    "ash",
    "bash",
    "builtin",
    "busybox",
    "chroot",
    "chrt",
    "command",
    "compgen",
    "complete",
    "coproc",
    "dash",
    "doas",
    "env",
    "eval",
    "exec",
    "fakeroot",
    "fd",
    "find",
    "fish",
    "flock",
    "function",
    "hash",
    "ionice",
    "ksh",
    "ltrace",
    "mapfile",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "prlimit",
    "readarray",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "sh",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "trap",
    "unshare",
    "valgrind",
    "watch",
    "xargs",
    "zsh",
];

/// Commands that read what to run from stdin where no word says it.
const READERS: &[&str] = &[
    "ash", "bash", "dash", "fish", "ksh", "parallel", "sh", "zsh",
];

/// Commands that run the file that they are given.
const RUNS_FILES: &[&str] = &[
    ".", "ash", "bash", "dash", "fish", "ksh", "sh", "source", "zsh",
];

/// Commands after which names no longer mean what they say, and `case`, whose
/// patterns are hard to tell from the end of brackets.
const RENAMERS: &[&str] = &["alias", "case", "shopt"];

/// Variables whose text is run.
const RUN_VARIABLES: &[&str] = &["BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4"];

/// Words of the grammar after which a command may stand.
const KEYWORDS: &[&str] = &[
    "!", "do", "elif", "else", "if", "then", "until", "while", "{", "}",
];

/// How deep command lines in words of command lines are read.
const DEPTH: u32 = 8;

/// A command line as rules look at it.
#[derive(Debug)]
pub(super) struct Script {
    text: String,
    /// Its commands, where it is made of nothing else.
    plain: Option<Vec<Command>>,
    /// Whatever it may run, as far as that can be seen.
    runs: Vec<Run>,
    /// Whether it may run more than that.
    hides: bool,
}

/// Words that are run as a command.
#[derive(Debug)]
struct Run {
    words: Vec<Word>,
    /// Whether the words after the first may be commands, too.
    wraps: bool,
    /// Whether it is certain that they are run.
    sure: bool,
}

impl Script {
    pub(super) fn read(text: String) -> Self {
        let line = shell::read(&text);
        let mut script = Self {
            text,
            plain: None,
            runs: Vec::new(),
            hides: false,
        };
        script.look(&line, DEPTH, true);
        if line.plain && !line.lost && !line.commands.is_empty() {
            script.plain = Some(line.commands);
        }
        script
    }

    fn look(&mut self, line: &Line, depth: u32, sure: bool) {
        self.hides |= line.lost;
        for command in &line.commands {
            let skipped = |word: &&Word| word.assigns || is_keyword(word);
            let start = command.words.iter().take_while(skipped).count();
            let (before, words) = command.words.split_at_checked(start).unwrap_or_default();
            self.hides |= before
                .iter()
                .any(|word| is_assignment_of(word, RUN_VARIABLES));
            let first = words.first().filter(|first| first.literal);
            let is =
                |names: &[&str]| first.is_some_and(|first| names.contains(&name_of(&first.text)));
            let wraps = is(WRAPPERS);
            let options = |word: &Word| word.literal && word.text.starts_with('-');
            self.hides |= is(RENAMERS) || is(READERS) && words.iter().skip(1).all(options);
            self.hides |= wraps
                && words.iter().any(|word| is_program(word, RUNS_FILES))
                && words.iter().any(is_stream);
            if wraps && words.iter().any(|word| is_program(word, &["env"])) {
                for split in words.iter().filter_map(split_string) {
                    self.look_deeper(split, depth, sure);
                }
            }
            for (at, word) in command.words.iter().enumerate() {
                self.look_into(word, depth, sure, wraps && at > start);
            }
            if !words.is_empty() {
                self.runs.push(Run {
                    words: words.to_vec(),
                    wraps,
                    sure,
                });
            }
        }
    }

    /// Looks into the text of a word: what a wrapper runs, or what a builtin
    /// may yet expand.
    fn look_into(&mut self, word: &Word, depth: u32, sure: bool, runs: bool) {
        if !(runs && word.text.contains(shell::is_special) || word.substitutes()) {
            return;
        }
        self.hides |= runs && !word.literal;
        self.look_deeper(&word.text, depth, sure && runs);
    }

    fn look_deeper(&mut self, text: &str, depth: u32, sure: bool) {
        match depth.checked_sub(1) {
            Some(depth) => self.look(&shell::read(text), depth, sure),
            None => self.hides = true,
        }
    }

    /// Whether the patterns of rules that allow cover the whole line together.
    pub(super) fn is_covered<'a>(&self, patterns: impl Iterator<Item = &'a str> + Clone) -> bool {
        let same = |pattern: &str| pattern == self.text && !pattern.ends_with(ANY);
        if patterns.clone().any(same) {
            return true;
        }
        let Some(commands) = &self.plain else {
            return false;
        };
        let patterns: Vec<Pattern> = patterns.filter_map(Pattern::read).collect();
        let covers = |pattern: &Pattern, command: &Command| {
            pattern.begins(&command.words, Name::Exact) == Found::Yes
        };
        commands
            .iter()
            .all(|command| patterns.iter().any(|pattern| covers(pattern, command)))
    }

    /// Whether the line runs what the pattern of a rule that restrains stands for.
    pub(super) fn runs(&self, pattern: &str) -> Found {
        if self.text.trim() == pattern.trim() {
            return Found::Yes;
        }
        let Some(pattern) = Pattern::read(pattern) else {
            // A pattern that is no single command is looked for as it is written.
            let part = pattern.strip_suffix(ANY).unwrap_or(pattern);
            let found = self.text.contains(part);
            return if found { Found::Yes } else { self.nothing() };
        };
        let runs = self.runs.iter().map(|run| run.is(&pattern));
        runs.fold(self.nothing(), Found::max)
    }

    /// What it means that nothing was found.
    const fn nothing(&self) -> Found {
        if self.hides {
            Found::Unclear
        } else {
            Found::No
        }
    }
}

impl Run {
    fn is(&self, pattern: &Pattern) -> Found {
        let last = if self.wraps { self.words.len() } else { 1 };
        let from = |at: usize| self.words.get(at..).unwrap_or_default();
        let found = (0..last).map(|at| pattern.begins(from(at), Name::AnyPath));
        let found = found.fold(Found::No, Found::max);
        if self.sure {
            found
        } else {
            found.min(Found::Unclear)
        }
    }
}

fn is_keyword(word: &Word) -> bool {
    KEYWORDS.iter().any(|keyword| is_plain(word, keyword))
}

/// Whether the word is this one and not quoted.
fn is_plain(word: &Word, text: &str) -> bool {
    !word.quoted && word.text == text
}

/// Whether the word names one of these programs, under any path.
fn is_program(word: &Word, names: &[&str]) -> bool {
    word.literal && names.contains(&name_of(&word.text))
}

/// Whether the word is a file such as `/dev/stdin`, whose text the line may hold
/// itself.
fn is_stream(word: &Word) -> bool {
    name_of(&word.text) == "stdin" || word.text.contains("/fd/")
}

/// The command line in an option of `env` such as `-Sls` or `--split-string=ls`.
fn split_string(word: &Word) -> Option<&str> {
    match word.text.strip_prefix("--s") {
        Some(long) => long.split_once('=').map(|(_, rest)| rest),
        None => word
            .text
            .strip_prefix('-')?
            .split_once('S')
            .map(|(_, rest)| rest),
    }
}

/// Whether the word gives one of these variables a value.
fn is_assignment_of(word: &Word, names: &[&str]) -> bool {
    let name = word.text.split(['=', '+']).next().unwrap_or_default();
    word.assigns && names.contains(&name)
}

/// The name of a program that is named by its path.
fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The end of a pattern that stands for everything that begins so.
const ANY: &str = ":*";

/// How the program's name is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// As it is written.
    Exact,
    /// A path that ends in the name is the same program.
    AnyPath,
}

/// A pattern that is one command, or the beginning of one.
#[derive(Debug)]
struct Pattern {
    words: Vec<Word>,
    /// Whether further words may follow.
    open: bool,
}

impl Pattern {
    fn read(text: &str) -> Option<Self> {
        let prefix = text.strip_suffix(ANY);
        let mut line = shell::read(prefix.unwrap_or(text));
        let command = line.commands.pop().filter(|_| line.commands.is_empty())?;
        let literal = command.words.iter().all(|word| word.literal) && !command.redirected;
        (line.plain && !line.lost && literal).then_some(Self {
            words: command.words,
            open: prefix.is_some(),
        })
    }

    /// Whether these words begin with the pattern's, or are those.
    fn begins(&self, words: &[Word], name: Name) -> Found {
        if !self.open && words.len() > self.words.len() {
            return Found::No;
        }
        let mut found = Found::Yes;
        for (at, expected) in self.words.iter().enumerate() {
            let Some(word) = words.get(at) else {
                // One that is not known may stand for several.
                return found.unless_sure();
            };
            let path = at == 0 && name == Name::AnyPath;
            let same = word.text == expected.text || path && name_of(&word.text) == expected.text;
            match (word.literal, same) {
                (true, true) => {}
                (true, false) => return found.unless_sure(),
                (false, _) => found = Found::Unclear,
            }
        }
        found
    }
}

impl Found {
    /// What is left of a match that ends here.
    const fn unless_sure(self) -> Self {
        match self {
            Self::Yes | Self::No => Self::No,
            Self::Unclear => Self::Unclear,
        }
    }
}

#[cfg(test)]
mod tests;
