//! Command tools: what a program gets, and what becomes of what it says.

use crate::bash::{Lifeline, assert_reaped, pid};
use crate::world::{World, text};
use agentx_core::guard::Guard;
use agentx_core::json::RawJson;
use agentx_core::schema::permission::Behavior;
use agentx_core::tool::{ToolContent, ToolDeclaration, ToolOutcome};
use agentx_tools::{CancelToken, CommandTool, CommandTools};
use std::time::Duration;

const KEY: &str = "qZ7-kW3'xJ9_vB5+";

pub(crate) fn declared(words: &[&str]) -> ToolDeclaration {
    ToolDeclaration {
        name: "tool".to_owned(),
        description: String::new(),
        input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        command: words.iter().map(|word| (*word).to_owned()).collect(),
        timeout: Duration::from_secs(600),
        background: false,
        parallel: false,
        permission: Behavior::Ask,
    }
}

pub(crate) fn install(world: &mut World, declared: ToolDeclaration) {
    let tool = CommandTool::new(declared).unwrap();
    world.config.commands = CommandTools::new([tool]).unwrap();
}

/// A world whose one command tool is a shell script.
pub(crate) fn script(script: &str) -> World {
    let mut world = World::new();
    install(&mut world, declared(&["/bin/sh", "-c", script]));
    world
}

fn ok(command: &str) -> String {
    script(command).ok("tool", "{}")
}

fn fault(command: &str) -> String {
    script(command).fault("tool", "{}")
}

fn texts(outcome: &ToolOutcome) -> Vec<&str> {
    let texts = outcome.content.iter();
    texts.map(|ToolContent::Text(text)| text.as_str()).collect()
}

#[test]
fn a_program_gets_the_input_object_its_arguments_and_the_working_directory() {
    let world = script("cat; pwd -P");
    let input = r#"{"note": "a\u00e9", "n":1.50}"#;
    let work = world.work("").canonicalize().unwrap();
    let expected = format!("{{\"note\":\"a\\u00e9\",\"n\":1.50}}\n{}\n", work.display());
    assert_eq!(world.ok("tool", input), expected);
    let mut world = World::new();
    install(&mut world, declared(&["echo", "a b", "$HOME", "*", ";"]));
    assert_eq!(
        world.ok("tool", "{}"),
        "a b $HOME * ;\n",
        "no shell reads it"
    );
    let text = ok("read -r x < /proc/$$/stat; set -- ${x##*) }; [ $3 = $$ ] && echo leader");
    assert_eq!(text, "leader\n");
    world.refused("tool", "[1]", "The input must be a JSON object.");
    world.refused("other", "{}", "There is no tool `other`.");
    let offered = world.config.specs();
    let builtin = agentx_tools::builtin_specs();
    assert_eq!(offered[..builtin.len()], builtin);
    let further: Vec<&str> = offered[builtin.len()..]
        .iter()
        .map(|spec| &*spec.name)
        .collect();
    assert_eq!(further, ["tool"]);
}

// covers: DEC-22
#[test]
fn its_environment_is_that_of_a_command() {
    let mut world = script("echo \"$SET-$KEPT-$(env | grep ^AGENTX | cut -d= -f1)-$PATH\"");
    let home = world.config.home.clone().into_os_string();
    world.config.environment.clear();
    world.config.environment.insert("AGENTX_HOME".into(), home);
    world
        .config
        .environment
        .insert("KEPT".into(), "base".into());
    world.environment.insert("SET".into(), "new".into());
    let script = world.ok("tool", "{}");
    assert_eq!(
        script,
        "new-base-AGENTX_NETWORK_SOCKET-/usr/local/bin:/usr/bin:/bin\n"
    );
}

