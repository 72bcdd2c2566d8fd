//! Bounds of settings and rules (configuration, "`settings.json`"). Those of
//! files are checked where a file is read, before there is a session; going past
//! one is an error that names file and member.

/// One settings file, or the text of `--settings`.
pub const FILE_BYTES: usize = 1 << 20;

/// Entries of one list.
pub const LIST_ENTRIES: usize = 4096;

/// One rule.
pub const RULE_BYTES: usize = 16 * 1024;

/// The name in a rule.
pub const NAME_BYTES: usize = 128;

/// One path, of a directory or of a call that rules look at.
pub const PATH_BYTES: usize = 4096;

/// Command tools of one file.
pub const TOOLS: usize = 128;

/// Hooks of one file.
pub const HOOKS: usize = 128;

/// How long a command tool or a hook may run where it does not say, in milliseconds.
pub const TIMEOUT_MS: u64 = 60_000;

/// A shell command line that rules look into; the shell takes no longer one.
pub const COMMAND_LINE_BYTES: usize = 128 * 1024;
