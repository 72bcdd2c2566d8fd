//! Every ceiling of the protocol and the agent loop, by name.
//!
//! [`Limits::DEFAULT`] holds the ceilings of the specification. Tests make
//! them tiny, so that each is reached; an embedder may lower them. The relations
//! between them are in [`Limits::check`].

use crate::plant::Planted;
use core::time::Duration;

/// The ceilings of one session. Sizes are in bytes unless the name says
/// otherwise. Reaching one is always told, never silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One input record without its newline; with one read more, also the
    /// memory that framing may hold (DEC-06).
    pub record_bytes: usize,
    /// One attachment import record without its newline (WIRE-018, DEC-06).
    pub import_record_bytes: usize,
    /// Arrays and objects open at once in one record (DEC-06).
    pub depth: usize,
    /// Arrays and objects open at once in the input of a tool call, so that
    /// every record which carries it keeps to `depth`, with room for peers
    /// whose own bound is a little lower.
    pub tool_input_depth: usize,
    /// How deep a record is indexed while it is scanned; deeper values are
    /// checked too, but found by reading again. Not of the specification.
    pub node_depth: usize,
    /// Offending input shown on stderr after a fatal input error (DEC-10).
    pub excerpt_bytes: usize,
    /// Input handled between two looks at stdin (DEC-28).
    pub input_step_bytes: usize,

    /// Prompts waiting in the queue, in records (WIRE-020).
    pub queue_records: usize,
    /// Prompts waiting in the queue, in admission weight (WIRE-020); one
    /// prompt above it is an input error (DEC-45).
    pub queue_bytes: usize,
    /// Admission weight of a prompt above its raw line (DEC-45).
    pub queue_overhead_bytes: usize,
    /// Prompt UUIDs remembered, the oldest forgotten first (DEC-44).
    pub seen_prompts: usize,

    /// Tool-use ids remembered as resolved, the oldest forgotten first
    /// (WIRE-PERM-071).
    pub resolved_tool_uses: usize,
    /// How often the hooks of `Stop` may keep one turn going (configuration,
    /// "hook command").
    pub stop_continuations: u8,
    /// How long hooks of `SessionEnd` may take when the process was told to end.
    /// Not of the specification.
    pub closing_hook_timeout: Duration,
    /// Hook callbacks that a host registers; more refuse its `initialize`. Not of
    /// the specification.
    pub hook_callbacks: usize,
    /// The answer of a hook callback as its record shows it, in characters
    /// (records, `hook_response`).
    pub hook_output_chars: usize,
    /// How long a hook callback may take when it names no time (DEC-48).
    pub hook_callback_timeout: Duration,
    /// How long the host may take to answer an MCP message (DEC-48).
    pub mcp_message_timeout: Duration,
    /// How long the first model request waits for each MCP server that names
    /// no time of its own (DEC-39).
    pub mcp_start_timeout: Duration,
    /// MCP servers of one session. Not of the specification.
    pub mcp_servers: usize,
    /// The name of an MCP server, in characters: with room for that of a tool in
    /// what the model calls it by. Not of the specification.
    pub mcp_server_name_chars: usize,
    /// Tools of one MCP server (RT-MCPS-013).
    pub mcp_tools: usize,
    /// Pages of one server's list of tools (RT-MCPS-013).
    pub mcp_pages: usize,
    /// The cursor of a page (RT-MCPS-013).
    pub mcp_cursor_bytes: usize,
    /// The name of a tool at its server (RT-MCPS-013).
    pub mcp_tool_name_bytes: usize,
    /// What a server says of one tool, as the model is shown it, in characters
    /// (RT-MCPS-013).
    pub mcp_description_chars: usize,
    /// One server's whole list of tools, in bytes as it came (RT-MCPS-013).
    pub mcp_list_bytes: usize,
    /// Parts of one result of a call at a server; what comes behind them is
    /// counted only (RT-MCTX-008).
    pub mcp_content_blocks: usize,
    /// Why a server failed, as its state tells it, in characters.
    pub mcp_error_chars: usize,
    /// Questions to the user that one server may have open; one more is refused
    /// (DEC-48).
    pub mcp_questions: usize,
    /// Messages to MCP servers that ask nothing and that the host has not
    /// acknowledged; until one is, no server is listened to. Not of the
    /// specification.
    pub mcp_unacknowledged: usize,

    /// Variables in one environment update (DEC-22).
    pub environment_entries: usize,
    /// Names and values of one environment update together (DEC-22).
    pub environment_bytes: usize,
    /// Names and values of all environment updates together; an update above
    /// it is refused (DEC-22).
    pub environment_total_bytes: usize,

    /// Unsent output above which provider and tool progress pauses (DEC-36).
    pub progress_pause_bytes: usize,
    /// Unsent output above which stdin is no longer read (DEC-36).
    pub input_pause_bytes: usize,
    /// One output record in the profile `reference` (DEC-34).
    pub reference_record_bytes: usize,
    /// The input of a call in that profile: what is left of a record beside it
    /// has room for the rest of every record that carries one (DEC-34).
    pub reference_input_bytes: usize,
    /// Output of one `Bash` call, in characters (DEC-34).
    pub shell_output_chars: usize,
    /// Output of one call of any other tool, in characters (DEC-34).
    pub tool_output_chars: usize,

    /// Operations on files that a host may have under way; one more is refused.
    /// Not of the specification.
    pub file_operations: usize,
    /// Prompts that files can be put back to, the oldest forgotten first. Not of the
    /// specification.
    pub checkpoints: usize,
    /// Paths of files that were put back, in one answer. Not of the specification.
    pub rewind_list_bytes: usize,
    /// Files that were not, each told with a reason. Not of the specification.
    pub rewind_failures: usize,

    /// Background tasks that run at once; a call that would be one more is
    /// refused (WIRE-004).
    pub tasks: usize,
    /// Tasks the model has not been told the end of, those that run included; a
    /// call that would be one more is refused (WIRE-004).
    pub untold_tasks: usize,
    /// Output of one task that the model is told at its end, in characters; all
    /// of it lies in the output file (WIRE-004).
    pub task_output_chars: usize,
    /// What a task does and what came out, as its records tell it, in
    /// characters each (WIRE-004).
    pub task_line_chars: usize,
    /// How often a task and a call that still run are told of.
    pub progress_every: Duration,
    /// The JSON Schema of a run's structured output (RT-SCHM-010).
    pub schema_bytes: usize,
    /// Arrays and objects open at once in that schema (RT-SCHM-010).
    pub schema_depth: usize,
    /// Arrays and objects in that schema together (RT-SCHM-010).
    pub schema_nodes: usize,
    /// One submission of structured output (RT-SCHM-010).
    pub structured_bytes: usize,
    /// Arrays and objects open at once in a submission (RT-SCHM-010).
    pub structured_depth: usize,
    /// Failed submissions of one prompt after which the model is asked again
    /// (DEC-42).
    pub structured_retries: u32,
    /// Faults that the model is told of one submission (DEC-42).
    pub structured_faults: usize,
    /// One of those faults, in characters (DEC-42).
    pub structured_fault_chars: usize,
    /// How long a validation may take, waiting included (RT-SCHM-009).
    pub validation_timeout: Duration,

    /// Bytes of text of the conversation that a prompt suggestion is made from
    /// (DEC-43).
    pub suggestion_history_bytes: usize,
    /// Tokens of the answer to the request for one (DEC-43).
    pub suggestion_tokens: u64,
    /// Bytes of that answer, reasoning included (DEC-43).
    pub suggestion_answer_bytes: u64,
    /// A suggestion, in characters (DEC-43).
    pub suggestion_chars: usize,
    /// How long `idle` waits for one (DEC-43).
    pub suggestion_timeout: Duration,

    /// Calls of a host that wait for an answer; one more fails at once. Not of the
    /// specification.
    pub host_calls: usize,
    /// How long a call of a host waits for its answer. Not of the specification.
    pub host_call_timeout: Duration,
    /// Requests of an agent that a host has open; one more is answered with an
    /// error. Not of the specification.
    pub host_requests: usize,
    /// Prompts of a host that wait for their result; one more is refused. Not of the
    /// specification.
    pub host_prompts: usize,
    /// Unsent output above which a host takes an agent for one that does not read,
    /// and closes its own output. Not of the specification.
    pub host_output_bytes: usize,
    /// Bytes of the id of an agent's request, which a host remembers; a longer one
    /// is a fault of the stream. Not of the specification.
    pub host_id_bytes: usize,

    /// Attachment uploads.
    pub upload: UploadLimits,
    /// A fault that is put in on purpose; no limit, but on the road of the limits
    /// to every part of a session.
    #[cfg(agentx_planted)]
    pub planted: Planted,
}

