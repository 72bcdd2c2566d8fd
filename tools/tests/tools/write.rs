use crate::world::{World, quoted};
use agentx_core::tool::Access;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

fn input(path: &str, content: &str) -> String {
    format!(
        "{{\"file_path\":{},\"content\":{}}}",
        quoted(path),
        quoted(content)
    )
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_file_is_made_with_its_folders() {
    let world = World::new();
    let answer = world.ok("Write", &input("a/b/c.txt", "é\r\nz"));
    assert_eq!(answer, "Created `a/b/c.txt`: 5 bytes.");
    assert_eq!(
        fs::read(world.work("a/b/c.txt")).unwrap(),
        "é\r\nz".as_bytes()
    );
    assert_eq!(names(&world.work("a/b")), ["c.txt"], "nothing else is left");
}

#[test]
fn an_existing_file_keeps_its_permissions() {
    let world = World::new();
    let path = world.write("run.sh", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4751)).unwrap();
    assert_eq!(
        world.ok("Write", &input("run.sh", "")),
        "Replaced `run.sh`: 0 bytes."
    );
    assert_eq!(fs::read(&path).unwrap(), b"");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o4751
    );
    assert_eq!(names(&world.work("")), ["run.sh"]);
}

#[test]
fn the_owner_stays() {
    let world = World::new();
    let path = world.write("f", "old");
    let changed = std::os::unix::fs::chown(&path, Some(12_345), Some(12_346)).is_ok();
    let before = fs::metadata(&path).unwrap();
    assert!(!changed || before.uid() == 12_345);
    world.ok("Write", &input("f", "new"));
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
}

#[test]
fn the_old_content_is_never_half_replaced() {
    let world = World::new();
    let path = world.write("f", "old");
    let open = fs::File::open(&path).unwrap();
    world.ok("Write", &input("f", "new"));
    // Whoever had it open still sees all of the old content.
    assert_eq!(std::io::read_to_string(open).unwrap(), "old");
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn a_link_is_written_through_and_stays_a_link() {
    let world = World::new();
    world.write("real/f", "old");
    symlink("real/f", world.work("link")).unwrap();
    symlink("real/later", world.work("dangling")).unwrap();
    world.ok("Write", &input("link", "new"));
    world.ok("Write", &input("dangling", "made"));
    assert_eq!(fs::read_to_string(world.work("real/f")).unwrap(), "new");
    assert_eq!(
        fs::read_to_string(world.work("real/later")).unwrap(),
        "made"
    );
    assert!(
        fs::symlink_metadata(world.work("link"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn what_lies_outside_or_in_home_is_not_written() {
    let mut world = World::new();
    symlink("../other", world.work("out")).unwrap();
    symlink("../other/made", world.work("dangling")).unwrap();
    symlink("../home/auth.json", world.work("secret")).unwrap();
    symlink("../home", world.work("home")).unwrap();
    for path in [
        "../other/made",
        "out/made",
        "out/deep/made",
        "dangling",
        "../made",
    ] {
        world.refused("Write", &input(path, "x"), "outside");
    }
    assert_eq!(names(&world.beside("other")), ["file"]);
    world.access = Access::Granted;
    for path in [
        "secret",
        "home/new",
        "home/deep/new",
        "../home/auth.json",
        "../home",
    ] {
        world.refused("Write", &input(path, "x"), "AGENTX_HOME");
    }
    assert_eq!(names(&world.beside("home")), ["auth.json"]);
    assert_eq!(
        fs::read_to_string(world.beside("home/auth.json")).unwrap(),
        "the secret"
    );
    world.ok("Write", &input("../other/made", "x"));
}

#[test]
fn a_home_that_is_not_there_yet_is_not_made() {
    let mut world = World::new();
    world.access = Access::Granted;
    world.config.home = world.work("later");
    world.refused("Write", &input("later/settings.json", "{}"), "AGENTX_HOME");
    assert_eq!(names(&world.work("")), Vec::<String>::new());
}

#[test]
fn what_is_no_regular_file_is_not_replaced() {
    let mut world = World::new();
    world.access = Access::Granted;
    world.fifo("pipe");
    fs::create_dir(world.work("dir")).unwrap();
    world.write("file", "x");
    for (path, why) in [
        ("pipe", "is a pipe"),
        ("dir", "is a folder"),
        ("dir/", "is a folder"),
        ("new/", "does not exist"),
        ("file/below", "not a folder"),
        ("/dev/null", "is a device"),
        ("/proc/agentx/new", "/proc/agentx/new"),
        (&"n".repeat(256), "name too long"),
    ] {
        let text = world.fault("Write", &input(path, "x"));
        assert!(text.to_lowercase().contains(why), "{path}: {text}");
    }
    assert_eq!(names(&world.work("")), ["dir", "file", "pipe"]);
}
