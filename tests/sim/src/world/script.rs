//! What a host does of its own accord.

use super::{Step, What, World, records};
use crate::event::Watch;
use crate::fault::Fault;
use crate::kit::SECRET;

/// Operations without an effect on what runs, by their words: subtype and members.
const OPERATIONS: [(&str, &str); 24] = [
    ("get_context_usage", ""),
    ("mcp_status", ""),
    ("get_settings", ""),
    ("set_model", r#","model":"other""#),
    ("set_permission_mode", r#","mode":"default""#),
    ("set_permission_mode", r#","mode":"acceptEdits""#),
    ("set_permission_mode", r#","mode":"nonsense""#),
    ("set_max_thinking_tokens", r#","max_thinking_tokens":100"#),
    (
        "rewind_files",
        r#","user_message_id":"00000000-0000-4000-8000-000000000000""#,
    ),
    (
        "rewind_files",
        r#","user_message_id":"00000000-0000-4000-8000-000000000001","dry_run":true"#,
    ),
    ("seed_read_state", r#","path":"/repo/a","mtime":5"#),
    ("mcp_toggle", r#","serverName":"a","enabled":false"#),
    ("mcp_toggle", r#","serverName":"a","enabled":true"#),
    ("mcp_reconnect", r#","serverName":"b""#),
    (
        "mcp_set_servers",
        r#","servers":{"a":{"type":"sdk","name":"a"},"b":{"type":"sdk","name":"b"}}"#,
    ),
    ("mcp_set_servers", r#","servers":{}"#),
    (
        "apply_flag_settings",
        r#","settings":{"permissions":{"allow":["Do"]}}"#,
    ),
    (
        "apply_flag_settings",
        r#","settings":{"permissions":{"defaultMode":"plan"}}"#,
    ),
    ("apply_flag_settings", r#","settings":{"permissions":7}"#),
    ("reload_plugins", ""),
    ("stop_task", r#","task_id":"task_nobody""#),
    (
        "cancel_async_message",
        r#","message_uuid":"00000000-0000-4000-8000-999999999999""#,
    ),
    ("set_provider", ""),
    ("initialize", r#","hooks":7"#),
];

/// What `initialize` asks for in the profile `reference`.
const BEGINNINGS: [&str; 7] = [
    "",
    r#","promptSuggestions":true"#,
    r#","hooks":{"PreToolUse":[{"hookCallbackIds":["h1"]}],"Stop":[{"hookCallbackIds":["h2"],"timeout":1}]}"#,
    r#","hooks":{"PermissionRequest":[{"matcher":"Do","hookCallbackIds":["h1","h2"]}],"UserPromptSubmit":[{"hookCallbackIds":["h3"]}]},"promptSuggestions":true"#,
    r#","sdkMcpServers":["a","b"]"#,
    r#","jsonSchema":{"type":"object"}"#,
    r#","appendSystemPrompt":"More.","agents":{"x":{"description":"d"}}"#,
];

/// What servers say by themselves.
const NEWS: [&str; 4] = [
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
];

/// Records that are no prompt and no operation.
const OTHERS: [&str; 9] = [
    r#"{"type":"keep_alive"}"#,
    r#"{"type":"weather","is":"fine"}"#,
    r#"{"type":"user","message":7}"#,
    r#"{"type":"update_environment_variables","variables":{"A":"1","B":"2"}}"#,
    r#"{"type":"update_environment_variables","variables":{"LONG_NAME":"a value of some length"}}"#,
    r#"{"type":"update_environment_variables","variables":{"A":"1","B":"2","C":"3"}}"#,
    r#"{"type":"assistant","message":{"role":"assistant","content":"earlier"}}"#,
    "",
    r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"input_text","text":"b"}]},"parent_tool_use_id":null}"#,
];

impl<W: Watch> World<'_, W> {
    /// Sets up the next thing that the host does.
    pub(super) fn set_up_act(&mut self) {
        let delay = if self.tape.one_in(self.plan.eagerness) {
            1_000 * self.tape.below(256) as u64
        } else {
            10 * self.tape.below(100) as u64
        };
        self.after(delay, What::HostActs);
    }

    /// The host does something.
    pub(super) fn host_acts(&mut self) -> Step {
        if self.calm || self.agent.gone || self.desk.over {
            return Ok(());
        }
        self.set_up_act();
        if self.plan.steps > self.steps + 8 && self.agent.session.pending_requests() > 3 {
            // One that has many questions open answers them first, mostly.
            if !self.tape.one_in(4) {
                return Ok(());
            }
        }
        match self.tape.below(32) {
            0..10 => self.host_prompts(),
            10..13 => self.host_interrupts(),
            13 => self.host_repeats(),
            14 => self.host_prompts_many(),
            15 => self.send(records::prompt(None, "no uuid", ""), true),
            16..19 => self.host_begins(),
            19..25 => self.host_operates(),
            25 => self.host_server_speaks(),
            26 => self.host_takes_back(),
            27 => self.host_context(),
            28..30 => {
                let other = OTHERS[self.tape.below(OTHERS.len())];
                self.send(records::raw(other), true)
            }
            30 => self.answer_as_tail(),
            _ => Ok(()),
        }
    }

    fn next_uuid(&mut self) -> String {
        self.desk.prompts += 1;
        records::uuid(1_000 * self.epoch + self.desk.prompts)
    }

    fn next_id(&mut self, tag: &str) -> String {
        self.desk.controls += 1;
        format!("{tag}{}", self.desk.controls)
    }

    fn host_prompts(&mut self) -> Step {
        let uuid = self.next_uuid();
        let priority = ["", "next", "next", "later", "now", ""][self.tape.below(6)];
        if self.strikes(Fault::Credential, 16)? {
            let text = format!("use {SECRET}");
            return self.send(records::prompt(Some(&uuid), &text, priority), true);
        }
        let text = match self.tape.below(8) {
            7 => "a long prompt ".repeat(20),
            _ => "go".to_string(),
        };
        self.send(records::prompt(Some(&uuid), &text, priority), true)
    }

    /// More prompts than a small queue takes, the last of them perhaps at once.
    fn host_prompts_many(&mut self) -> Step {
        for _ in 0..2 + self.tape.below(4) {
            let uuid = self.next_uuid();
            let priority = ["next", "later", "now"][self.tape.below(3)];
            self.send(records::prompt(Some(&uuid), "go", priority), true)?;
        }
        Ok(())
    }

    fn host_repeats(&mut self) -> Step {
        let back = self.tape.below(6) as u32;
        let number = self.desk.prompts.saturating_sub(back);
        let uuid = records::uuid(1_000 * self.epoch + number);
        self.send(records::prompt(Some(&uuid), "go again", "next"), true)
    }

    fn host_interrupts(&mut self) -> Step {
        let id = self.next_id("i");
        self.send(records::control(&id, "interrupt", ""), true)
    }

    fn host_begins(&mut self) -> Step {
        let id = self.next_id("n");
        let members = if self.plan.config.profile.is_reference() {
            BEGINNINGS[self.tape.below(BEGINNINGS.len())]
        } else {
            ""
        };
        self.send(records::control(&id, "initialize", members), true)
    }

    fn host_operates(&mut self) -> Step {
        // An id that no answer may repeat.
        let id = if self.strikes(Fault::Credential, 24)? {
            format!("c-{SECRET}")
        } else {
            self.next_id("c")
        };
        if let Some(task) = self.desk.tasks.back().cloned()
            && self.tape.one_in(3)
        {
            let members = format!(r#","task_id":"{task}""#);
            return self.send(records::control(&id, "stop_task", &members), true);
        }
        let (subtype, members) = OPERATIONS[self.tape.below(OPERATIONS.len())];
        self.send(records::control(&id, subtype, members), true)
    }

    fn host_server_speaks(&mut self) -> Step {
        let id = self.next_id("m");
        let server = ["a", "b"][self.tape.below(2)];
        let message = NEWS[self.tape.below(NEWS.len())];
        let members = format!(r#","server_name":"{server}","message":{message}"#);
        self.send(records::control(&id, "mcp_message", &members), true)
    }

    fn host_takes_back(&mut self) -> Step {
        let id = self.next_id("t");
        let back = self.tape.below(4) as u32;
        let number = self.desk.prompts.saturating_sub(back);
        let uuid = records::uuid(1_000 * self.epoch + number);
        let members = format!(r#","message_uuid":"{uuid}""#);
        self.send(
            records::control(&id, "cancel_async_message", &members),
            true,
        )
    }

    fn host_context(&mut self) -> Step {
        let uuid = self.next_uuid();
        let session = self.agent.session.session_id().to_string();
        self.send(records::context(&uuid, &session), true)
    }

    /// An answer as the last bytes of the input, without its newline.
    fn answer_as_tail(&mut self) -> Step {
        if self.desk.asks.is_empty() || !self.tape.one_in(3) {
            return Ok(());
        }
        let place = self.tape.below(self.desk.asks.len());
        let (ask, _) = self.desk.asks.remove(place);
        self.desk.peer.answered(ask.number);
        let mut line = records::answer(&ask.request_id, records::PERMISSIONS[self.tape.below(2)]);
        line.pop();
        self.send(line, true)?;
        self.desk.ended = true;
        self.set_up_host();
        Ok(())
    }
}