/// The ceilings of attachment uploads, as `input_capabilities` advertises them
/// (WIRE-023).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadLimits {
    /// Attachments of one prompt (WIRE-023).
    pub per_message: usize,
    /// Uploads active at once (WIRE-018).
    pub concurrent: usize,
    /// Committed manifests of a session; and, counted apart, upload ids this
    /// process remembers as ended (WIRE-018).
    pub per_session: usize,
    /// One attachment, decoded (WIRE-023).
    pub item_bytes: u64,
    /// All attachments of one prompt, and all active uploads (WIRE-023).
    pub aggregate_bytes: u64,
    /// Unique blobs of a session (WIRE-018).
    pub storage_bytes: u64,
    /// Media of one model request, decoded (WIRE-023).
    pub model_request_bytes: u64,
    /// One chunk, decoded (WIRE-018).
    pub chunk_bytes: usize,
    /// One chunk as base64 (WIRE-018).
    pub chunk_chars: usize,
    /// A display name (WIRE-023).
    pub name_bytes: usize,
    /// A media type (WIRE-023).
    pub mime_bytes: usize,
    /// Width and height of an image in pixels (WIRE-023).
    pub image_side: u32,
    /// Width times height of an image (WIRE-023).
    pub image_pixels: u64,
    /// Pages of a PDF (WIRE-023).
    pub pdf_pages: u32,
    /// From the start of an upload to its commit (WIRE-019).
    pub timeout: Duration,
    /// Media items of one model request (WIRE-023).
    pub request_items: usize,
    /// Media of one model request as base64 (WIRE-023).
    pub encoded_media_bytes: u64,
    /// One model request (WIRE-023).
    pub request_bytes: u64,
}

