//! What a host does of its own accord.

use super::{Step, What, World, records};
use crate::event::Watch;
use crate::fault::Fault;
use crate::kit::SECRET;
use agentx_core::host::{CallId, Command};
use agentx_core::json::RawJson;
use agentx_core::schema::host::{
    Call, CancelAsyncMessage, EnvironmentUpdate, Interrupt, McpSend, OtherCall, Prompt, StopTask,
};
use agentx_core::schema::inbound::Priority;
use std::sync::Arc;
use std::time::Duration;

/// Operations without an effect on what runs, by their words: subtype and members.
const OPERATIONS: [(&str, &str); 24] = [
    ("get_context_usage", "{}"),
    ("mcp_status", "{}"),
    ("get_settings", "{}"),
    ("set_model", r#"{"model":"other"}"#),
    ("set_permission_mode", r#"{"mode":"default"}"#),
    ("set_permission_mode", r#"{"mode":"acceptEdits"}"#),
    ("set_permission_mode", r#"{"mode":"nonsense"}"#),
    ("set_max_thinking_tokens", r#"{"max_thinking_tokens":100}"#),
    (
        "rewind_files",
        r#"{"user_message_id":"00000000-0000-4000-8000-000000000000"}"#,
    ),
    (
        "rewind_files",
        r#"{"user_message_id":"00000000-0000-4000-8000-000000000001","dry_run":true}"#,
    ),
    ("seed_read_state", r#"{"path":"/repo/a","mtime":5}"#),
    ("mcp_toggle", r#"{"serverName":"a","enabled":false}"#),
    ("mcp_toggle", r#"{"serverName":"a","enabled":true}"#),
    ("mcp_reconnect", r#"{"serverName":"b"}"#),
    (
        "mcp_set_servers",
        r#"{"servers":{"a":{"type":"sdk","name":"a"},"b":{"type":"sdk","name":"b"}}}"#,
    ),
    ("mcp_set_servers", r#"{"servers":{}}"#),
    (
        "apply_flag_settings",
        r#"{"settings":{"permissions":{"allow":["Do"]}}}"#,
    ),
    (
        "apply_flag_settings",
        r#"{"settings":{"permissions":{"defaultMode":"plan"}}}"#,
    ),
    ("apply_flag_settings", r#"{"settings":{"permissions":7}}"#),
    ("reload_plugins", "{}"),
    ("stop_task", r#"{"task_id":"task_nobody"}"#),
    (
        "cancel_async_message",
        r#"{"message_uuid":"00000000-0000-4000-8000-999999999999"}"#,
    ),
    ("set_provider", "{}"),
    ("initialize", r#"{"hooks":7}"#),
];

/// What `initialize` asks for in the profile `reference`.
const BEGINNINGS: [&str; 7] = [
    "{}",
    r#"{"promptSuggestions":true}"#,
    r#"{"hooks":{"PreToolUse":[{"hookCallbackIds":["h1"]}],"Stop":[{"hookCallbackIds":["h2"],"timeout":1}]}}"#,
    r#"{"hooks":{"PermissionRequest":[{"matcher":"Do","hookCallbackIds":["h1","h2"]}],"UserPromptSubmit":[{"hookCallbackIds":["h3"]}]},"promptSuggestions":true}"#,
    r#"{"sdkMcpServers":["a","b"]}"#,
    r#"{"jsonSchema":{"type":"object"}}"#,
    r#"{"appendSystemPrompt":"More.","agents":{"x":{"description":"d"}}}"#,
];

/// What servers say by themselves.
const NEWS: [&str; 4] = [
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
];

/// Records that are no prompt and no operation.
const OTHERS: [&str; 15] = [
    r#"{"type":"control_request","request_id":"c-none"}"#,
    r#"{"type":"control_request","request_id":"c-bare","request":{}}"#,
    r#"{"type":"control_request","requestId":"c-word","request":{"subtype":7}}"#,
    r#"{"type":"attachment_import","version":1,"operation":"begin","prompt_uuid":"3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27","upload_id":"upl_a","attachment_id":"att_a","name":"a.png","size_bytes":12,"mime_type":"image/png","sha256":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}"#,
    r#"{"type":"attachment_import","version":1,"operation":"abort","upload_id":"upl_a"}"#,
    r#"{"type":"user","message":{"role":"user","content":"half \ud800"},"parent_tool_use_id":null}"#,
    r#"{"type":"keep_alive"}"#,
    r#"{"type":"weather","is":"fine"}"#,
    r#"{"type":"user","message":7}"#,
    r#"{"type":"update_environment_variables","variables":{"A":"1","D":"a value of its own"}}"#,
    r#"{"type":"update_environment_variables","variables":{"LONG_NAME":"a value of some length"}}"#,
    r#"{"type":"update_environment_variables","variables":{"A":"1","B":"2","C":"3"}}"#,
    r#"{"type":"assistant","message":{"role":"assistant","content":"earlier"}}"#,
    "",
    r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"input_text","text":"b"}]},"parent_tool_use_id":null}"#,
];

/// An operation by its words.
fn operation(subtype: &str, members: &str) -> Option<Call> {
    let members = RawJson::parse(members).ok()?;
    OtherCall::new(subtype, members).ok().map(Call::Other)
}

impl<W: Watch> World<'_, W> {
    /// Sets up the next thing that the host does.
    pub(super) fn set_up_act(&mut self) {
        let delay = if self.tape.one_in(self.plan.eagerness) {
            1_000 * self.tape.below(256) as u64
        } else {
            100 * self.tape.below(64) as u64
        };
        self.after(delay, What::HostActs);
    }

    /// The host does something.
    pub(super) fn host_acts(&mut self) -> Step {
        if self.calm || self.agent.gone || self.desk.over {
            return Ok(());
        }
        self.set_up_act();
        // One that waits for results waits on, mostly.
        let busy = self.desk.waiting > 1 && !self.tape.one_in(8);
        match self.tape.below(32) {
            0..13 if busy => Ok(()),
            0..10 => self.host_prompts(),
            10 => self.host_repeats(),
            11 => self.host_prompts_many(),
            12 => self.inject(records::prompt(None, "no uuid", "")),
            13 => self.call(Interrupt.into()),
            14 => self.host_begins(),
            15..20 => Ok(()),
            20 => self.host_strays(),
            21..25 => self.host_operates(),
            25 => self.host_server_speaks(),
            26 => self.host_takes_back(),
            27 => self.host_context(),
            28..30 => {
                let other = OTHERS[self.tape.below(OTHERS.len())];
                self.inject(records::raw(other))
            }
            30 => self.answer_as_tail(),
            _ => self.host_updates_environment(),
        }
    }

    fn next_uuid(&mut self) -> String {
        self.desk.prompts += 1;
        self.desk.waiting += 1;
        records::uuid(1_000 * self.epoch + self.desk.prompts)
    }

    /// One of the newest prompts.
    fn some_uuid(&mut self, newest: usize) -> String {
        let back = self.tape.below(newest) as u32;
        let number = self.desk.prompts.saturating_sub(back);
        records::uuid(1_000 * self.epoch + number)
    }

    /// What an embedder seldom wants, or should not.
    fn host_strays(&mut self) -> Step {
        const TIMES: [u64; 4] = [50, 0, 500, 5_000];
        const NO_UUIDS: [&str; 3] = ["", "one", "00000000-0000-0000-0000-000000000001"];
        match self.tape.below(16) {
            0..4 => {
                let uuid = NO_UUIDS[self.tape.below(NO_UUIDS.len())];
                self.prompt_as(uuid.to_string(), "go", &[None])
            }
            // Of one that waits, perhaps.
            4..6 => {
                let uuid = self.some_uuid(4);
                self.prompt_as(uuid, "go again", &[None])
            }
            6..8 => {
                let mut prompt = Prompt::text("go");
                prompt.uuid = None;
                self.order(Command::Prompt(Box::new(prompt)))
            }
            8..13 => {
                let timeout = Duration::from_micros(TIMES[self.tape.below(TIMES.len())]);
                let (subtype, members) = OPERATIONS[self.tape.below(3)];
                match operation(subtype, members) {
                    Some(call) => self.call_for(call, Some(timeout)),
                    None => Ok(()),
                }
            }
            13..15 => {
                let back = self.tape.below(4) as u64;
                let id = CallId(self.desk.calls.saturating_sub(back));
                self.order(Command::Forget(id))
            }
            _ if self.tape.one_in(3) => self.order(Command::Abandon),
            _ => Ok(()),
        }
    }

    /// Calls an operation; now and then nobody waits for long.
    fn call(&mut self, call: Call) -> Step {
        let timeout = self.tape.one_in(8).then(|| Duration::from_millis(2));
        self.call_for(call, timeout)
    }

    /// Calls an operation and waits so long.
    fn call_for(&mut self, call: Call, timeout: Option<Duration>) -> Step {
        self.desk.calls += 1;
        let id = CallId(self.desk.calls);
        let call = Box::new(call);
        self.order(Command::Call { id, call, timeout })?;
        if self.tape.one_in(32) {
            return self.order(Command::Forget(id));
        }
        Ok(())
    }

    fn call_by_name(&mut self, subtype: &str, members: &str) -> Step {
        match operation(subtype, members) {
            Some(call) => self.call(call),
            None => Ok(()),
        }
    }

    fn prompt(&mut self, text: &str, priorities: &[Option<Priority>]) -> Step {
        let uuid = self.next_uuid();
        self.prompt_as(uuid, text, priorities)
    }

    fn prompt_as(&mut self, uuid: String, text: &str, priorities: &[Option<Priority>]) -> Step {
        let mut prompt = Prompt::text(text).with_uuid(uuid);
        prompt.priority = priorities[self.tape.below(priorities.len())];
        self.order(Command::Prompt(Box::new(prompt)))
    }

    fn host_prompts(&mut self) -> Step {
        const PRIORITIES: [Option<Priority>; 10] = [
            None,
            Some(Priority::Next),
            None,
            Some(Priority::Next),
            None,
            Some(Priority::Next),
            Some(Priority::Next),
            Some(Priority::Later),
            Some(Priority::Later),
            Some(Priority::Now),
        ];
        if self.strikes(Fault::Credential, 16)? {
            let text = if self.tape.one_in(3) {
                format!("{}{SECRET}", "a long prompt ".repeat(40))
            } else {
                format!("use {SECRET}")
            };
            return self.prompt(&text, &PRIORITIES);
        }
        match self.tape.below(8) {
            6 => self.prompt(&"a long prompt ".repeat(80), &PRIORITIES),
            7 => self.prompt(&"a long prompt ".repeat(20), &PRIORITIES),
            _ => self.prompt("go", &PRIORITIES),
        }
    }

    /// More prompts than a small queue takes, the last of them perhaps at once.
    fn host_prompts_many(&mut self) -> Step {
        const PRIORITIES: [Option<Priority>; 3] = [
            Some(Priority::Next),
            Some(Priority::Later),
            Some(Priority::Now),
        ];
        for _ in 0..2 + self.tape.below(4) {
            self.prompt("go", &PRIORITIES)?;
        }
        Ok(())
    }

    /// A uuid that was used before, from another writer: that of one of the newest
    /// prompts, or of the first of the life before where this one has had none.
    fn host_repeats(&mut self) -> Step {
        let mut uuid = self.some_uuid(6);
        if self.epoch > 1 && uuid == records::uuid(1_000 * self.epoch) {
            uuid = records::uuid(1_000 * (self.epoch - 1) + 1);
        }
        self.inject(records::prompt(Some(&uuid), "go again", "next"))
    }

    fn host_begins(&mut self) -> Step {
        let members = if self.plan.config.profile.is_reference() {
            BEGINNINGS[self.tape.below(BEGINNINGS.len())]
        } else {
            "{}"
        };
        self.call_by_name("initialize", members)
    }

    fn host_operates(&mut self) -> Step {
        // An id that no answer may repeat.
        if self.strikes(Fault::Credential, 64)? {
            let id = format!("c-{SECRET}");
            // Its answer is short or long, so that the id stands at its end or not.
            let subtype = if self.tape.one_in(2) {
                "interrupt"
            } else {
                "get_context_usage"
            };
            return self.inject(records::control(&id, subtype));
        }
        if let Some(task) = self.desk.tasks.back().cloned()
            && self.tape.one_in(3)
        {
            let task_id = task.into();
            return self.call(StopTask { task_id }.into());
        }
        let mut place = self.tape.below(OPERATIONS.len());
        if place == OPERATIONS.len() - 1 && !self.tape.one_in(4) {
            place = 0;
        }
        let (subtype, members) = OPERATIONS[place];
        self.call_by_name(subtype, members)
    }

    fn host_server_speaks(&mut self) -> Step {
        let server_name = ["a", "b"][self.tape.below(2)].into();
        let Ok(message) = RawJson::parse(NEWS[self.tape.below(NEWS.len())]) else {
            return Ok(());
        };
        let send = McpSend {
            server_name,
            message,
        };
        self.call(send.into())
    }

    fn host_takes_back(&mut self) -> Step {
        let message_uuid = self.some_uuid(4).into();
        self.call(CancelAsyncMessage { message_uuid }.into())
    }

    fn host_context(&mut self) -> Step {
        let uuid = self.next_uuid();
        let session = self.agent.session.session_id().to_string();
        self.inject(records::context(&uuid, &session))
    }

    fn host_updates_environment(&mut self) -> Step {
        let names = ["A", "B", "C", "LONG_NAME"];
        let variables = names[..1 + self.tape.below(names.len())]
            .iter()
            .map(|name| (Arc::from(*name), "value".to_string()))
            .collect();
        self.order(Command::Environment(EnvironmentUpdate { variables }))?;
        self.order(Command::KeepAlive)
    }

    /// An answer as the last bytes of the input, without its newline.
    fn answer_as_tail(&mut self) -> Step {
        let Some(asked) = self.desk.asked.back().cloned() else {
            return Ok(());
        };
        if !self.tape.one_in(3) {
            return Ok(());
        }
        let said = records::PERMISSIONS[self.tape.below(2)];
        let mut line = records::answer(&asked.request_id, said);
        line.pop();
        self.inject(line)?;
        self.order(Command::Close)
    }
}
