//! Hook commands: what a program gets, and what is told of how it ended.

use crate::bash::Lifeline;
use crate::world::World;
use agentx_core::guard::Guard;
use agentx_core::hook::{HookEnd, HookEvent, HookReport, HookRequest};
use agentx_core::json::RawJson;
use agentx_tools::{CancelToken, HookCommand, HookCommands};
use std::sync::Mutex;
use std::time::Duration;

const KEY: &str = "qZ7-kW3'xJ9_vB5+";
const LONG: Duration = Duration::from_secs(600);

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A world whose one hook is this command.
fn world(command: &[&str]) -> World {
    let mut world = World::new();
    let hook = HookCommand::new(&words(command), LONG).unwrap();
    world.config.hooks = HookCommands::new([hook]).unwrap();
    world
}

fn script(script: &str) -> World {
    world(&["/bin/sh", "-c", script])
}

fn request(world: &World, timeout: Duration) -> HookRequest {
    HookRequest {
        hook: 0,
        event: HookEvent::PreToolUse,
        input: RawJson::parse(r#"{"tool_name": "Bash", "n": 1.50}"#).unwrap(),
        timeout,
        directory: world.work("").to_str().unwrap().into(),
        environment: world.environment.clone().into(),
        watched: false,
    }
}

fn run(world: &World) -> HookReport {
    let request = request(world, LONG);
    world
        .toolbox()
        .run_hook(&request, &|_, _| {}, &CancelToken::new())
}

fn ended(text: &str) -> HookReport {
    run(&script(text))
}

fn failed(text: &str) -> String {
    match ended(text).end {
        HookEnd::Failed(why) => why,
        HookEnd::Exited(status) => panic!("it exited with {status}"),
    }
}

#[test]
fn a_hook_reads_one_line_and_runs_in_the_working_directory() {
    let world = script("cat; pwd -P; echo err >&2; echo $AGENTX_HOME");
    let report = run(&world);
    let work = world.work("").canonicalize().unwrap();
    let expected = format!(
        "{{\"tool_name\":\"Bash\",\"n\":1.50}}\n{}\n\n",
        work.display()
    );
    assert_eq!(report.end, HookEnd::Exited(0));
    assert_eq!(report.answer, expected);
    assert_eq!((&*report.stdout, &*report.stderr), (&*expected, "err\n"));
}

#[test]
fn no_shell_reads_the_words_of_a_hook() {
    let report = run(&world(&["echo", "a b", "$HOME", "*", ";"]));
    assert_eq!(report.answer, "a b $HOME * ;\n");
}

// covers: DEC-33
#[test]
fn a_status_is_told_as_it_is_and_all_else_is_a_failure() {
    for status in [0, 1, 2, 127, 255] {
        let report = ended(&format!("echo why >&2; exit {status}"));
        assert_eq!(report.end, HookEnd::Exited(status));
        assert_eq!(report.stderr, "why\n");
    }
    assert_eq!(failed("kill -9 $$"), "it was ended by signal 9");
    assert_eq!(
        failed("printf '\\377'"),
        "it printed something that is no UTF-8"
    );
    let report = run(&world(&["/nonexistent/hook"]));
    let HookEnd::Failed(why) = report.end else {
        panic!("it ran")
    };
    assert!(
        why.starts_with("`/nonexistent/hook` was not started: "),
        "{why}"
    );
}

// covers: DEC-33
#[test]
fn a_hook_that_takes_too_long_is_ended_with_all_it_started() {
    let world = script("exec 9>life; sleep 600 & wait");
    let lifeline = Lifeline::open_before(&world.fifo("life"));
    let request = request(&world, Duration::from_millis(300));
    let report = world
        .toolbox()
        .run_hook(&request, &|_, _| {}, &CancelToken::new());
    let HookEnd::Failed(why) = report.end else {
        panic!("it ended by itself")
    };
    assert_eq!(why, "it was ended after its time of 300 ms was up");
    lifeline.wait_for_all_gone();
}

#[test]
fn a_cancelled_hook_is_ended() {
    let world = script("sleep 600");
    let token = CancelToken::new();
    token.cancel();
    let report = world
        .toolbox()
        .run_hook(&request(&world, LONG), &|_, _| {}, &token);
    assert!(matches!(report.end, HookEnd::Failed(_)), "{report:?}");
}

#[test]
fn a_hook_may_close_stdin_early_and_read_nothing() {
    let world = script("exec 0<&-; echo '{}'");
    let mut request = request(&world, LONG);
    let long = format!(r#"{{"prompt":"{}"}}"#, "x".repeat(4 << 20));
    request.input = RawJson::parse(&long).unwrap();
    let report = world
        .toolbox()
        .run_hook(&request, &|_, _| {}, &CancelToken::new());
    assert_eq!((report.end, &*report.answer), (HookEnd::Exited(0), "{}\n"));
}

// covers: DEC-33
#[test]
fn a_hook_that_says_too_much_has_failed_and_is_shown_in_part() {
    let much = "head -c 104857600 /dev/zero | tr '\\0' x";
    let report = ended(much);
    let why = "it printed more than 1048576 bytes".to_owned();
    assert_eq!(report.end, HookEnd::Failed(why));
    assert!(report.answer.is_empty());
    assert!(report.stdout.chars().count() <= 30_000);
    // What it says on stderr bounds nothing but what is shown.
    let report = ended(&format!("{much} >&2; echo '{{}}'"));
    assert_eq!((report.end, &*report.answer), (HookEnd::Exited(0), "{}\n"));
    assert!(report.stderr.chars().count() <= 30_000);
    // Nor does its answer count where it has denied.
    assert_eq!(ended(&format!("{much}; exit 2")).end, HookEnd::Exited(2));
}

#[test]
fn what_a_hook_leaves_behind_is_ended_with_it() {
    let world = script("exec 9>life; sleep 600 & (trap '' TERM; sleep 600) & echo '{}'");
    let lifeline = Lifeline::open_before(&world.fifo("life"));
    let report = run(&world);
    assert_eq!((report.end, &*report.answer), (HookEnd::Exited(0), "{}\n"));
    lifeline.wait_for_all_gone();
}

#[test]
fn garbage_is_passed_on_for_others_to_judge() {
    let report = ended("printf 'not \\001 json'");
    assert_eq!(report.answer, "not \u{1} json");
}

// covers: DEC-30
#[test]
fn what_is_shown_of_a_hook_holds_no_credential() {
    let mut world = script(&format!("echo \"{KEY}\"; echo \"{KEY}\" >&2"));
    world.config.guard = Guard::new([KEY]).unwrap();
    let report = run(&world);
    assert_eq!(
        (&*report.stdout, &*report.stderr),
        ("[redacted]\n", "[redacted]\n")
    );
}

#[test]
fn a_command_that_cannot_be_is_told_by_its_member() {
    for (command, timeout, fault) in [
        (words(&[]), LONG, "command: expected a program"),
        (
            words(&["./hook"]),
            LONG,
            "command: expected a program that is an absolute path, or a name to be found in PATH; `~` and relative paths are not followed",
        ),
        (
            words(&["a\0b"]),
            LONG,
            "command: expected words without NUL",
        ),
        (
            words(&["hook"]),
            Duration::ZERO,
            "timeout_ms: expected 1 to 600000",
        ),
        (
            words(&["hook"]),
            LONG + Duration::from_millis(1),
            "timeout_ms: expected 1 to 600000",
        ),
    ] {
        let told = HookCommand::new(&command, timeout).unwrap_err();
        assert_eq!(told.to_string(), fault);
    }
    let hook = HookCommand::new(&words(&["hook"]), LONG).unwrap();
    let told = HookCommands::new(vec![hook.clone(); 129]).unwrap_err();
    assert_eq!(told.to_string(), "hooks: expected at most 128 hooks");
    let shown = format!("{:?}", HookCommand::new(&words(&["hook", "secret"]), LONG));
    assert!(!shown.contains("secret"), "{shown}");
    assert!(HookCommands::new(vec![hook; 128]).is_ok());
}

#[test]
fn hooks_see_variables_of_the_session() {
    let mut world = script("echo $NOTE");
    world
        .environment
        .insert("NOTE".to_owned(), "from the host".to_owned());
    assert_eq!(run(&world).answer, "from the host\n");
}

// covers: DEC-43, DEC-30
#[test]
fn what_a_watched_hook_writes_is_told_while_it_runs() {
    let mut world = script("echo \"one $KEY\"; echo two >&2; read line < go; echo three");
    world.config.limits.hook_progress_every = Duration::ZERO;
    world.config.guard = Guard::new([KEY]).unwrap();
    world.environment.insert("KEY".into(), KEY.into());
    let go = world.fifo("go");
    let said = Mutex::new(Vec::new());
    let told = |stdout: String, stderr: String| {
        let mut said = said.lock().unwrap();
        if stdout == "one [redacted]\n" && stderr == "two\n" {
            // It waits for this, so that it cannot have ended.
            std::fs::write(&go, "\n").unwrap();
        }
        said.push((stdout, stderr));
    };
    let watched = HookRequest {
        watched: true,
        ..request(&world, Duration::from_secs(60))
    };
    let toolbox = world.toolbox();
    let report = toolbox.run_hook(&watched, &told, &CancelToken::new());
    assert_eq!(report.end, HookEnd::Exited(0));
    assert_eq!(report.stdout, "one [redacted]\nthree\n");
    let said = said.into_inner().unwrap();
    assert!(said.contains(&("one [redacted]\n".into(), "two\n".into())));
    assert!(
        said.iter()
            .all(|(stdout, _)| report.stdout.starts_with(&**stdout))
    );
}

// covers: DEC-43
#[test]
fn nothing_is_told_of_a_hook_that_nobody_watches_or_that_writes_nothing() {
    for (text, watched) in [("echo one; echo two", false), ("true", true)] {
        let mut world = script(text);
        world.config.limits.hook_progress_every = Duration::ZERO;
        let request = HookRequest {
            watched,
            ..request(&world, LONG)
        };
        let told = |stdout, _| panic!("{stdout} was told");
        let report = world
            .toolbox()
            .run_hook(&request, &told, &CancelToken::new());
        assert_eq!(report.end, HookEnd::Exited(0));
    }
}
