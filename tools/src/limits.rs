//! Every bound of this crate, by name.

use std::time::Duration;

/// Bounds of the tool bodies. The defaults are what the specification says
/// (configuration, "Built-in tools"; DEC-34) or, where it is silent, our own.
///
/// Characters are Unicode scalar values; a bound on text includes the note
/// that tells of the cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// Characters of a Bash result (DEC-34).
    pub bash_output_chars: usize,
    /// Characters of any other tool's result (DEC-34).
    pub output_chars: usize,
    /// How long a Bash command runs when the call does not say.
    pub bash_timeout: Duration,
    /// How long a Bash command may run at most.
    pub bash_timeout_max: Duration,
    /// Bytes of a Bash command; the system's own bound for one argument.
    pub command_bytes: usize,
    /// Bytes of stdout in which a command tool can answer with an object; a
    /// longer answer is plain text.
    pub command_answer_bytes: usize,
    /// Characters shown of the end of a failed command tool's stderr.
    pub command_stderr_chars: usize,
    /// Bytes of output that the file of a background task takes (WIRE-004).
    pub task_file_bytes: u64,
    /// Bytes of stdout that are a hook's answer; a hook that prints more has failed.
    pub hook_answer_bytes: usize,
    /// Characters of each stream of a hook that are shown (records, `hook_response`).
    pub hook_output_chars: usize,
    /// How often what a hook writes is told of while it runs, at most (records,
    /// `hook_progress`).
    pub hook_progress_every: Duration,
    /// How the processes of a child are ended.
    pub ending: EndingLimits,
    /// Lines of one Read.
    pub read_lines: u64,
    /// Characters shown of one line by Read.
    pub read_line_chars: usize,
    /// Bytes Read goes through to find and show the lines it was asked for.
    pub read_bytes: u64,
    /// Size of a file that Edit takes, and of what it makes of it, in bytes.
    pub edit_bytes: u64,
    /// Paths of one Glob.
    pub glob_results: usize,
    /// Lines or files of one Grep.
    pub grep_results: usize,
    /// Characters shown of one line by Grep.
    pub grep_line_chars: usize,
    /// Size of a file that Grep looks into, in bytes.
    pub grep_file_bytes: u64,
    /// Bytes of memory of a compiled pattern of Grep. What a search takes is
    /// bounded by this and the length of the text.
    pub grep_program_bytes: usize,
    /// Bytes of a pattern of Glob and Grep.
    pub pattern_bytes: usize,
    /// Entries that Glob and Grep look at in one call.
    pub walk_entries: u64,
    /// Folders below the first that Glob and Grep go down.
    pub walk_depth: usize,
    /// What is kept to put files back.
    pub checkpoints: CheckpointLimits,
}

/// What is kept to put files back to a checkpoint. Past a sum, the oldest
/// checkpoints are given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointLimits {
    /// Size of a file whose content is kept, in bytes.
    pub file_bytes: u64,
    /// Content of all files and checkpoints together, in bytes.
    pub kept_bytes: u64,
    /// Checkpoints with content, each in a file of its own.
    pub kept_checkpoints: usize,
    /// Files, counted once for each checkpoint.
    pub kept_files: usize,
}

impl Default for CheckpointLimits {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            kept_bytes: 256 << 20,
            kept_checkpoints: 100,
            kept_files: 4_096,
        }
    }
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            bash_output_chars: 30_000,
            output_chars: 100_000,
            bash_timeout: Duration::from_secs(120),
            bash_timeout_max: Duration::from_secs(600),
            command_bytes: 131_071,
            command_answer_bytes: 4 << 20,
            command_stderr_chars: 4_000,
            task_file_bytes: 16 << 20,
            hook_answer_bytes: 1 << 20,
            hook_output_chars: 30_000,
            hook_progress_every: Duration::from_secs(1),
            ending: EndingLimits::default(),
            read_lines: 2_000,
            read_line_chars: 2_000,
            read_bytes: 256 << 20,
            edit_bytes: 16 << 20,
            glob_results: 1_000,
            grep_results: 100,
            grep_line_chars: 500,
            grep_file_bytes: 16 << 20,
            grep_program_bytes: 1 << 20,
            pattern_bytes: 4_096,
            walk_entries: 200_000,
            walk_depth: 128,
            checkpoints: CheckpointLimits::default(),
        }
    }
}

/// How long each step of ending a child may take. The sum stays under the 5 s
/// in which the process must exit after a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingLimits {
    /// From SIGTERM to SIGKILL.
    pub term_grace: Duration,
    /// From SIGKILL until a child that still does not end is given up.
    pub kill_wait: Duration,
    /// How long output is still read after the child ended: its group is dead
    /// then, but a process that left the group may hold the pipe.
    pub aftermath: Duration,
}

impl Default for EndingLimits {
    fn default() -> Self {
        Self {
            term_grace: Duration::from_secs(2),
            kill_wait: Duration::from_secs(1),
            aftermath: Duration::from_millis(500),
        }
    }
}

