use crate::world::{World, quoted};
use agentx_core::tool::Access;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn input(path: &str, old: &str, new: &str, all: bool) -> String {
    format!(
        "{{\"file_path\":{},\"old_string\":{},\"new_string\":{},\"replace_all\":{all}}}",
        quoted(path),
        quoted(old),
        quoted(new)
    )
}

#[test]
fn one_occurrence_is_replaced_and_all_else_stays() {
    let world = World::new();
    let path = world.write("f", "a\nb\nc");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        world.ok("Edit", &input("f", "b\n", "B", false)),
        "Edited `f`: 1 replacement, at line 2."
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nBc");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o640
    );
    world.ok("Edit", &input("f", "a\nBc", "", false));
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn every_occurrence_is_replaced_only_when_asked() {
    let world = World::new();
    let path = world.write("f", "x\naaaa\n");
    world.refused(
        "Edit",
        &input("f", "aa", "b", false),
        "`old_string` stands 2 times in `f`",
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "x\naaaa\n");
    assert_eq!(
        world.ok("Edit", &input("f", "aa", "aaa", true)),
        "Edited `f`: 2 replacements, the first at line 2."
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "x\naaaaaa\n");
}

#[test]
fn what_cannot_be_replaced_is_told() {
    let world = World::new();
    world.write("f", "a\r\nb\r\n");
    world.write("bin", b"a\0b");
    for (path, old, new, why) in [
        ("f", "z", "y", "`old_string` does not stand in `f`."),
        ("f", "A", "y", "does not stand"),
        ("f", "a\nb", "y", "end with CRLF"),
        ("f", "", "y", "`old_string` is empty"),
        ("f", "a", "a", "are the same"),
        ("bin", "a", "y", "is a binary file"),
        ("none", "a", "y", "does not exist"),
        (".", "a", "y", "is a folder"),
    ] {
        world.refused("Edit", &input(path, old, new, false), why);
    }
    assert_eq!(fs::read_to_string(world.work("f")).unwrap(), "a\r\nb\r\n");
    world.ok("Edit", &input("f", "a\r\nb", "c\r\nd", false));
    assert_eq!(fs::read_to_string(world.work("f")).unwrap(), "c\r\nd\r\n");
}

#[test]
fn bytes_that_are_not_utf8_survive() {
    let world = World::new();
    let path = world.write("f", b"\xFF old \xE6\xBC");
    world.ok("Edit", &input("f", "old", "é", false));
    assert_eq!(fs::read(path).unwrap(), b"\xFF \xC3\xA9 \xE6\xBC");
}

#[test]
fn sizes_are_bounded_before_and_after() {
    let mut world = World::new();
    world.config.limits.edit_bytes = 100;
    world.write("f", "a".repeat(101));
    world.refused(
        "Edit",
        &input("f", "a", "b", true),
        "larger than the 100 bytes",
    );
    world.write("f", "a".repeat(100));
    world.refused("Edit", &input("f", "a", "bb", true), "would have 200 bytes");
    world.ok("Edit", &input("f", "a", "b", true));
}

#[test]
fn links_out_and_home_are_refused() {
    let mut world = World::new();
    symlink("../other/file", world.work("out")).unwrap();
    symlink("../home/auth.json", world.work("secret")).unwrap();
    world.refused("Edit", &input("out", "outside", "x", false), "outside");
    world.access = Access::Granted;
    world.ok("Edit", &input("out", "outside", "x", false));
    world.refused(
        "Edit",
        &input("secret", "secret", "x", false),
        "AGENTX_HOME",
    );
    assert_eq!(
        fs::read_to_string(world.beside("home/auth.json")).unwrap(),
        "the secret"
    );
}
