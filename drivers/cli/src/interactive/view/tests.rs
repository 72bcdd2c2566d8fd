use super::*;
use agentx_laws::{Effect, Feed, Script, Subject, check};
use serde_json::{Value as Json, json};

/// A view with the session and the user on both sides of it.
struct Bench {
    view: View,
    now: u64,
    shown: String,
    sent: Vec<Json>,
    asked: Vec<(u64, Asked)>,
    /// How often the stored sessions were looked for.
    lists: u32,
    /// `End` and `Quit`.
    ends: Vec<Output>,
}

fn facts() -> Facts {
    Facts {
        provider: "main".into(),
        model: "m-1".into(),
        effort: Some("low".into()),
        providers: vec!["main".into(), "other".into()],
        ..Facts::default()
    }
}

impl Bench {
    /// A view that nobody has told anything.
    fn silent(facts: Facts, first: Option<&str>) -> Self {
        Self {
            view: View::new(facts, first.map(str::to_owned)),
            now: 0,
            shown: String::new(),
            sent: Vec::new(),
            asked: Vec::new(),
            lists: 0,
            ends: Vec::new(),
        }
    }

    /// A session that stands ready.
    fn ready() -> Self {
        let mut bench = Self::silent(facts(), None);
        bench.record(&init());
        bench.shown.clear();
        bench
    }

    /// A session in a turn that one prompt has begun.
    fn busy() -> Self {
        let mut bench = Self::ready();
        bench.say("go");
        bench.record(&state("running"));
        bench.sent.clear();
        bench
    }

    fn feed(&mut self, input: Input<'_>) {
        self.view
            .handle(Instant::from_micros(self.now), input)
            .unwrap();
        while let Some(output) = self.view.poll() {
            match output {
                Output::Show(text) => self.shown.push_str(&text),
                Output::Ask(id, asked) => self.asked.push((id, asked)),
                Output::List => self.lists += 1,
                Output::Send(bytes) => self.sent.push(serde_json::from_slice(&bytes).unwrap()),
                end => self.ends.push(end),
            }
        }
    }

    fn record(&mut self, record: &Json) {
        self.feed(Input::Record(format!("{record}\n").as_bytes()));
    }

    fn records(&mut self, records: &[Json]) {
        records.iter().for_each(|record| self.record(record));
    }

    /// Answers what the terminal was asked last.
    fn answer(&mut self, line: Line<'_>) {
        let id = self.asked.last().unwrap().0;
        self.feed(Input::Line(id, line));
    }

    fn say(&mut self, line: &str) {
        self.answer(Line::Text(line));
    }

    fn take_shown(&mut self) -> String {
        std::mem::take(&mut self.shown)
    }

    /// What the terminal is asked now.
    fn asks(&self) -> Option<Asked> {
        self.view.asked().map(|_| self.asked.last().unwrap().1)
    }
}

fn init() -> Json {
    json!({"type": "system", "subtype": "init", "cwd": "/w", "permissionMode": "default"})
}

fn state(word: &str) -> Json {
    json!({"type": "system", "subtype": "session_state_changed", "state": word})
}

fn event(event: &Json) -> Json {
    json!({"type": "stream_event", "event": event})
}

fn delta(text: &str) -> Json {
    event(
        &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
    )
}

fn started(id: &str) -> Json {
    event(&json!({"type": "message_start", "message": {"id": id}}))
}

fn assistant(id: &str, block: &Json) -> Json {
    json!({"type": "assistant", "message": {"id": id, "content": [block]}})
}

fn call(id: &str, name: &str, input: &Json) -> Json {
    let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
    assistant("m", &block)
}

fn outcome(id: &str, text: &str, failed: bool) -> Json {
    let content = json!([{"type": "text", "text": text}]);
    let block =
        json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed});
    json!({"type": "user", "message": {"content": [block]}})
}

fn question(request: &str, tool: &str, input: &Json) -> Json {
    json!({"type": "control_request", "request_id": request, "request":
        {"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": "t"}})
}

