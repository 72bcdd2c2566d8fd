//! What a run is made of, drawn from its tape before anything happens.

use crate::fault::SwarmBits;
use crate::kit::{ROUTE, kit};
use crate::tape::Tape;
use agentx_core::agent::{Config, Profile, Provider, Reference, StateRecords};
use agentx_core::correlate::OrphanPolicy;
use agentx_core::hook::{Hook, HookEvent, Hooks};
use agentx_core::ids::Seed;
use agentx_core::limits::Limits;
use agentx_core::schema::permission::PermissionMode;
use agentx_core::store::{Beginning, Storing};
use agentx_core::time::WallTime;
use std::sync::Arc;
use std::time::Duration;

/// The set-up of one run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How the first process is set up.
    pub config: Config,
    /// The faults that may happen.
    pub swarm: SwarmBits,
    /// Steps before everything has to settle.
    pub steps: u64,
    /// Bytes that each pipe holds.
    pub pipe: usize,
    /// How often the host acts when there is a choice: once in so many.
    pub eagerness: usize,
}

/// Faults are forty bits: of a zero tape none is allowed.
fn swarm(tape: &mut Tape) -> SwarmBits {
    match tape.below(8) {
        0 => SwarmBits::NONE,
        1..=3 => SwarmBits(tape.swarm().0 & tape.swarm().0),
        4..=6 => tape.swarm(),
        _ => SwarmBits(u64::MAX),
    }
}

impl Plan {
    /// Draws a run.
    #[must_use]
    pub fn draw(tape: &mut Tape) -> Self {
        let swarm = swarm(tape);
        let steps = 60 + 4 * tape.below(256) as u64;
        let pipe = [65_536, 4_096, 512, 64][tape.below(4)];
        let eagerness = 2 + tape.below(8);
        let config = config(tape);
        Self {
            config,
            swarm,
            steps,
            pipe,
            eagerness,
        }
    }
}

fn config(tape: &mut Tape) -> Config {
    let kit = kit();
    let limits = if tape.one_in(2) {
        tiny(tape)
    } else {
        Limits::DEFAULT
    };
    let profile = if tape.one_in(2) {
        reference(tape)
    } else {
        Profile::Standalone
    };
    let stored = tape.one_in(2);
    let priced = tape.one_in(3);
    let seed = tape.below(256) as u64;
    Config {
        seed: Seed::from_u64(seed),
        profile,
        session_id: stored.then(|| "00000000-0000-4000-8000-000000000077".to_string()),
        version: "0.0.0".to_string(),
        cwd: match seed {
            // Only the guard of `system/init` knows that this may not leave (DEC-30).
            252.. => ROUTE.to_string(),
            _ => "/repo".to_string(),
        },
        provider: Provider {
            pricing: priced.then_some(kit.pricing),
            ..kit.provider.clone()
        },
        initialize: kit.initialize.clone(),
        tools: Arc::clone(&kit.tools),
        system: tape.one_in(2).then(|| "Be brief.".into()),
        permission_mode: match tape.below(12) {
            n @ 7.. => PermissionMode::ALL[n - 7],
            _ => PermissionMode::Default,
        },
        settings: kit.settings[[0, 0, 0, 1, 2][tape.below(5)]].clone(),
        directories: Vec::new(),
        host_answers: !tape.one_in(16),
        orphans: if tape.one_in(2) {
            OrphanPolicy::AdmitOnce
        } else {
            OrphanPolicy::Ignore
        },
        max_turns: tape.one_in(3).then_some(2),
        max_budget: (priced && tape.one_in(4)).then_some(4_000_000_000),
        replay_user_messages: tape.one_in(3),
        include_partial_messages: tape.one_in(2),
        vet_records: tape.one_in(5),
        flush_remote: tape.one_in(3),
        credentials: match tape.below(24) {
            // Pieces of records: only the last look at the final bytes finds them.
            n @ 20.. => kit.fragments[n - 20].clone(),
            _ => kit.credentials.clone(),
        },
        metadata: kit.metadata.clone(),
        resume: None,
        store: stored.then(|| Storing {
            binding: kit.binding.clone(),
            epoch: WallTime(1_000_000),
            beginning: Beginning::New,
        }),
        output_schema: tape.one_in(4).then(|| kit.schema.clone()),
        hooks: hooks(tape),
        limits,
    }
}