/// Levels around a call's input where it stands deepest: an envelope listed as
/// pending in an answer.
const RECORD_LEVELS: usize = 5;

impl Limits {
    /// The fault that is planted, if one is.
    pub(crate) const fn planted(&self) -> Planted {
        #[cfg(agentx_planted)]
        return self.planted;
        #[cfg(not(agentx_planted))]
        Planted::NONE
    }

    /// The ceilings of the specification.
    pub const DEFAULT: Self = Self {
        record_bytes: 67_108_864,
        import_record_bytes: 8_388_608,
        depth: 128,
        tool_input_depth: 120,
        node_depth: 10,
        excerpt_bytes: 200,
        input_step_bytes: 256 * 1024,
        queue_records: 128,
        queue_bytes: 16 * 1024 * 1024,
        queue_overhead_bytes: 256,
        seen_prompts: 100_000,
        resolved_tool_uses: 1_000,
        stop_continuations: 3,
        closing_hook_timeout: Duration::from_secs(1),
        hook_callbacks: 1_000,
        hook_output_chars: 30_000,
        hook_callback_timeout: Duration::from_secs(60),
        mcp_message_timeout: Duration::from_secs(60),
        mcp_start_timeout: Duration::from_secs(60),
        mcp_servers: 64,
        mcp_server_name_chars: 40,
        mcp_tools: 512,
        mcp_pages: 128,
        mcp_cursor_bytes: 4_096,
        mcp_tool_name_bytes: 128,
        mcp_description_chars: 8_192,
        mcp_list_bytes: 8 * 1024 * 1024,
        mcp_content_blocks: 128,
        mcp_error_chars: 1_000,
        mcp_questions: 16,
        mcp_unacknowledged: 1_000,
        environment_entries: 256,
        environment_bytes: 256 * 1024,
        environment_total_bytes: 1024 * 1024,
        progress_pause_bytes: 4 * 1024 * 1024,
        input_pause_bytes: 64 * 1024 * 1024,
        reference_record_bytes: 1_000_000,
        reference_input_bytes: 980_000,
        shell_output_chars: 30_000,
        tool_output_chars: 100_000,
        file_operations: 1_000,
        checkpoints: 1_000,
        rewind_list_bytes: 100_000,
        rewind_failures: 8,
        tasks: 16,
        untold_tasks: 32,
        task_output_chars: 8_000,
        task_line_chars: 200,
        progress_every: Duration::from_secs(5),
        schema_bytes: 256 * 1024,
        schema_depth: 64,
        schema_nodes: 4_096,
        structured_bytes: 1024 * 1024,
        structured_depth: 64,
        structured_retries: 5,
        structured_faults: 8,
        structured_fault_chars: 200,
        validation_timeout: Duration::from_secs(3),
        suggestion_history_bytes: 32 * 1024,
        suggestion_tokens: 4_096,
        suggestion_answer_bytes: 64 * 1024,
        suggestion_chars: 500,
        suggestion_timeout: Duration::from_secs(5),
        host_calls: 1_000,
        host_call_timeout: Duration::from_secs(60),
        host_requests: 1_000,
        host_prompts: 1_000,
        host_output_bytes: 256 * 1024 * 1024,
        host_id_bytes: 1_024,
        upload: UploadLimits::DEFAULT,
        #[cfg(agentx_planted)]
        planted: Planted::NONE,
    };