fn cancel(request: &str) -> Json {
    json!({"type": "control_cancel_request", "request_id": request})
}

fn result(stop: &str, errors: &[&str]) -> Json {
    json!({"type": "result", "stop_reason": stop, "errors": errors, "num_turns": 1,
        "usage": {"input_tokens": 3, "output_tokens": 4}, "total_cost_usd": null})
}

const ACCOUNT: &str = "(1 model request, 3 tokens in, 4 out)\n";

#[test]
fn a_turn_is_shown_as_it_comes() {
    let mut bench = Bench::silent(facts(), None);
    assert_eq!(bench.asks(), None);
    bench.record(&init());
    let greeting = "model m-1 of main, in /w; /help tells more\n";
    assert_eq!(bench.take_shown(), greeting);
    assert_eq!(bench.asks(), Some(Asked::Prompt));
    bench.say("two\nlines");
    assert_eq!(bench.sent[0]["message"]["content"], "two\nlines");
    assert_eq!(bench.asks(), None);
    bench.records(&[state("running"), started("a"), delta("he")]);
    assert_eq!(bench.take_shown(), "he");
    bench.records(&[
        delta("llo\n\nthere"),
        event(&json!({"type": "content_block_stop", "index": 0})),
        assistant("a", &json!({"type": "text", "text": "hello\n\nthere"})),
        call("t1", "Write", &json!({"file_path": "a", "content": "x\ny"})),
        outcome("t1", "Created `a`.\nmore", false),
        call("t2", "Bash", &json!({"command": "false", "timeout_ms": 5})),
        outcome("t2", "exit status 1", true),
        assistant("b", &json!({"type": "text", "text": "not streamed"})),
        result("end_turn", &[]),
    ]);
    let shown = "llo\n\nthere\n* Write content: x\\ny, file_path: a\n  Write: Created `a`. (+1 line)\n\
        * Bash command: false, timeout_ms: 5\n  Bash: failed: exit status 1\nnot streamed\n";
    assert_eq!(bench.take_shown(), format!("{shown}{ACCOUNT}"));
    assert_eq!(bench.asks(), None, "the turn has not settled");
    bench.record(&state("idle"));
    assert_eq!(bench.asks(), Some(Asked::Prompt));
}

#[test]
fn the_argument_is_the_first_prompt_and_no_command() {
    let mut bench = Bench::silent(facts(), Some("/quit \u{1b}"));
    bench.record(&init());
    assert_eq!(bench.sent[0]["message"]["content"], "/quit \u{1b}");
    assert!(
        bench.shown.ends_with("> /quit \\u{1b}\n"),
        "{}",
        bench.shown
    );
    assert_eq!(bench.asks(), None);
    let mut bench = Bench::silent(facts(), Some(" "));
    bench.record(&init());
    assert_eq!((bench.sent.len(), bench.asks()), (0, Some(Asked::Prompt)));
}

// covers: WIRE-PERM-030
#[test]
fn each_answer_to_a_question_goes_to_the_session() {
    for (line, behavior, rest) in [
        (
            "yes",
            "allow",
            json!({"decisionClassification": "user_temporary", "updatedInput": {}}),
        ),
        (
            "always",
            "allow",
            json!({"decisionClassification": "user_permanent", "updatedInput": {},
            "updatedPermissions": [{"type": "addRules", "rules": [{"toolName": "Write"}],
                "behavior": "allow", "destination": "localSettings"}]}),
        ),
        (
            "no",
            "deny",
            json!({"decisionClassification": "user_reject", "message": REFUSED}),
        ),
        (
            "no ask first",
            "deny",
            json!({"decisionClassification": "user_reject",
            "message": format!("{REFUSED} ask first")}),
        ),
    ] {
        let mut bench = Bench::silent(
            Facts {
                stores: true,
                ..facts()
            },
            Some("go"),
        );
        bench.records(&[init(), state("running")]);
        bench.take_shown();
        bench.record(&question("r1", "Write", &json!({"file_path": "a"})));
        assert_eq!(bench.asks(), Some(Asked::Permission { always: true }));
        let shown =
            "? Write wants to run\n    file_path: a\n  always: every Write in this folder\n";
        assert_eq!(bench.take_shown(), shown);
        bench.say(line);
        let mut answer = rest;
        answer["behavior"] = behavior.into();
        let response = json!({"subtype": "success", "request_id": "r1", "response": answer});
        assert_eq!(
            bench.sent[1],
            json!({"type": "control_response", "response": response})
        );
        assert_eq!(bench.asks(), None);
    }
}

