use crate::world::{World, quoted};
use agentx_core::tool::Access;
use std::os::unix::fs::symlink;

fn grep(world: &World, pattern: &str, more: &str) -> String {
    world.ok(
        "Grep",
        &format!("{{\"pattern\":{}{more}}}", quoted(pattern)),
    )
}

const CONTENT: &str = r#","output_mode":"content""#;

#[test]
fn the_three_modes_answer_in_path_order() {
    let world = World::new();
    world.write("b", "x\nfoo one\nfoo two\n");
    world.write("a/c", "foo");
    world.write("none", "bar\n");
    assert_eq!(grep(&world, "fo+", ""), "a/c\nb");
    assert_eq!(
        grep(&world, "fo+", r#","output_mode":"files_with_matches""#),
        "a/c\nb"
    );
    assert_eq!(
        grep(&world, "fo+", r#","output_mode":"count""#),
        "a/c:1\nb:2"
    );
    assert_eq!(
        grep(&world, "fo+", CONTENT),
        "a/c:1:foo\nb:2:foo one\nb:3:foo two"
    );
    assert_eq!(grep(&world, "FOO", ""), "No matches.");
    assert_eq!(grep(&world, "(?i)FOO", ""), "a/c\nb");
}

#[test]
fn anchors_hold_at_line_ends_of_every_kind() {
    let world = World::new();
    world.write("f", "foo\r\nfoo\nfoo bar\n\nfoo");
    assert_eq!(grep(&world, "^foo$", CONTENT), "f:1:foo\nf:2:foo\nf:5:foo");
    assert_eq!(grep(&world, "^$", CONTENT), "f:4:");
    world.write("f", "");
    assert_eq!(grep(&world, "^$", CONTENT), "No matches.");
}

#[test]
fn one_file_and_a_glob_narrow_the_search() {
    let world = World::new();
    for name in ["a.rs", "b.txt", "src/c.rs", "src/d.txt"] {
        world.write(name, "foo\n");
    }
    assert_eq!(grep(&world, "foo", r#","path":"src/c.rs""#), "src/c.rs");
    assert_eq!(
        grep(&world, "foo", r#","path":"src""#),
        "src/c.rs\nsrc/d.txt"
    );
    assert_eq!(grep(&world, "foo", r#","glob":"*.rs""#), "a.rs\nsrc/c.rs");
    assert_eq!(grep(&world, "foo", r#","glob":"src/*.rs""#), "src/c.rs");
    let both = r#","path":"src/c.rs","glob":"*.txt""#;
    assert_eq!(grep(&world, "foo", both), "No matches.");
}

#[test]
fn binaries_links_home_and_large_files_are_not_searched() {
    let mut world = World::new();
    world.access = Access::Granted;
    world.config.limits.grep_file_bytes = 1_000;
    world.write("bin", b"foo\0");
    world.write("large", "foo\n".repeat(251));
    world.write("text", b"\xFF foo\n");
    world.write(".git/x", "foo");
    world.fifo("pipe");
    symlink("text", world.work("link")).unwrap();
    symlink("/dev/zero", world.work("zero")).unwrap();
    assert_eq!(
        grep(&world, "foo", CONTENT),
        "text:1:\u{FFFD} foo\n[1 binary files were not searched.]\n\
         [1 files over 1000 bytes were not searched.]"
    );
    assert!(!grep(&world, "secret", r#","path":"..""#).contains("home"));
    for path in ["../home", "../home/auth.json"] {
        let input = format!("{{\"pattern\":\"s\",\"path\":\"{path}\"}}");
        world.refused("Grep", &input, "AGENTX_HOME");
    }
    for path in ["pipe", "zero"] {
        let input = format!("{{\"pattern\":\"s\",\"path\":\"{path}\"}}");
        world.refused("Grep", &input, "not a regular file");
    }
    assert_eq!(grep(&world, "foo", r#","path":"link""#), "link");
}

#[test]
fn outside_is_refused() {
    let world = World::new();
    symlink("../other", world.work("out")).unwrap();
    for path in ["..", "../other", "out", "out/file", "/"] {
        let input = format!("{{\"pattern\":\"outside\",\"path\":\"{path}\"}}");
        world.refused("Grep", &input, "outside the working directories");
    }
    assert_eq!(grep(&world, "outside", ""), "No matches.");
}

#[test]
fn at_most_100_results_come_and_the_cut_is_told() {
    let world = World::new();
    world.write("a", "foo\n".repeat(60));
    world.write("b", "foo\n".repeat(41));
    let text = grep(&world, "foo", CONTENT);
    assert_eq!(text.lines().count(), 101);
    assert!(
        text.contains("b:40:foo\n[Cut: these are the first 100 results"),
        "{text}"
    );
    assert_eq!(
        grep(&world, "foo", r#","output_mode":"count""#),
        "a:60\nb:41"
    );
    world.write("b", "foo\n".repeat(40));
    assert_eq!(grep(&world, "foo", CONTENT).lines().count(), 100);
    for n in 0..101 {
        world.write(&format!("files/{n:03}"), "bar");
    }
    assert!(
        grep(&world, "bar", "")
            .ends_with("[Cut: these are the first 100 results in path order; there are more.]")
    );
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let world = World::new();
    let line = format!("{}foo{}", "ä".repeat(10_000), "ö".repeat(10_000));
    world.write("f", &line);
    let text = grep(&world, "foo", CONTENT);
    assert!(text.contains("äfooö"), "{text}");
    assert!(text.starts_with("f:1:…ä"));
    assert!(text.ends_with("[… 19503 characters cut]"), "{text}");
    world.write("f", format!("foo{}", "x".repeat(600)));
    let text = grep(&world, "foo", CONTENT);
    assert!(text.starts_with("f:1:foox") && text.ends_with("x [… 103 characters cut]"));
}

#[test]
fn faults_name_their_member() {
    let world = World::new();
    for (input, why) in [
        (r#"{"pattern":"("}"#, "`pattern` is no regular expression"),
        (
            r#"{"pattern":"(?=a)"}"#,
            "`pattern` is no regular expression",
        ),
        (
            r#"{"pattern":"a{1000}{1000}{1000}"}"#,
            "`pattern` is no regular expression",
        ),
        (r#"{"pattern":"a","glob":"["}"#, "`glob` is no glob pattern"),
        (
            r#"{"pattern":"a","path":"none"}"#,
            "`path` `none` does not exist",
        ),
        (
            r#"{"pattern":"a","output_mode":"lines"}"#,
            "`output_mode` must be",
        ),
    ] {
        world.refused("Grep", input, why);
    }
}

#[test]
fn a_pattern_that_makes_other_engines_explode_is_linear() {
    let world = World::new();
    world.write("f", "a".repeat(50_000) + "!");
    assert_eq!(grep(&world, "^(a+)+$", ""), "No matches.");
}