#[test]
fn an_object_is_an_answer_with_parts_and_anything_else_is_text() {
    let world = script(
        r#"printf '{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"is_error":true}'"#,
    );
    let outcome = world.run("tool", "{}");
    assert!(outcome.is_error);
    assert_eq!(texts(&outcome), ["a", "b"]);
    assert_eq!(
        ok(r#"echo ' {"content":[{"type":"text","text":"fine"}]} '"#),
        "fine"
    );
    assert_eq!(ok("echo plain; echo unseen >&2"), "plain\n");
    assert_eq!(ok(r#"printf '{"value":1}'"#), r#"{"value":1}"#);
    assert_eq!(
        ok(r#"printf '{"content":[{"type'"#),
        r#"{"content":[{"type"#
    );
    assert_eq!(ok("printf 'a\\000b\\377'"), "a\0b\u{FFFD}");
    assert_eq!(ok("true"), "[The tool said nothing.]");
    assert_eq!(ok(r#"echo '{"content":[]}'"#), "[The tool said nothing.]");
}

#[test]
fn a_status_that_is_no_success_is_an_error_with_the_end_of_stderr() {
    assert_eq!(
        fault("echo out; echo why >&2; exit 3"),
        "out\nwhy\n[Exit status 3.]"
    );
    assert_eq!(fault("exit 1"), "[Exit status 1.]");
    assert_eq!(
        fault("printf why >&2; kill -9 $$"),
        "why\n[Ended by signal 9.]"
    );
    let long = fault("head -c 100000 /dev/zero | tr '\\0' a >&2; printf end >&2; exit 1");
    assert!(long.starts_with("[… 9"), "{long}");
    assert!(long.ends_with("aend\n[Exit status 1.]"), "{long}");
    assert!(long.chars().count() < 4_100);
    let world = script(r#"echo '{"content":[{"type":"text","text":"a"}]}'; echo why >&2; exit 2"#);
    let outcome = world.run("tool", "{}");
    assert!(outcome.is_error);
    assert_eq!(texts(&outcome), ["a", "why\n[Exit status 2.]"]);
}

#[test]
fn a_program_that_cannot_be_started_is_an_error_that_names_it() {
    let mut world = World::new();
    for program in ["/no/such/program", "no-such-program-here"] {
        install(&mut world, declared(&[program]));
        let why = format!("`{program}` was not started: the program cannot be started: ");
        world.refused("tool", "{}", &why);
    }
    let path = world.write("plain", "no program");
    install(&mut world, declared(&[path.to_str().unwrap()]));
    world.refused("tool", "{}", "was not started");
}

#[test]
fn a_program_is_found_in_the_path_that_children_have() {
    let mut world = World::new();
    let program = world.write("bin/no-such-elsewhere", "#!/bin/sh\necho found\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(program, mode).unwrap();
    install(&mut world, declared(&["no-such-elsewhere"]));
    world.refused("tool", "{}", "was not started");
    let path = format!("{}:/usr/bin:/bin", world.work("bin").display());
    world.config.environment.insert("PATH".into(), path.into());
    assert_eq!(world.ok("tool", "{}"), "found\n");
}

#[test]
fn a_command_that_names_home_is_refused_and_does_not_run() {
    let mut world = World::new();
    let home = world.beside("home");
    let home = home.to_str().unwrap();
    let program = format!("{home}/tool");
    let script = format!("touch ran; cat {home}/auth.json");
    let commands: [&[&str]; 5] = [
        &[&program],
        &["/bin/sh", "-c", &script],
        &["/bin/sh", "-c", "touch ran; cat ../home/auth.json"],
        &["touch", "ran", "--reference=../home/auth.json"],
        &["touch", "ran", "$AGENTX_HOME"],
    ];
    for words in commands {
        install(&mut world, declared(words));
        world.refused("tool", "{}", "names the folder AGENTX_HOME");
    }
    assert!(!world.work("ran").exists());
}

// covers: DEC-34
#[test]
fn output_is_cut_at_100000_characters_and_the_cut_is_told() {
    let flood = ok("head -c 100000000 /dev/zero | tr '\\0' a; echo end");
    assert!(flood.chars().count() <= 100_000);
    assert!(flood.contains(" characters cut …]") && flood.ends_with("aend\n"));
    let failed = fault("head -c 200000 /dev/zero | tr '\\0' a; echo why >&2; exit 1");
    assert!(failed.chars().count() <= 100_000);
    assert!(failed.contains(" characters cut …]") && failed.ends_with("why\n[Exit status 1.]"));
    let part = "head -c 80000 /dev/zero | tr '\\0' a; printf";
    let object = format!(
        "printf '{{\"content\":[{{\"type\":\"text\",\"text\":\"'; {part} '\"}},{{\"type\":\"text\",\"text\":\"'; {part} '\"}}]}}'"
    );
    let outcome = script(&object).run("tool", "{}");
    let [first, second] = texts(&outcome)[..] else {
        panic!("two parts");
    };
    assert_eq!(first.len(), 80_000);
    assert!(second.ends_with(" characters cut]"));
    assert!(first.chars().count() + second.chars().count() <= 100_000);
}

// covers: DEC-30
#[test]
fn keys_are_replaced_before_anything_is_cut() {
    let keyed = |command: &str| {
        let mut world = script(command);
        world.config.guard = Guard::new([KEY]).unwrap();
        world.config.limits.output_chars = 1_000;
        world.config.limits.command_stderr_chars = 60;
        let outcome = world.run("tool", r#"{"key":"qZ7-kW3'xJ9_vB5+"}"#);
        let all = texts(&outcome).concat();
        for part in KEY.as_bytes().windows(4) {
            let part = std::str::from_utf8(part).unwrap();
            assert!(!all.contains(part), "{command}: {part} in {all}");
        }
        all
    };
    assert_eq!(keyed("cat"), "{\"key\":\"[redacted]\"}\n");
    let escaped = r#"printf '{"content":[{"type":"text","text":"\\u0071Z7-kW3\\u0027xJ9_vB5+"}]}'"#;
    assert_eq!(keyed(escaped), "[redacted]");
    for at in (0..20).step_by(3) {
        let kind = format!("{}{KEY}{}", "a".repeat(280 + at), "b".repeat(100));
        let object = format!("{{\"content\":[{{\"type\":\"{kind}\"}}]}}");
        keyed(&format!("printf %s '{}'", object.replace('\'', "'\\''")));
    }
    for at in (0..40).step_by(3) {
        let key = "'qZ7-kW3'\\''xJ9_vB5+'";
        let fill = |count: usize| format!("head -c {count} /dev/zero | tr '\\0' a");
        keyed(&format!(
            "{}; printf %s {key}; {}",
            fill(455 + at),
            fill(2_000)
        ));
        let failed = format!(
            "{{ {}; printf %s {key}; {}; }} >&2; exit 1",
            fill(200),
            fill(at)
        );
        keyed(&failed);
        let object = format!(
            "printf '{{\"content\":[{{\"type\":\"text\",\"text\":\"'; {}; printf %s {key}; {}; printf '\"}}]}}'",
            fill(860 + at),
            fill(2_000)
        );
        keyed(&object);
    }
}

#[test]
fn what_a_program_does_with_its_pipes_is_its_right() {
    let big = format!("{{\"x\":\"{}\"}}", "x".repeat(1_000_000));
    let world = script("echo unread");
    assert_eq!(world.ok("tool", &big), "unread\n");
    let world = script("exec 0<&-; echo closed");
    assert_eq!(world.ok("tool", &big), "closed\n");
    let world = script("cat >/dev/null; echo read");
    assert_eq!(world.ok("tool", &big), "read\n");
    assert_eq!(ok("echo early; exec >&- 2>&-; exit 0"), "early\n");
    assert_eq!(
        fault("echo early; exec >&- 2>&-; exit 4"),
        "early\n[Exit status 4.]"
    );
}

#[test]
fn what_a_program_leaves_behind_neither_holds_the_call_nor_outlives_it() {
    let world = script("exec 3>alive; sleep 1000 & exec 3>&-; echo started");
    let fifo = world.fifo("alive");
    let reader = std::thread::spawn(move || Lifeline::open(&fifo));
    assert_eq!(world.ok("tool", "{}"), "started\n");
    reader.join().unwrap().wait_for_all_gone();
    // One that left the group holds the pipe; what was said counts all the same.
    let answer = r#"echo '{"content":[{"type":"text","text":"said"}]}'"#;
    let world = script(&format!("setsid sleep 5 & {answer}"));
    assert_eq!(world.ok("tool", "{}"), "said");
}

#[test]
fn a_cancelled_program_is_ended_with_its_group_and_reaped() {
    for trap in ["", "trap '' TERM;"] {
        let command = format!(
            "{trap} sh -c '{trap} exec 3>life; echo child >&3; while :; do sleep 1000; done' & \
             exec 3>life; echo $$ >&3; while :; do sleep 1000; done"
        );
        let world = script(&command);
        let fifo = world.fifo("life");
        let request = world.request("tool", "{}");
        let (toolbox, cancel) = (world.toolbox(), CancelToken::new());
        let canceller = cancel.clone();
        let watcher = std::thread::spawn(move || {
            let mut life = Lifeline::open(&fifo);
            let lines = [life.line(), life.line()];
            canceller.cancel();
            (lines, life)
        });
        let outcome = toolbox.run(&request, &cancel);
        assert!(outcome.is_error);
        assert_eq!(text(&outcome), "[The call was cancelled before it ended.]");
        let (lines, life) = watcher.join().unwrap();
        life.wait_for_all_gone();
        let leader = lines.iter().find(|line| *line != "child").unwrap();
        assert_reaped(pid(leader));
    }
}

#[test]
fn a_program_whose_time_is_up_is_ended_and_what_it_said_comes_with_the_error() {
    let mut world = World::new();
    let mut declared = declared(&["/bin/sh", "-c", "echo so far; echo why >&2; sleep 1000"]);
    declared.timeout = Duration::from_millis(1_500);
    install(&mut world, declared);
    let expected = "so far\nwhy\n[It was ended after its time of 1500 ms was up.]";
    assert_eq!(world.fault("tool", "{}"), expected);
}
