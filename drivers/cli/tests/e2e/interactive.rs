//! Sessions on a terminal (configuration, "Commands" and "Exit status").

use crate::support::{Signal, World, from_prompt, runs, script, until_gone};
use crate::terminal::{PROMPT, Terminal};
use serde_json::{Value, json};
use std::fs;

const ASKED: &str = "Run it? yes/always/no: ";

fn write(file: &str) -> Value {
    json!({"name": "Write", "input": {"file_path": file, "content": "kept\n"}})
}

/// A prompt whose answer calls tools and then tells of their results.
fn calls(calls: &[Value]) -> String {
    script(&json!([{"deltas": ["I ", "write."], "tool_calls": calls}, {"text": "done: {results}"}]))
}

/// A prompt whose answer never ends. What is typed does not hold [`HALF`].
fn holds() -> String {
    script(&json!([{"deltas": ["half", " an answer"], "hold": true}]))
}

/// What comes of such an answer.
const HALF: &str = "half an answer";

// covers: DEC-20
#[test]
fn a_prompt_is_answered_and_the_end_of_input_quits() {
    let world = World::scripted();
    let mut terminal = Terminal::start(&world, &[], &[]);
    let greeting = terminal.until(PROMPT);
    assert!(
        greeting.contains("model fixture-model of main, in "),
        "{greeting}"
    );
    assert!(!terminal.is_cooked(), "the line editor reads");
    terminal.line("grüße, 日本");
    terminal.until("echo: grüße, 日本\r\n");
    terminal.until("1 model request");
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn the_argument_is_the_first_prompt() {
    let world = World::scripted();
    let mut terminal = Terminal::start(&world, &["from the shell"], &[]);
    terminal.until("> from the shell");
    terminal.until("echo: from the shell\r\n");
    terminal.until(PROMPT);
    terminal.line("/quit");
    assert_eq!(terminal.end().0, Some(0));
}

// covers: WIRE-PERM-041, WIRE-PERM-042
#[test]
fn a_call_runs_once_it_is_allowed_and_not_when_it_is_denied() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.line(&calls(&[write("once.txt")]));
    let shown = terminal.until(ASKED);
    for part in [
        "I write.\r\n",
        "* Write ",
        "? Write wants to run",
        "file_path: once.txt",
    ] {
        assert!(shown.contains(part), "{part:?} is missing in {shown:?}");
    }
    assert!(!world.work().join("once.txt").exists());
    terminal.line("yes");
    terminal.until("Write: Created `once.txt`");
    terminal.until("done: Created `once.txt`: 5 bytes.");
    terminal.until(PROMPT);
    // That was for once; and a reason reaches the model.
    terminal.line(&calls(&[write("denied.txt")]));
    terminal.until(ASKED);
    terminal.line("no, not there");
    terminal.until("error: expected yes, always, no or `no REASON`");
    terminal.until(ASKED);
    terminal.line("no not there");
    terminal.until("Write: failed: ");
    let told = terminal.until(PROMPT);
    assert!(
        told.contains("done: ") && told.contains("not there"),
        "{told:?}"
    );
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(
        fs::read_to_string(world.work().join("once.txt")).unwrap(),
        "kept\n"
    );
    assert!(!world.work().join("denied.txt").exists());
}

// covers: WIRE-PERM-030
#[test]
fn always_asks_no_second_time() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.line(&calls(&[write("a.txt")]));
    let shown = terminal.until(ASKED);
    assert!(shown.contains("always: every Write in this "), "{shown:?}");
    terminal.line("always");
    terminal.until("done: Created `a.txt`");
    terminal.until(PROMPT);
    terminal.line(&calls(&[write("b.txt")]));
    let shown = terminal.until("done: Created `b.txt`");
    assert!(!shown.contains("wants to run"), "{shown:?}");
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

// covers: WIRE-PERM-030
#[test]
fn always_is_kept_for_a_folder_that_is_trusted() {
    let world = World::scripted();
    let bash = json!({"name": "Bash", "input": {"command": "echo kept"}});
    let read = json!({"name": "Read", "input": {"file_path": "/etc/passwd"}});
    let session = |further: &[&str]| {
        let mut terminal = Terminal::start(&world, further, &[]);
        terminal.until(PROMPT);
        terminal
    };
    let quit = |terminal: Terminal| {
        terminal.press("\u{4}");
        assert_eq!(terminal.end().0, Some(0));
    };
    // Without trust nothing would read what was stored, so nothing is.
    for (further, lasts) in [(&[][..], "session"), (&["--trust-workspace"], "folder")] {
        let mut terminal = session(further);
        for (call, label) in [(&bash, "Bash(echo kept)"), (&read, "Read(/etc/passwd)")] {
            terminal.line(&calls(std::slice::from_ref(call)));
            let shown = terminal.until(ASKED);
            let label = format!("always: {label} in this {lasts}");
            assert!(shown.contains(&label), "{label} is missing in {shown:?}");
            terminal.line("always");
            terminal.until("done: ");
            terminal.until(PROMPT);
            // No second time in this session either way.
            terminal.line(&calls(std::slice::from_ref(call)));
            terminal.until("done: ");
            terminal.until(PROMPT);
        }
        quit(terminal);
        let stored = world.work().join(".agentx/settings.local.json");
        assert_eq!(stored.exists(), lasts == "folder");
    }
    let mut terminal = session(&["--trust-workspace"]);
    terminal.line(&calls(&[bash, read]));
    let shown = terminal.until("done: ");
    assert!(!shown.contains("wants to run"), "{shown:?}");
    terminal.until(PROMPT);
    quit(terminal);
}