#[test]
fn what_is_no_answer_allows_nothing() {
    let mut bench = Bench::busy();
    bench.record(&question("r1", "Bash", &json!({"command": "git:*"})));
    assert_eq!(bench.asks(), Some(Asked::Permission { always: false }));
    bench.take_shown();
    for line in ["", "always", "sure", "y y"] {
        bench.say(line);
        let error = "error: expected yes, no or `no REASON`\n";
        assert_eq!(bench.take_shown(), error, "{line:?}");
        assert_eq!(bench.asks(), Some(Asked::Permission { always: false }));
    }
    bench.answer(Line::NoText);
    assert!(bench.take_shown().contains("no UTF-8"));
    bench.say("show");
    assert_eq!(
        bench.take_shown(),
        "? Bash wants to run\n    command: git:*\n"
    );
    assert_eq!(bench.sent, [] as [Json; 0]);
    bench.say("y");
    assert_eq!(bench.sent.len(), 1);
}

#[test]
fn questions_are_asked_one_by_one_and_may_be_withdrawn() {
    let mut bench = Bench::busy();
    for request in ["r1", "r2", "r3"] {
        bench.record(&question(request, "Write", &json!({})));
    }
    assert_eq!(bench.asked.len(), 2, "one prompt, one question");
    bench.records(&[cancel("r1"), cancel("r2")]);
    assert_eq!(bench.asked.len(), 2);
    bench.say("y");
    assert!(bench.take_shown().contains("(the question was withdrawn)"));
    assert_eq!(bench.sent, [] as [Json; 0]);
    bench.say("n");
    assert_eq!(bench.sent[0]["response"]["request_id"], "r3");
}

fn interrupt(number: u64) -> Json {
    json!({"type": "control_request", "request_id": format!("interrupt-{number}"),
        "request": {"subtype": "interrupt"}})
}

#[test]
fn the_first_interrupt_ends_the_turn_alone() {
    let mut bench = Bench::busy();
    bench.record(&question("r1", "Write", &json!({})));
    bench.answer(Line::Interrupted { typed: true });
    assert_eq!(bench.sent, [interrupt(1)]);
    assert_eq!(bench.asks(), None, "a turn that stops asks nothing");
    bench.take_shown();
    bench.records(&[
        cancel("r1"),
        result("cancelled", &["cancelled"]),
        state("idle"),
    ]);
    assert_eq!(bench.take_shown(), format!("(interrupted)\n{ACCOUNT}"));
    assert_eq!((bench.asks(), bench.ends.len()), (Some(Asked::Prompt), 0));
    // In another turn, that is the first one again.
    bench.say("more");
    bench.feed(Input::Interrupt { typed: false });
    assert_eq!(bench.sent[2], interrupt(2));
    assert_eq!(bench.ends, []);
}

#[test]
fn a_second_interrupt_within_two_seconds_quits() {
    for (settled, typed) in [(false, false), (true, false), (true, true)] {
        let mut bench = Bench::busy();
        bench.feed(Input::Interrupt { typed: false });
        if settled {
            bench.records(&[result("cancelled", &[]), state("idle")]);
        }
        bench.now += 1_999_999;
        bench.feed(Input::Interrupt { typed });
        assert_eq!(bench.ends, [Output::Quit(130)]);
        assert_eq!(bench.sent.len(), 1);
    }
}