    /// Whether the ceilings fit one another: a record that one of them lets
    /// pass must not be impossible under another.
    ///
    /// # Errors
    ///
    /// The relation that does not hold, in words.
    pub fn check(&self) -> Result<(), &'static str> {
        let upload = &self.upload;
        let relations = [
            (
                self.import_record_bytes <= self.record_bytes,
                "an import record is longer than any record",
            ),
            (
                upload.chunk_chars < self.import_record_bytes,
                "a chunk does not fit an import record",
            ),
            (
                upload.chunk_chars == upload.chunk_bytes.div_ceil(3) * 4,
                "a chunk's base64 length is not that of its bytes",
            ),
            (
                self.queue_overhead_bytes <= self.queue_bytes,
                "no prompt fits the queue",
            ),
            (
                self.progress_pause_bytes <= self.input_pause_bytes,
                "stdin pauses before progress does",
            ),
            (
                self.input_pause_bytes <= self.host_output_bytes,
                "a host gives up before it pauses",
            ),
            (
                self.excerpt_bytes <= self.record_bytes,
                "an excerpt is longer than a record",
            ),
            (
                self.node_depth <= self.depth,
                "records are indexed deeper than they may nest",
            ),
            (
                self.tool_input_depth.saturating_add(RECORD_LEVELS) <= self.depth,
                "a call's input does not fit the records that carry it",
            ),
            (
                self.reference_input_bytes < self.reference_record_bytes,
                "a call's input does not fit a record",
            ),
            (
                self.environment_bytes <= self.environment_total_bytes,
                "an environment update does not fit the environment",
            ),
            (
                self.tasks <= self.untold_tasks,
                "more tasks run at once than may be untold",
            ),
            (
                self.progress_every > Duration::ZERO,
                "progress is told without a pause",
            ),
            (
                upload.item_bytes <= upload.aggregate_bytes
                    && upload.aggregate_bytes <= upload.storage_bytes,
                "an attachment does not fit a prompt, or a prompt the store",
            ),
            (
                upload.encoded_media_bytes <= upload.request_bytes,
                "media do not fit a model request",
            ),
        ];
        relations
            .into_iter()
            .find_map(|(holds, broken)| (!holds).then_some(Err(broken)))
            .unwrap_or(Ok(()))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl UploadLimits {
    /// The ceilings of the specification.
    pub const DEFAULT: Self = Self {
        per_message: 8,
        concurrent: 8,
        per_session: 100_000,
        item_bytes: 20_971_520,
        aggregate_bytes: 41_943_040,
        storage_bytes: 536_870_912,
        model_request_bytes: 41_943_040,
        chunk_bytes: 262_144,
        chunk_chars: 349_528,
        name_bytes: 255,
        mime_bytes: 64,
        image_side: 8_192,
        image_pixels: 20_000_000,
        pdf_pages: 100,
        timeout: Duration::from_millis(120_000),
        request_items: 100,
        encoded_media_bytes: 55_927_120,
        request_bytes: 67_108_864,
    };
}

impl Default for UploadLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: RT-SCHM-009, RT-SCHM-010, DEC-06, DEC-22, DEC-28, DEC-34, DEC-36, DEC-44, DEC-45, WIRE-018, WIRE-020, WIRE-PERM-071
    #[test]
    fn the_defaults_are_the_ceilings_of_the_specification() {
        let limits = Limits::default();
        assert_eq!(limits.record_bytes, 64 << 20);
        assert_eq!(limits.import_record_bytes, 8 << 20);
        assert_eq!(limits.depth, 128);
        assert_eq!(limits.excerpt_bytes, 200);
        assert_eq!(limits.input_step_bytes, 1 << 18);
        assert_eq!((limits.queue_records, limits.queue_bytes), (128, 16 << 20));
        assert_eq!(limits.queue_overhead_bytes, 256);
        assert_eq!(limits.seen_prompts, 100_000);
        assert_eq!(limits.resolved_tool_uses, 1_000);
        assert_eq!(limits.environment_entries, 256);
        assert_eq!(limits.environment_bytes, 1 << 18);
        assert_eq!(limits.progress_pause_bytes, 4 << 20);
        assert_eq!(limits.input_pause_bytes, 64 << 20);
        assert_eq!(limits.reference_record_bytes, 1_000_000);
        assert_eq!(limits.shell_output_chars, 30_000);
        assert_eq!(limits.tool_output_chars, 100_000);
        assert_eq!(limits.progress_every, Duration::from_secs(5));
        assert_eq!((limits.schema_bytes, limits.schema_depth), (1 << 18, 64));
        assert_eq!(limits.schema_nodes, 4_096);
        assert_eq!(limits.structured_bytes, 1 << 20);
        assert_eq!(limits.structured_depth, 64);
        assert_eq!(limits.structured_retries, 5);
        assert_eq!(limits.validation_timeout, Duration::from_secs(3));
        assert_eq!(limits.upload.concurrent, 8);
        assert_eq!(limits.upload.per_session, 100_000);
        assert_eq!(limits.upload.chunk_chars, 349_528);
    }