#[test]
fn what_was_typed_ahead_answers_no_question() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.line(&calls(&[write("a.txt"), write("b.txt")]));
    terminal.until(ASKED);
    // The second line stands before the second question is shown.
    terminal.press("yes\ryes\r");
    terminal.until("b.txt");
    terminal.until(ASKED);
    terminal.line("no");
    let shown = terminal.until(PROMPT);
    for part in ["Write: Created `a.txt`", "Write: failed: "] {
        assert!(shown.contains(part), "{part:?} is missing in {shown:?}");
    }
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
    assert!(!world.work().join("b.txt").exists());
}

#[test]
fn control_c_ends_the_turn_and_nothing_else() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.line(&holds());
    terminal.until(HALF);
    assert!(terminal.is_cooked(), "nothing is edited in a turn");
    terminal.press("\u{3}");
    terminal.until("(interrupted)");
    terminal.until(PROMPT);
    terminal.line("still there?");
    terminal.until("echo: still there?\r\n");
    terminal.until(PROMPT);
    // At a question it is the same key, and the call does not run.
    terminal.line(&calls(&[write("a.txt")]));
    terminal.until(ASKED);
    terminal.press("\u{3}");
    terminal.until("(interrupted)");
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(1), "the last prompt was cancelled");
    assert!(!world.work().join("a.txt").exists());
}

#[test]
fn control_c_twice_quits() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.line(&holds());
    terminal.until(HALF);
    terminal.press("\u{3}");
    // However late the second one is: at an empty prompt it quits, too.
    terminal.until("(interrupt");
    terminal.press("\u{3}");
    assert_eq!(terminal.end().0, Some(130));
}

#[test]
fn control_c_clears_a_line_and_quits_at_an_empty_one() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.press("never said");
    terminal.until("never said");
    terminal.press("\u{3}");
    terminal.until(PROMPT);
    terminal.line("said");
    terminal.until("echo: said\r\n");
    terminal.until(PROMPT);
    terminal.press("\u{3}");
    assert_eq!(terminal.end().0, Some(130));
}

#[test]
fn sigint_from_elsewhere_is_the_same() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.line(&holds());
    terminal.until(HALF);
    terminal.signal(Signal::INT);
    terminal.until("(interrupted)");
    terminal.until(PROMPT);
    terminal.line("again");
    terminal.until("echo: again\r\n");
    terminal.until(PROMPT);
    terminal.signal(Signal::INT);
    assert_eq!(terminal.end().0, Some(130));
}

#[test]
fn commands_of_the_interface_are_no_prompts() {
    let world = World::with(&json!([
        from_prompt("main", &json!({"default": true})),
        from_prompt("other", &json!({}))
    ]));
    let mut terminal = Terminal::ready(&world);
    terminal.line("/model");
    let told = terminal.until(PROMPT);
    for part in [
        "model fixture-model of provider main",
        "--provider ID",
        "main, other",
    ] {
        assert!(told.contains(part), "{told:?}");
    }
    terminal.line("/help");
    let told = terminal.until("quits.\r\n");
    assert!(told.contains("/quit      end the session"), "{told:?}");
    terminal.until(PROMPT);
    terminal.line("/nope");
    terminal.until("unknown command /nope: expected one of /help, /model, /sessions, /quit");
    terminal.until(PROMPT);
    terminal.line(" /nope");
    terminal.until("echo:  /nope\r\n");
    terminal.until(PROMPT);
    terminal.line("/quit");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn stored_sessions_are_listed_and_gone_on_with() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.line("/sessions");
    terminal.until("No session is stored.");
    terminal.until(PROMPT);
    terminal.line("the first of all");
    terminal.until("echo: the first of all\r\n");
    terminal.until(PROMPT);
    terminal.line("/sessions");
    let told = terminal.until("goes on with one.");
    assert!(
        told.contains("  1 prompt   the first of all\r\n"),
        "{told:?}"
    );
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
    let mut terminal = Terminal::start(&world, &["--continue"], &[]);
    terminal.until(PROMPT);
    terminal.line("the second");
    terminal.until("echo: the second\r\n");
    terminal.until(PROMPT);
    terminal.line("/sessions");
    let told = terminal.until("goes on with one.");
    assert!(
        told.contains("  2 prompts  the first of all\r\n"),
        "{told:?}"
    );
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn pasted_lines_are_one_prompt() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.press("\u{1b}[200~one\ntwo\r\nthree\u{1b}[201~\r");
    terminal.until("echo: one\r\ntwo\r\nthree\r\n");
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn the_history_holds_prompts_and_is_kept_nowhere() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.line("remember me");
    terminal.until("echo: remember me\r\n");
    terminal.until(PROMPT);
    terminal.press("\u{1b}[A\r");
    terminal.until("echo: remember me\r\n");
    terminal.until(PROMPT);
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
    for folder in [world.home(), world.work(), world.temporary()] {
        for file in fs::read_dir(folder).unwrap() {
            let name = file.unwrap().file_name();
            let known = ["auth.json", "sessions"].iter().any(|known| name == *known);
            assert!(known, "{} was left", name.display());
        }
    }
}