/// Command tools of a session.
pub(crate) const MAX_COMMAND_TOOLS: usize = 128;

/// Bytes of the name of a command tool: what model APIs take.
pub(crate) const TOOL_NAME_BYTES: usize = 64;

/// Bytes of what the model is told of a command tool.
pub(crate) const TOOL_DESCRIPTION_BYTES: usize = 16 << 10;

/// Bytes of the schema of a command tool's input.
pub(crate) const TOOL_SCHEMA_BYTES: usize = 64 << 10;

/// Words of the command of a command tool.
pub(crate) const COMMAND_WORDS: usize = 256;

/// Bytes of one such word.
pub(crate) const COMMAND_WORD_BYTES: usize = 64 << 10;

/// Hooks of a session.
pub(crate) const MAX_HOOKS: usize = 128;

/// How long a hook may run at most.
pub(crate) const MAX_HOOK_TIMEOUT: Duration = Duration::from_secs(600);

/// Bytes of the matcher of a hook.
pub(crate) const MATCHER_BYTES: usize = 1_024;

/// Bytes of memory of a matcher that is compiled.
pub(crate) const MATCHER_PROGRAM_BYTES: usize = 1 << 20;

/// How long a command tool may run at most.
pub(crate) const MAX_COMMAND_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Parts of a command tool's answer that are passed on.
pub(crate) const MAX_ANSWER_PARTS: usize = 64;

/// Bytes of a path that a call names.
pub(crate) const MAX_PATH_BYTES: usize = 4_096;

/// Symbolic links followed while one path is resolved.
pub(crate) const MAX_LINKS: usize = 40;

/// Bytes read or written between two looks at the cancel token.
pub(crate) const STEP_BYTES: usize = 64 << 10;

/// Entries of `$AGENTX_HOME` that a file with several links is compared with.
pub(crate) const MAX_HOME_FILES: usize = 4_096;

/// Bytes of a line that Grep searches between two looks at the cancel token.
pub(crate) const SEARCH_WINDOW_BYTES: usize = 32 << 10;

/// Bytes that two such windows share: matches up to this length are found
/// wherever they stand in a longer line.
pub(crate) const SEARCH_OVERLAP_BYTES: usize = 16 << 10;

/// Bytes of a `.gitignore` that is applied.
pub(crate) const MAX_IGNORE_BYTES: u64 = 64 << 10;

/// Bytes of all files `.gitignore` that are applied in one walk.
pub(crate) const MAX_IGNORE_TOTAL_BYTES: u64 = 4 << 20;

/// Bytes at the start of a file among which a NUL makes it binary.
pub(crate) const BINARY_PROBE_BYTES: usize = 8_192;

/// Names that are tried for a private folder under the temporary directory.
pub(crate) const FOLDER_NAMES: u32 = 1_000;

/// Connections of one call that ask about the network or wait for an answer at
/// once (WIRE-PERM-080); so that many questions are open at most.
pub(crate) const NETWORK_CONNECTIONS: usize = 16;

/// Questions about the network of one call (WIRE-PERM-080).
pub(crate) const NETWORK_QUESTIONS: u32 = 256;

/// Bytes of the line of such a question, without its newline.
pub(crate) const NETWORK_LINE_BYTES: usize = 4_096;

/// Bytes of the host of such a question: what a name in the DNS can have.
pub(crate) const NETWORK_HOST_BYTES: usize = 253;

/// Files whose last seen version is remembered; the oldest is forgotten.
pub(crate) const SEEN_FILES: usize = 10_000;

/// Lines on either side that are compared to count those that a change adds and
/// takes away.
pub(crate) const DIFF_LINES: u64 = 100_000;

/// Lines added and taken away, together, that are looked for.
pub(crate) const DIFF_EDITS: usize = 2_000;

/// Names that are tried for a file that is to have none.
pub(crate) const UNNAMED_ATTEMPTS: u32 = 16;

/// Characters of a path or an input shown in a message.
pub(crate) const SHOWN_CHARS: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    // covers: DEC-34
    #[test]
    fn the_defaults_are_what_the_specification_says() {
        let limits = ToolLimits::default();
        assert_eq!(limits.bash_output_chars, 30_000);
        assert_eq!(limits.output_chars, 100_000);
        assert_eq!(limits.bash_timeout, Duration::from_secs(120));
        assert_eq!(limits.bash_timeout_max, Duration::from_secs(600));
        assert_eq!((limits.read_lines, limits.read_line_chars), (2_000, 2_000));
        assert_eq!((limits.grep_results, limits.glob_results), (100, 1_000));
        assert_eq!(limits.ending.term_grace, Duration::from_secs(2));
    }

    #[test]
    fn ending_a_child_leaves_room_in_the_exit_deadline() {
        let ending = EndingLimits::default();
        let sum = ending.term_grace + ending.kill_wait + ending.aftermath;
        assert!(sum < Duration::from_secs(5));
    }
}