    #[test]
    fn the_defaults_fit_one_another() {
        assert_eq!(Limits::DEFAULT.check(), Ok(()));
    }

    #[test]
    fn every_relation_can_fail() {
        let broken: [fn(&mut Limits); 15] = [
            |l| l.import_record_bytes = l.record_bytes + 1,
            |l| l.import_record_bytes = l.upload.chunk_chars,
            |l| l.upload.chunk_chars += 4,
            |l| l.queue_bytes = l.queue_overhead_bytes - 1,
            |l| l.progress_pause_bytes = l.input_pause_bytes + 1,
            |l| l.host_output_bytes = l.input_pause_bytes - 1,
            |l| l.excerpt_bytes = l.record_bytes + 1,
            |l| l.node_depth = l.depth + 1,
            |l| l.tool_input_depth = l.depth,
            |l| l.reference_input_bytes = l.reference_record_bytes,
            |l| l.environment_bytes = l.environment_total_bytes + 1,
            |l| l.tasks = l.untold_tasks + 1,
            |l| l.progress_every = Duration::ZERO,
            |l| l.upload.item_bytes = l.upload.aggregate_bytes + 1,
            |l| l.upload.encoded_media_bytes = l.upload.request_bytes + 1,
        ];
        let mut seen = alloc::collections::BTreeSet::new();
        for change in broken {
            let mut limits = Limits::DEFAULT;
            change(&mut limits);
            let relation = limits.check().unwrap_err();
            assert!(seen.insert(relation), "{relation} was told twice");
        }
    }
}