#[test]
fn a_plain_terminal_will_do() {
    let world = World::scripted();
    let mut terminal = Terminal::start(&world, &[], &[("TERM", "dumb")]);
    terminal.until(PROMPT);
    terminal.line(&calls(&[write("a.txt")]));
    terminal.until(ASKED);
    terminal.line("yes");
    terminal.until("done: Created `a.txt`");
    terminal.until(PROMPT);
    assert!(!terminal.seen.contains('\u{1b}'), "{:?}", terminal.seen);
    terminal.press("\u{3}");
    assert_eq!(terminal.end().0, Some(130));
}

#[test]
fn what_models_and_tools_say_cannot_steer_the_terminal() {
    let world = World::scripted();
    let mut terminal = Terminal::start(&world, &[], &[("NO_COLOR", "1")]);
    terminal.until(PROMPT);
    let bash = json!({"name": "Bash", "input": {"command": "printf 'x\\033[2Jy'; : \u{1b}[8m"}});
    terminal.line(&script(&json!([
        {"text": "clear \u{1b}[2J\u{7}", "tool_calls": [bash]},
        {"text": "{results}"}
    ])));
    terminal.until("clear \\u{1b}[2J\\u{7}\r\n");
    let question = terminal.until("Run it? yes/no: ");
    assert!(question.contains("\\u{1b}[8m"), "{question:?}");
    terminal.line("yes");
    let shown = terminal.until(PROMPT);
    assert_eq!(shown.matches("x\\u{1b}[2Jy").count(), 2, "{shown:?}");
    assert!(!terminal.seen.contains("\u{1b}[3"), "NO_COLOR is set");
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn sigterm_leaves_the_terminal_as_it_was() {
    let world = World::scripted();
    let terminal = Terminal::ready(&world);
    assert!(!terminal.is_cooked());
    terminal.signal(Signal::TERM);
    let (status, last) = terminal.end();
    assert_eq!(status, Some(143));
    assert!(last.ends_with("\u{1b}[?2004l\r\n"), "{last:?}");
    // At a question, too; and in a turn.
    let mut terminal = Terminal::ready(&world);
    terminal.line(&calls(&[write("a.txt")]));
    terminal.until(ASKED);
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.end().0, Some(143));
    let mut terminal = Terminal::ready(&world);
    terminal.line(&holds());
    terminal.until(HALF);
    terminal.signal(Signal::TERM);
    let (status, last) = terminal.end();
    assert_eq!(status, Some(143));
    assert!(last.contains("(interrupted)"), "{last:?}");
}

#[test]
fn a_terminal_that_is_taken_away_ends_the_session() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.close();
    assert_eq!(terminal.end().0, Some(129));
    let mut terminal = Terminal::ready(&world);
    let sleep = json!({"name": "Bash", "input": {"command": "echo $$ > pid; exec sleep 1000"}});
    terminal.line(&calls(&[sleep]));
    terminal.until(ASKED);
    terminal.line("yes");
    let file = world.work().join("pid");
    let pid = loop {
        match fs::read_to_string(&file) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => std::thread::yield_now(),
        }
    };
    assert!(runs(&pid));
    terminal.close();
    assert_eq!(terminal.end().0, Some(129));
    until_gone(&pid);
}

#[test]
fn a_failed_request_is_told_and_decides_the_status() {
    let world = World::scripted();
    let mut terminal = Terminal::ready(&world);
    terminal.line(&script(
        &json!([{"error": {"status": 401, "message": "no such key"}}]),
    ));
    let shown = terminal.until(PROMPT);
    assert_eq!(shown.matches("API error").count(), 1, "{shown:?}");
    assert!(shown.contains("no such key"), "{shown:?}");
    terminal.press("\u{4}");
    assert_eq!(terminal.end().0, Some(1));
}
