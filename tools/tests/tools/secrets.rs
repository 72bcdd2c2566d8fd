//! Keys that lie across a cut (DEC-30).

use crate::world::{World, command_input, quoted, text};
use agentx_core::guard::Guard;
use agentx_tools::CancelToken;

/// No four characters of it stand in it twice. The quote has an escape.
const KEY: &str = "qZ7-kW3'xJ9_vB5+";

fn world() -> World {
    let mut world = World::new();
    world.config.guard = Guard::new([KEY]).unwrap();
    world
}

#[track_caller]
fn keeps_quiet(text: &str) {
    for part in KEY.as_bytes().windows(4) {
        let part = std::str::from_utf8(part).unwrap();
        assert!(!text.contains(part), "{part} in {text}");
    }
}

/// A key between `before` and `after` further characters.
fn line(before: usize, after: usize) -> String {
    format!("{}{KEY}{}", "a".repeat(before), "b".repeat(after))
}

fn file_input(name: &str) -> String {
    format!("{{\"file_path\":{}}}", quoted(name))
}

// covers: DEC-30
#[test]
fn the_cut_of_a_command_s_output_leaves_no_part_of_a_key() {
    let mut world = world();
    world.config.limits.bash_output_chars = 100;
    for at in 20..45 {
        world.write("out", line(at, 400));
        keeps_quiet(&world.sh("cat out"));
        world.write("out", line(400, at));
        keeps_quiet(&world.sh("cat out >&2"));
        world.write("out", line(at, 400));
        keeps_quiet(&world.fault("Bash", &command_input("cat out; exit 3")));
    }
}

// covers: DEC-30
#[test]
fn a_key_in_several_writes_or_across_a_chunk_is_replaced() {
    let world = world();
    let (first, second) = KEY.split_at(9);
    let split = format!("printf %s {}; printf %s {}", sh(first), sh(second));
    assert_eq!(world.sh(&split), "[redacted]");
    for before in (65_536 - KEY.len())..65_540 {
        world.write("out", line(before, 2));
        assert!(world.sh("cat out").ends_with("[redacted]bb"));
    }
}

fn sh(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

// covers: DEC-30
#[test]
fn a_command_that_is_ended_within_a_key_tells_none_of_it() {
    let world = world();
    let half = &KEY[..12];
    let fifo = world.fifo("ready");
    let command = format!("printf 'so far %s' {}; echo > ready; sleep 1000", sh(half));
    let request = world.request("Bash", &command_input(&command));
    let cancel = CancelToken::new();
    let canceller = cancel.clone();
    let waiter = std::thread::spawn(move || {
        std::fs::read(fifo).unwrap();
        canceller.cancel();
    });
    let outcome = world.toolbox().run(&request, &cancel);
    waiter.join().unwrap();
    let text = text(&outcome);
    assert!(text.starts_with("so far \n["), "{text}");
    keeps_quiet(&text);
}

// covers: DEC-30
#[test]
fn the_cuts_of_read_leave_no_part_of_a_key() {
    let mut world = world();
    world.config.limits.read_line_chars = 40;
    for at in 20..45 {
        world.write("f", format!("one\n{}\nthree\n", line(at, 10)));
        let text = world.ok("Read", &file_input("f"));
        assert!(text.contains("three"), "{text}");
        keeps_quiet(&text);
    }
    world.config.limits.read_line_chars = 100_000;
    for before in (65_536 - KEY.len())..65_540 {
        world.write("f", line(before, 2));
        let text = world.ok("Read", &file_input("f"));
        assert!(text.contains("[redacted]bb\n["), "{before}");
    }
    for bytes in 0..20 {
        world.config.limits.read_bytes = 65_536;
        world.write("f", line(65_536 - bytes, 65_536));
        keeps_quiet(&world.ok("Read", &file_input("f")));
    }
}

// covers: DEC-30
#[test]
fn the_cuts_of_grep_leave_no_part_of_a_key() {
    let mut world = world();
    world.config.limits.grep_line_chars = 60;
    let content = |pattern: &str| {
        let pattern = quoted(pattern);
        format!("{{\"pattern\":{pattern},\"output_mode\":\"content\"}}")
    };
    for at in 0..80 {
        world.write("f", format!("{}x{}", line(at, 20), line(at, 90)));
        for pattern in ["x", "W3'x", "^a*", "[+]", "b$"] {
            keeps_quiet(&world.ok("Grep", &content(pattern)));
        }
    }
    world.write("f", line(0, 0));
    assert_eq!(world.ok("Grep", &content("J9")), "f:1:[redacted]");
}

// covers: DEC-30
#[test]
fn a_key_in_a_file_s_name_is_replaced_wherever_the_name_is_told() {
    let world = world();
    world.write(&format!("a{KEY}b"), "found\n");
    world.write(&format!("c{KEY}\nd"), "found\n");
    let listed = world.ok("Glob", r#"{"pattern":"*"}"#);
    assert_eq!(listed, "a[redacted]b\nc[redacted]\\nd");
    let found = world.ok("Grep", r#"{"pattern":"found"}"#);
    assert_eq!(found, "a[redacted]b\nc[redacted]\\nd");
    let written = world.ok(
        "Write",
        &format!(
            "{{\"file_path\":{},\"content\":\"x\"}}",
            quoted(&line(3, 4))
        ),
    );
    assert_eq!(written, "Created `aaa[redacted]bbbb`: 1 bytes.");
    let edited = world.ok(
        "Edit",
        &format!(
            "{{\"file_path\":{},\"old_string\":\"x\",\"new_string\":\"y\"}}",
            quoted(&line(3, 4))
        ),
    );
    assert_eq!(
        edited,
        "Edited `aaa[redacted]bbbb`: 1 replacement, at line 1."
    );
}

// covers: DEC-30
#[test]
fn a_key_in_an_input_is_in_no_error() {
    let world = world();
    for at in 280..302 {
        let long = quoted(&line(at, 100));
        let path = format!("{{\"file_path\":{long},\"content\":\"\"}}");
        for (tool, input) in [
            ("Read", format!("{{\"file_path\":{long}}}")),
            ("Read", format!("{{\"file_path\":\"f\",{long}:1}}")),
            ("Write", path),
            (
                "Edit",
                format!("{{\"file_path\":{long},\"old_string\":\"a\",\"new_string\":\"\"}}"),
            ),
            ("Glob", format!("{{\"pattern\":\"*\",\"path\":{long}}}")),
            ("Grep", format!("{{\"pattern\":\"a\",\"path\":{long}}}")),
            ("CurrentTime", format!("{{\"timezone\":{long}}}")),
            ("Bash", format!("{{\"command\":\"true\",{long}:1}}")),
        ] {
            keeps_quiet(&world.fault(tool, &input));
        }
        keeps_quiet(&world.fault(&line(at, 100), "{}"));
        let pattern = quoted(&format!("{}(", line(at, 100)));
        keeps_quiet(&world.fault("Grep", &format!("{{\"pattern\":{pattern}}}")));
        let pattern = quoted(&format!("{}[", line(at, 100)));
        keeps_quiet(&world.fault("Glob", &format!("{{\"pattern\":{pattern}}}")));
    }
}
