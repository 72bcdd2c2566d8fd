//! A shell command line, read as far as permission rules need it: its commands
//! and their words, quotes taken away, whatever runs inside substitutions too.

use crate::policy::limits::COMMAND_LINE_BYTES;
use alloc::string::String;
use alloc::vec::Vec;

/// Substitutions inside one another.
const DEPTH: u32 = 16;

/// Words of one line that are kept; a longer one is not read to its end, so
/// that many rules cannot make a call take long.
const WORDS: usize = 8192;

/// What a line runs.
#[derive(Debug)]
pub(super) struct Line {
    /// Every command that was found, in no particular order.
    pub(super) commands: Vec<Command>,
    /// Whether there is nothing in the line but words, quotes, separators and
    /// redirections that touch no file.
    pub(super) plain: bool,
    /// Whether there may be commands that were not found.
    pub(super) lost: bool,
}

/// One command: its words without redirections.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// Whether it has redirections.
    pub(super) redirected: bool,
}

/// One word.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// Its text without quotes, as far as it is known.
    pub(super) text: String,
    /// Whether the shell will take exactly this text.
    pub(super) literal: bool,
    /// Whether some of it was quoted.
    pub(super) quoted: bool,
    /// Whether it is `NAME=…` or `NAME+=…`.
    pub(super) assigns: bool,
}

impl Word {
    const fn new() -> Self {
        Self {
            text: String::new(),
            literal: true,
            quoted: false,
            assigns: false,
        }
    }

    /// Whether this text, all of the word so far, names a variable.
    fn is_name(&self) -> bool {
        let name = self.text.strip_suffix('+').unwrap_or(&self.text);
        let mut chars = name.chars();
        let first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
        self.literal && !self.quoted && chars.next().is_some_and(first) && chars.all(rest)
    }
}

impl Word {
    /// Whether quotes keep a substitution in it that a builtin may yet expand,
    /// such as in the subscript of `printf -v 'a[$(x)]'`.
    pub(super) fn substitutes(&self) -> bool {
        self.text.contains("$(") || self.text.contains('`')
    }
}

/// Whether a character may mean something to a shell, rather than itself.
pub(super) fn is_special(c: char) -> bool {
    !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/' | ',' | ':' | '+' | '@' | '%')
}

/// Reads a line.
pub(super) fn read(text: &str) -> Line {
    let mut reader = Reader {
        chars: Vec::new(),
        at: 0,
        depth: 0,
        words: 0,
        line: Line {
            commands: Vec::new(),
            plain: true,
            lost: false,
        },
    };
    // The shell joins lines before it looks for words, which moves everything.
    reader.line.lost = text.contains("\\\n");
    if text.len() > COMMAND_LINE_BYTES {
        reader.line.lost = true;
    } else {
        reader.chars = text.chars().collect();
        reader.commands(None);
    }
    reader.line
}

/// Where a redirection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// A file.
    File,
    /// A descriptor.
    Descriptor,
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    depth: u32,
    words: usize,
    line: Line,
}

/// The command under way.
struct State {
    command: Command,
    word: Option<Word>,
    target: Option<Target>,
}

impl State {
    fn new() -> Self {
        Self {
            command: Command::default(),
            word: None,
            target: None,
        }
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_with(Word::new)
    }
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    /// Leaves the rest unread.
    fn give_up(&mut self) {
        self.line.lost = true;
        self.at = self.chars.len();
    }

    /// Reads commands up to the bracket that closes them, or the end.
    fn commands(&mut self, end: Option<char>) {
        if self.depth >= DEPTH {
            return self.give_up();
        }
        self.depth += 1;
        let mut state = State::new();
        let mut open = 0_u32;
        loop {
            let Some(c) = self.next() else {
                self.line.lost |= end.is_some();
                break;
            };
            match c {
                ')' if end == Some(')') && open == 0 => break,
                '(' | ')' => {
                    self.line.plain = false;
                    self.end_command(&mut state);
                    open = if c == '(' {
                        open.saturating_add(1)
                    } else {
                        open.saturating_sub(1)
                    };
                }
                ' ' | '\t' => self.end_word(&mut state),
                // `&>` is one redirection to some shells and to others two commands.
                ';' | '\n' | '&' | '|' => self.end_command(&mut state),
                '<' | '>' => {
                    end_descriptor(&mut state);
                    self.end_word(&mut state);
                    self.redirection(&mut state, c);
                }
                '#' if state.word.is_none() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                c => self.in_word(state.word(), c),
            }
        }
        self.end_command(&mut state);
        self.depth -= 1;
    }

    /// One character of a word, and what belongs to it.
    fn in_word(&mut self, word: &mut Word, c: char) {
        match c {
            '\'' => {
                word.quoted = true;
                self.single_quoted(word);
            }
            '"' => {
                word.quoted = true;
                self.double_quoted(word);
            }
            '\\' => {
                self.line.plain = false;
                word.quoted = true;
                match self.next() {
                    Some('\n') => {}
                    Some(c) => word.text.push(c),
                    None => self.line.lost = true,
                }
            }
            '$' => self.expansion(word, false),
            '`' => self.backquoted(word),
            c => {
                let expands =
                    matches!(c, '*' | '?' | '[' | '{') || c == '~' && word.text.is_empty();
                word.assigns |= c == '=' && word.is_name();
                word.literal &= !expands;
                self.line.plain &= !c.is_control();
                word.text.push(c);
            }
        }
    }

