use crate::world::{World, quoted};
use agentx_core::tool::Access;
use std::fs;
use std::os::unix::fs::symlink;

fn read(world: &World, path: &str) -> String {
    world.ok("Read", &format!("{{\"file_path\":{}}}", quoted(path)))
}

fn part(world: &World, offset: u64, limit: u64) -> String {
    let input = format!("{{\"file_path\":\"f\",\"offset\":{offset},\"limit\":{limit}}}");
    world.ok("Read", &input)
}

#[test]
fn lines_come_with_their_numbers() {
    let world = World::new();
    world.write("f", "one\n\nthree\n");
    assert_eq!(read(&world, "f"), "     1\tone\n     2\t\n     3\tthree");
    let absolute = world.work("f");
    assert_eq!(read(&world, absolute.to_str().unwrap()), read(&world, "f"));
}

#[test]
fn line_ends_are_told_where_they_are_not_plain() {
    let world = World::new();
    world.write("f", "a\nb");
    assert_eq!(
        read(&world, "f"),
        "     1\ta\n     2\tb\n[The last line has no line end.]"
    );
    world.write("f", "a\r\nb\nc\rd\r\n");
    assert_eq!(
        read(&world, "f"),
        "     1\ta\n     2\tb\n     3\tc\rd\n[2 of these lines end with CRLF, shown without the CR.]"
    );
    world.write("f", "");
    assert_eq!(read(&world, "f"), "[The file is empty.]");
    world.write("f", "\n");
    assert_eq!(read(&world, "f"), "     1\t");
}

#[test]
fn a_part_can_be_read_and_what_follows_is_told() {
    let world = World::new();
    world.write("f", "a\nb\nc\nd\n");
    assert_eq!(
        part(&world, 2, 2),
        "     2\tb\n     3\tc\n[More lines follow; go on with offset 4.]"
    );
    assert_eq!(part(&world, 4, 1), "     4\td");
    assert_eq!(part(&world, 4, u64::MAX), "     4\td");
    world.refused(
        "Read",
        r#"{"file_path":"f","offset":5}"#,
        "`offset` 5 is past the end: `f` has 4 lines.",
    );
    world.refused(
        "Read",
        r#"{"file_path":"f","offset":18446744073709551615}"#,
        "has 4 lines",
    );
}

// covers: DEC-34
#[test]
fn at_most_2000_lines_of_2000_characters_are_shown_and_the_cut_is_told() {
    let world = World::new();
    let lines: String = (1..=2_001).map(|n| format!("line {n}\n")).collect();
    world.write("f", lines);
    let text = read(&world, "f");
    assert!(text.contains("\n  2000\tline 2000\n[More lines follow; go on with offset 2001.]"));
    assert_eq!(text, part(&world, 1, 5_000), "the limit is a bound");

    world.write(
        "f",
        format!("{}\n{}\n", "é".repeat(2_000), "é".repeat(2_007)),
    );
    let text = read(&world, "f");
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows[0], format!("     1\t{}", "é".repeat(2_000)));
    let cut = format!("     2\t{} [… 7 characters cut]", "é".repeat(2_000));
    assert_eq!(rows[1], cut);
}

// covers: DEC-34
#[test]
fn the_whole_answer_is_bounded_at_a_line_and_can_be_continued() {
    let world = World::new();
    let lines: Vec<String> = (1..=100)
        .map(|n| format!("{n} {}", "x".repeat(1_990)))
        .collect();
    world.write("f", lines.join("\n"));
    let mut offset = 1;
    let mut seen = Vec::new();
    loop {
        let text = part(&world, offset, 2_000);
        assert!(text.chars().count() <= 100_000);
        let rows = text.lines().filter_map(|row| row.split_once('\t'));
        seen.extend(rows.map(|(_, line)| line.to_owned()));
        let Some((_, next)) = text.split_once("go on with offset ") else {
            break;
        };
        offset = next.trim_end_matches(".]").parse().unwrap();
    }
    assert_eq!(seen, lines);
}