fn hooks(tape: &mut Tape) -> Hooks {
    let list: Arc<[Hook]> = match tape.below(4) {
        0 | 1 => return Hooks::default(),
        2 => {
            let chosen = [
                HookEvent::PermissionRequest,
                HookEvent::PreToolUse,
                HookEvent::Stop,
                HookEvent::UserPromptSubmit,
            ][tape.below(4)];
            let of = |hook: &&Hook| hook.event == chosen;
            let hooks = &kit().hooks;
            hooks
                .iter()
                .filter(of)
                .chain(hooks.iter().filter(of))
                .cloned()
                .collect()
        }
        _ => Arc::clone(&kit().hooks),
    };
    Hooks {
        list,
        transcript_path: "/home/sessions.db".to_string(),
        records: tape.one_in(2),
    }
}

fn reference(tape: &mut Tape) -> Profile {
    let servers: &[&str] = [&[][..], &["a"], &["a", "b"]][tape.below(3)];
    Profile::Reference(Reference {
        states: [
            StateRecords::Plain,
            StateRecords::HostOnly,
            StateRecords::Off,
        ][tape.below(3)],
        may_bypass_permissions: tape.one_in(2),
        await_initialize: tape.one_in(4),
        sdk_servers: servers.iter().map(|name| (*name).into()).collect(),
        file_checkpoints: !tape.one_in(3),
        ..Reference::default()
    })
}

/// Ceilings that a short run reaches, some of them.
fn tiny(tape: &mut Tape) -> Limits {
    type Lower = fn(&mut Limits);
    const LOWER: [Lower; 22] = [
        |l| l.queue_records = 1,
        |l| l.queue_records = 3,
        |l| (l.queue_bytes, l.queue_overhead_bytes) = (700, 100),
        |l| l.seen_prompts = 3,
        |l| l.resolved_tool_uses = 2,
        |l| l.stop_continuations = 1,
        |l| l.hook_callbacks = 2,
        |l| (l.mcp_servers, l.mcp_server_name_chars) = (2, 4),
        |l| (l.mcp_tools, l.mcp_pages, l.mcp_cursor_bytes) = (2, 2, 8),
        |l| (l.mcp_list_bytes, l.mcp_tool_name_bytes) = (400, 5),
        |l| (l.mcp_content_blocks, l.mcp_description_chars) = (1, 10),
        |l| (l.mcp_questions, l.mcp_unacknowledged) = (1, 1),
        |l| {
            (
                l.environment_entries,
                l.environment_bytes,
                l.environment_total_bytes,
            ) = (2, 24, 24);
        },
        |l| (l.progress_pause_bytes, l.input_pause_bytes) = (1_000, 3_000),
        |l| (l.shell_output_chars, l.tool_output_chars) = (40, 60),
        |l| {
            (
                l.file_operations,
                l.checkpoints,
                l.rewind_list_bytes,
                l.rewind_failures,
            ) = (1, 2, 40, 1);
        },
        |l| (l.tasks, l.untold_tasks) = (1, 2),
        |l| (l.task_output_chars, l.task_line_chars) = (20, 10),
        |l| (l.structured_bytes, l.structured_depth, l.structured_retries) = (60, 3, 1),
        |l| (l.structured_faults, l.structured_fault_chars) = (1, 5),
        |l| {
            (
                l.suggestion_history_bytes,
                l.suggestion_answer_bytes,
                l.suggestion_chars,
            ) = (100, 60, 10);
        },
        |l| l.progress_every = Duration::from_millis(20),
    ];
    let mut limits = Limits::DEFAULT;
    for lower in LOWER {
        if tape.one_in(3) {
            lower(&mut limits);
        }
    }
    if tape.one_in(3) {
        (limits.depth, limits.tool_input_depth, limits.node_depth) = (16, 8, 3);
    }
    if tape.one_in(3) {
        limits.record_bytes = 4_096;
        limits.import_record_bytes = 1_024;
        (limits.upload.chunk_bytes, limits.upload.chunk_chars) = (3, 4);
    }
    if tape.one_in(4) {
        (limits.reference_record_bytes, limits.reference_input_bytes) = (3_000, 900);
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_run_has_no_fault_and_no_tiny_limit() {
        let plan = Plan::draw(&mut Tape::of_bytes(Vec::new()));
        assert_eq!(plan.swarm, SwarmBits::NONE);
        assert_eq!(plan.config.limits, Limits::DEFAULT);
        assert!(plan.config.store.is_none() && plan.config.hooks.list.is_empty());
    }

    #[test]
    fn all_limits_that_are_drawn_fit_one_another() {
        let mut lowered = 0;
        for seed in 0..500 {
            let plan = Plan::draw(&mut Tape::of_seed(seed));
            assert_eq!(plan.config.limits.check(), Ok(()), "seed {seed}");
            lowered += u32::from(plan.config.limits != Limits::DEFAULT);
        }
        assert!(lowered > 150, "{lowered} of 500");
    }
}