#[test]
fn a_later_interrupt_is_a_first_one_again() {
    let mut bench = Bench::busy();
    for number in [1, 2] {
        bench.feed(Input::Interrupt { typed: false });
        assert_eq!(bench.sent.last(), Some(&interrupt(number)));
        bench.now += 2_000_000;
    }
    assert_eq!(bench.ends, []);
}

#[test]
fn an_interrupt_at_an_empty_prompt_quits_and_one_at_a_full_one_clears_it() {
    let mut bench = Bench::ready();
    bench.answer(Line::Interrupted { typed: true });
    assert_eq!((bench.asks(), bench.ends.len()), (Some(Asked::Prompt), 0));
    bench.answer(Line::Interrupted { typed: false });
    assert_eq!(
        (bench.asks(), &bench.ends[..]),
        (None, &[Output::Quit(130)][..])
    );
    let mut bench = Bench::silent(facts(), None);
    bench.feed(Input::Interrupt { typed: false });
    assert_eq!(bench.ends, [Output::Quit(130)], "before the first record");
}

#[test]
fn the_end_of_input_ends_the_session_once_the_turn_has_ended() {
    let mut bench = Bench::ready();
    bench.answer(Line::End);
    assert_eq!((bench.asks(), &bench.ends[..]), (None, &[Output::End][..]));
    let mut bench = Bench::busy();
    bench.record(&question("r1", "Write", &json!({})));
    bench.answer(Line::End);
    bench.records(&[
        outcome("t", "denied", true),
        result("end_turn", &[]),
        state("idle"),
    ]);
    assert_eq!((bench.asks(), &bench.ends[..]), (None, &[Output::End][..]));
    assert!(
        bench.shown.contains(ACCOUNT),
        "the rest of the turn is shown"
    );
}

#[test]
fn a_terminal_that_is_gone_ends_the_turn_and_the_session() {
    let mut bench = Bench::busy();
    bench.feed(Input::Gone);
    assert_eq!(
        (&bench.sent[..], &bench.ends[..]),
        (&[interrupt(1)][..], &[Output::End][..])
    );
    let mut bench = Bench::ready();
    bench.feed(Input::Gone);
    assert_eq!((bench.sent.len(), &bench.ends[..]), (0, &[Output::End][..]));
}

#[test]
fn a_session_that_is_told_to_end_asks_nothing_more() {
    let mut bench = Bench::busy();
    bench.feed(Input::Ending);
    bench.records(&[
        question("r1", "Write", &json!({})),
        cancel("r1"),
        result("cancelled", &[]),
        state("idle"),
    ]);
    assert_eq!(bench.shown, format!("(interrupted)\n{ACCOUNT}"));
    assert_eq!((bench.asks(), bench.ends.len()), (None, 0));
}

#[test]
fn commands_are_told_from_prompts() {
    let mut bench = Bench::ready();
    for (line, shown) in [
        (
            "/model",
            "model m-1 of provider main, effort low\nBoth are fixed for this process; \
            another one takes --provider ID and --effort E. Providers: main, other\n",
        ),
        ("/model x", "error: /model takes no argument\n"),
        (
            "/nope\u{7} x",
            "error: unknown command /nope\\u{7}: expected one of /help, /model, /sessions, /quit; \
            begin with a space to say it to the model\n",
        ),
        (
            "/",
            "error: unknown command /: expected one of /help, /model, /sessions, /quit; begin with a space \
            to say it to the model\n",
        ),
        ("  ", ""),
    ] {
        bench.say(line);
        assert_eq!(bench.take_shown(), shown, "{line}");
        assert_eq!(bench.asks(), Some(Asked::Prompt));
    }
    bench.say("/help");
    let help = bench.take_shown();
    for word in ["/help", "/model", "/quit", "Ctrl-C"] {
        assert!(help.contains(word), "{help}");
    }
    assert_eq!(bench.sent, [] as [Json; 0]);
    bench.say(" /etc/hosts, what is it?");
    assert_eq!(
        bench.sent[0]["message"]["content"],
        " /etc/hosts, what is it?"
    );
    let mut bench = Bench::ready();
    bench.say("/quit");
    assert_eq!((bench.asks(), &bench.ends[..]), (None, &[Output::End][..]));
}