    fn single_quoted(&mut self, word: &mut Word) {
        loop {
            match self.next() {
                Some('\'') => return,
                Some(c) => word.text.push(c),
                None => {
                    self.line.lost = true;
                    return;
                }
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) {
        loop {
            match self.next() {
                Some('"') => return,
                Some('$') => self.expansion(word, true),
                Some('`') => self.backquoted(word),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                    Some(c) => word.text.extend(['\\', c]),
                    None => self.line.lost = true,
                },
                Some(c) => word.text.push(c),
                None => {
                    self.line.lost = true;
                    return;
                }
            }
        }
    }

    /// What follows a `$`.
    fn expansion(&mut self, word: &mut Word, quoted: bool) {
        self.line.plain = false;
        word.literal = false;
        match self.peek() {
            Some('(') => {
                self.at += 1;
                self.commands(Some(')'));
            }
            Some('{') if self.depth >= DEPTH => self.give_up(),
            Some('{') => {
                self.at += 1;
                self.depth += 1;
                self.braces(quoted);
                self.depth -= 1;
            }
            Some('\'') if !quoted => {
                self.at += 1;
                self.escaped_quotes();
            }
            // `$"…"` is read as the quotes it is, `$$`, `$1` and names as text.
            _ => {}
        }
    }

    /// `${…}` up to its end.
    fn braces(&mut self, quoted: bool) {
        let mut inner = Word::new();
        loop {
            match self.next() {
                Some('}') => return,
                Some('$') => self.expansion(&mut inner, quoted),
                Some('`') => self.backquoted(&mut inner),
                Some('"') => self.double_quoted(&mut inner),
                Some('\'') if !quoted => self.single_quoted(&mut inner),
                Some('\\') => self.at = self.at.saturating_add(1),
                Some(_) => {}
                None => {
                    self.line.lost = true;
                    return;
                }
            }
        }
    }

    /// `$'…'` up to its end.
    fn escaped_quotes(&mut self) {
        loop {
            match self.next() {
                Some('\'') => return,
                Some('\\') => self.at = self.at.saturating_add(1),
                Some(_) => {}
                None => {
                    self.line.lost = true;
                    return;
                }
            }
        }
    }

    /// `` `…` `` up to its end; what is inside is a line of its own.
    fn backquoted(&mut self, word: &mut Word) {
        self.line.plain = false;
        word.literal = false;
        let mut inner = Vec::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some(c) => inner.extend(['\\', c]),
                    None => self.line.lost = true,
                },
                Some(c) => inner.push(c),
                None => {
                    self.line.lost = true;
                    break;
                }
            }
        }
        let outer = core::mem::replace(&mut self.chars, inner);
        let at = core::mem::replace(&mut self.at, 0);
        self.commands(None);
        self.chars = outer;
        self.at = at;
    }

    /// What follows the first character of a redirection.
    fn redirection(&mut self, state: &mut State, first: char) {
        state.command.redirected = true;
        if self.take('(') {
            self.line.plain = false;
            let word = state.word();
            word.literal = false;
            self.commands(Some(')'));
            return;
        }
        state.target = Some(Target::File);
        if first == '<' && self.take('<') {
            self.line.plain = false;
            // The lines of a here-document are no commands, or are: who knows.
            self.line.lost |= !self.take('<');
            return;
        }
        if !self.take('>') && first == '>' {
            self.take('|');
        }
        if self.take('&') {
            state.target = Some(Target::Descriptor);
        }
    }

    fn end_word(&mut self, state: &mut State) {
        let Some(word) = state.word.take() else {
            return;
        };
        self.line.plain &= !word.substitutes();
        self.words += 1;
        if self.words > WORDS {
            return self.give_up();
        }
        match state.target.take() {
            None => state.command.words.push(word),
            Some(target) => {
                let number = !word.text.is_empty() && word.text.chars().all(|c| c.is_ascii_digit());
                let harmless = match target {
                    Target::Descriptor => number || word.text == "-",
                    Target::File => word.text == "/dev/null",
                };
                self.line.plain &= harmless && word.literal;
            }
        }
    }

    fn end_command(&mut self, state: &mut State) {
        self.end_word(state);
        self.line.lost |= state.target.take().is_some();
        let command = core::mem::take(&mut state.command);
        if !command.words.is_empty() {
            self.line.commands.push(command);
        } else if command.redirected {
            self.line.plain = false;
        }
    }
}

/// A number right before a redirection is its descriptor.
fn end_descriptor(state: &mut State) {
    let number =
        |word: &Word| word.literal && !word.quoted && word.text.chars().all(|c| c.is_ascii_digit());
    if state.target.is_none() && state.word.as_ref().is_some_and(number) {
        state.word = None;
    }
}