#[test]
fn lines_are_found_across_the_steps_in_which_a_file_is_read() {
    let world = World::new();
    let long = "ä".repeat(100_000);
    world.write("f", format!("{long}\nshort\n{long}\r\nend"));
    assert_eq!(
        part(&world, 2, 1),
        "     2\tshort\n[More lines follow; go on with offset 3.]"
    );
    assert_eq!(
        part(&world, 4, 1),
        "     4\tend\n[The last line has no line end.]"
    );
    assert!(part(&world, 3, 1).contains("[… 98001 characters cut]"));
}

#[test]
fn what_is_not_utf8_is_replaced_and_told_and_binaries_are_refused() {
    let world = World::new();
    world.write("f", b"gr\xFC\xDFe \xE6\xBC\n");
    assert_eq!(
        read(&world, "f"),
        "     1\tgr\u{FFFD}\u{FFFD}e \u{FFFD}\n\
         [3 byte sequences that are not UTF-8 are shown as U+FFFD.]"
    );
    world.write("f", b"\x7FELF\0\0");
    world.refused("Read", r#"{"file_path":"f"}"#, "`f` is a binary file.");
}

#[test]
fn what_is_no_regular_file_is_refused_by_kind_without_waiting() {
    let mut world = World::new();
    world.access = Access::Granted;
    world.fifo("pipe");
    fs::create_dir(world.work("dir")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.work("socket")).unwrap();
    symlink("/dev/zero", world.work("zero")).unwrap();
    for (path, why) in [
        ("pipe", "`pipe` is a pipe, not a regular file."),
        ("dir", "`dir` is a folder"),
        ("socket", "`socket` is a socket"),
        ("/dev/zero", "`/dev/zero` is a device"),
        ("zero", "`zero` is a device"),
        ("none", "`none` does not exist."),
        ("dir/none/x", "`dir/none/x` does not exist."),
        ("socket/x", "not a folder"),
        ("", "The path is empty."),
    ] {
        world.refused("Read", &format!("{{\"file_path\":\"{path}\"}}"), why);
    }
}

#[test]
fn a_file_that_the_system_does_not_let_us_read_is_an_error() {
    // Also for a superuser: this file of the kernel can be opened but not read.
    let mut world = World::new();
    world.access = Access::Granted;
    world.refused(
        "Read",
        r#"{"file_path":"/proc/self/mem"}"#,
        "`/proc/self/mem`: ",
    );
}

#[test]
fn links_out_and_home_are_refused() {
    let mut world = World::new();
    symlink("../other/file", world.work("out")).unwrap();
    symlink(world.beside("home"), world.work("home")).unwrap();
    world.refused(
        "Read",
        r#"{"file_path":"out"}"#,
        "outside the working directories",
    );
    world.refused("Read", r#"{"file_path":"../other/file"}"#, "outside");
    world.refused("Read", r#"{"file_path":"home/auth.json"}"#, "AGENTX_HOME");
    world.access = Access::Granted;
    assert!(read(&world, "out").contains("outside"));
    for path in [
        "home/auth.json",
        "../home/auth.json",
        "home",
        "home/../home/auth.json",
    ] {
        world.refused(
            "Read",
            &format!("{{\"file_path\":\"{path}\"}}"),
            "AGENTX_HOME",
        );
    }
}

#[test]
fn reading_stops_at_its_bound() {
    let mut world = World::new();
    world.config.limits.read_bytes = 65_536;
    world.write("f", "x\n".repeat(100_000));
    let input = r#"{"file_path":"f","offset":90000}"#;
    world.refused(
        "Read",
        input,
        "Line 90000 of `f` lies beyond the 65536 bytes",
    );
    let text = world.ok("Read", r#"{"file_path":"f","offset":32760}"#);
    assert!(
        text.ends_with("32768\tx\n[Stopped here after 65536 bytes of the file.]"),
        "{text}"
    );
}