#[test]
fn stored_sessions_are_listed_before_the_next_prompt() {
    for (listed, shown) in [
        (
            Ok("id-1  one\u{7}\nid-2  two"),
            "id-1  one\\u{7}\nid-2  two\n`agentx --resume ID` goes on with one.\n",
        ),
        (Ok(""), "No session is stored.\n"),
        (Err("the store is\u{7}"), "error: the store is\\u{7}\n"),
    ] {
        let mut bench = Bench::ready();
        bench.say("/sessions");
        assert_eq!((bench.lists, bench.asks()), (1, None));
        bench.feed(Input::Listed(listed));
        assert_eq!(
            (bench.shown.as_str(), bench.asks()),
            (shown, Some(Asked::Prompt))
        );
    }
}

#[test]
fn nothing_that_is_shown_can_steer_the_terminal() {
    let evil = "a\u{1b}]0;t\u{7}\u{9b}31m\u{202e}";
    let mut bench = Bench::silent(
        Facts {
            model: evil.into(),
            provider: evil.into(),
            effort: Some(evil.into()),
            providers: vec![evil.into()],
            ..Facts::default()
        },
        Some(evil),
    );
    bench.records(&[
        json!({"type": "system", "subtype": "init", "cwd": evil, "permissionMode": evil}),
        state("running"),
        started("a"),
        delta(&evil[..12]),
        assistant("b", &json!({"type": "text", "text": &evil[..12]})),
        call("t", evil, &json!({evil: evil, "b": [evil]})),
        outcome("t", evil, false),
        outcome("u", evil, true),
    ]);
    bench.feed(Input::Report(evil));
    let mut asked = question("r", evil, &json!({evil: evil, "b": [evil]}));
    asked["request"]["decision_reason"] = evil.into();
    bench.record(&asked);
    bench.say("no");
    bench.records(&[result("provider_error", &[evil]), state("idle")]);
    bench.say("/model");
    bench.say(&format!("/{evil}"));
    bench.record(&json!({"type": "control_response", "response": {"error": evil}}));
    let bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!bench.shown.contains(bad), "{:?}", bench.shown);
    assert!(
        bench.shown.matches("\\u{1b}]0;t\\u{7}").count() > 15,
        "{}",
        bench.shown
    );
}

#[test]
fn line_ends_of_streamed_text_come_in_any_pieces() {
    let mut bench = Bench::busy();
    bench.records(&[
        started("a"),
        delta("a\r"),
        delta("\nb\r\nc\r"),
        delta("d\r"),
    ]);
    bench.record(&event(&json!({"type": "message_stop"})));
    assert_eq!(bench.take_shown(), "a\nb\nc\\rd\\r\n");
}

#[test]
fn rows_fit_a_narrow_terminal_and_colour_is_asked_for() {
    let mut bench = Bench::busy();
    bench.feed(Input::Columns(20));
    bench.record(&call("t", "Bash", &json!({"command": "日本語".repeat(10)})));
    assert_eq!(bench.take_shown(), "* Bash command: 日…\n");
    bench.feed(Input::Columns(0));
    bench.record(&outcome("t", "a long outcome", false));
    assert_eq!(bench.take_shown(), "  Bash: …\n");
    let mut bench = Bench::silent(
        Facts {
            colour: true,
            ..facts()
        },
        None,
    );
    bench.record(&init());
    assert!(
        bench.shown.starts_with("\u{1b}[2mmodel"),
        "{:?}",
        bench.shown
    );
}

#[test]
fn a_result_says_how_the_turn_ended() {
    for (stop, errors, shown) in [
        ("provider_error", &["no key"][..], "error: no key\n"),
        ("max_tokens", &[], "(the answer was cut at its limit)\n"),
        ("refusal", &[], "(the model refused)\n"),
        ("cancelled", &["x"], "(interrupted)\n"),
    ] {
        let mut bench = Bench::busy();
        bench.record(&result(stop, errors));
        assert_eq!(bench.shown, format!("{shown}{ACCOUNT}"));
    }
    // The cause of a failure is told once; an answer that was cut is an answer.
    for (error, shown) in [("rate_limit", ""), ("max_output_tokens", "text\n")] {
        let mut bench = Bench::busy();
        let mut failed = assistant("z", &json!({"type": "text", "text": "text"}));
        failed["error"] = error.into();
        bench.record(&failed);
        assert_eq!(bench.shown, shown);
    }
    let mut bench = Bench::busy();
    let mut costly = result("end_turn", &[]);
    costly["total_cost_usd"] = json!(0.25);
    bench.record(&costly);
    assert!(
        bench.shown.ends_with("4 out, 0.25 USD)\n"),
        "{}",
        bench.shown
    );
}

#[test]
fn a_prompt_that_is_refused_leaves_the_session_ready() {
    let mut bench = Bench::ready();
    bench.say("too much");
    let refused = json!({"type": "result", "stop_reason": "input_error", "errors": ["too long"],
        "num_turns": 0});
    bench.record(&refused);
    assert_eq!(bench.shown, "error: too long\n");
    assert_eq!(bench.asks(), Some(Asked::Prompt));
}

/// A view for the laws; its inputs are kept as owned values.
struct Lawful;

#[derive(Clone, Debug)]
enum Other {
    Record(String),
    Line(u64, &'static str),
    Interrupt,
    Report,
    Over,
}

impl Subject for Lawful {
    type Machine = View;
    type Other = Other;

    fn machine(&self) -> View {
        View::new(facts(), None)
    }

    fn bytes<'a>(&self, _: &'a [u8]) -> Input<'a> {
        unreachable!("no script has bytes")
    }

    fn eof<'a>(&self) -> Input<'a> {
        unreachable!("no script has an end")
    }

    fn tick<'a>(&self) -> Input<'a> {
        Input::Tick
    }

    fn other<'a>(&self, other: &'a Other) -> Input<'a> {
        match other {
            Other::Record(record) => Input::Record(record.as_bytes()),
            Other::Line(id, line) => Input::Line(*id, Line::Text(line)),
            Other::Interrupt => Input::Interrupt { typed: false },
            Other::Report => Input::Report("agentx: warning: x"),
            Other::Over => Input::Over,
        }
    }

    fn effect(&self, output: &Output) -> Effect {
        match output {
            Output::Ask(id, _) => Effect::Start(*id),
            Output::Over => Effect::Exit,
            _ => Effect::None,
        }
    }

    fn settles(&self, other: &Other) -> Option<u64> {
        match other {
            Other::Line(id, _) => Some(*id),
            _ => None,
        }
    }

    fn answer(&self, effect: u64) -> Option<Other> {
        Some(Other::Line(effect, "y"))
    }
}

#[test]
fn the_view_keeps_the_laws_of_machines() {
    let record = |record: &Json| Other::Record(record.to_string());
    let steps = [
        record(&init()),
        Other::Line(1, "go"),
        record(&state("running")),
        record(&delta("text\r")),
        Other::Report,
        record(&question("r1", "Write", &json!({"a": "b"}))),
        record(&question("r2", "Write", &json!({"a": "b"}))),
        Other::Line(2, "maybe"),
        Other::Line(3, "always"),
        record(&cancel("r2")),
        Other::Line(4, "y"),
        Other::Interrupt,
        record(&result("cancelled", &[])),
        record(&state("idle")),
        Other::Line(5, "/quit"),
        Other::Over,
    ];
    let mut script = Script::new();
    for (at, step) in steps.into_iter().enumerate() {
        let at = Instant::from_micros(at as u64 * 1_000_000);
        script.push(at, Feed::Other(step));
    }
    check(&Lawful, &script, 0..50).unwrap();
}
