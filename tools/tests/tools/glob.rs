use crate::world::{World, quoted};
use agentx_core::tool::Access;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

fn glob(world: &World, pattern: &str) -> String {
    world.ok("Glob", &format!("{{\"pattern\":{}}}", quoted(pattern)))
}

fn glob_in(world: &World, pattern: &str, path: &str) -> String {
    let input = format!(
        "{{\"pattern\":{},\"path\":{}}}",
        quoted(pattern),
        quoted(path)
    );
    world.ok("Glob", &input)
}

#[test]
fn files_match_by_their_path_in_a_fixed_order() {
    let world = World::new();
    for name in [
        "b.rs",
        "a.rs",
        "src/z.rs",
        "src/deep/y.rs",
        "src/x.txt",
        ".hidden/h.rs",
        "Ä.rs",
    ] {
        world.write(name, "");
    }
    assert_eq!(glob(&world, "*.rs"), "a.rs\nb.rs\nÄ.rs");
    assert_eq!(glob(&world, "./*.rs"), "a.rs\nb.rs\nÄ.rs");
    let all = ".hidden/h.rs\na.rs\nb.rs\nsrc/deep/y.rs\nsrc/z.rs\nÄ.rs";
    assert_eq!(glob(&world, "**/*.rs"), all);
    assert_eq!(glob(&world, "src/*.{rs,txt}"), "src/x.txt\nsrc/z.rs");
    assert_eq!(glob(&world, "src/**/[xy].*"), "src/deep/y.rs\nsrc/x.txt");
    assert_eq!(
        glob(&world, "src"),
        "No files match.",
        "folders are no files"
    );
    assert_eq!(glob(&world, "*.RS"), "No files match.");
}

#[test]
fn results_can_be_read_as_they_stand() {
    let world = World::new();
    world.write("src/deep/y.rs", "content\n");
    let absolute = world.work("src");
    let absolute = absolute.to_str().unwrap();
    for (path, expected) in [
        ("src", "src/deep/y.rs".to_owned()),
        ("./src/", "./src/deep/y.rs".to_owned()),
        (absolute, format!("{absolute}/deep/y.rs")),
    ] {
        assert_eq!(glob_in(&world, "**/*", path), expected);
        let read = format!("{{\"file_path\":{}}}", quoted(&expected));
        assert!(world.ok("Read", &read).contains("content"));
    }
}

#[test]
fn version_control_is_not_entered_unless_named() {
    let world = World::new();
    for name in [
        ".git/config",
        "sub/.git/config",
        ".github/x",
        "sub/.gitignore",
    ] {
        world.write(name, "");
    }
    assert_eq!(glob(&world, "**/*"), ".github/x\nsub/.gitignore");
    assert_eq!(glob_in(&world, "*", ".git"), ".git/config");
}

#[test]
fn what_gitignore_excludes_is_left_out_told_and_can_be_named() {
    let world = World::new();
    for name in [
        "target/a.o",
        "target/b/c.o",
        "src/x.o",
        "src/keep/y.o",
        "src/z.rs",
    ] {
        world.write(name, "");
    }
    world.write(".gitignore", "/target/\n*.o\n");
    world.write("src/keep/.gitignore", "!*.o\n");
    let told = "[2 entries were left out by .gitignore; `path` can name one of them.]";
    let files = ".gitignore\nsrc/keep/.gitignore\nsrc/keep/y.o\nsrc/z.rs";
    assert_eq!(glob(&world, "**"), format!("{files}\n{told}"));
    assert_eq!(glob_in(&world, "**", "target"), "target/a.o\ntarget/b/c.o");
}

#[test]
fn links_are_files_where_they_lead_to_one_inside_and_never_entered() {
    let world = World::new();
    world.write("real/f", "");
    symlink("real/f", world.work("good")).unwrap();
    symlink("real", world.work("folder")).unwrap();
    symlink("nowhere", world.work("dangling")).unwrap();
    symlink("../other/file", world.work("out")).unwrap();
    symlink("../other", world.work("out-folder")).unwrap();
    symlink("../home/auth.json", world.work("secret")).unwrap();
    symlink("..", world.work("real/up")).unwrap();
    assert_eq!(glob(&world, "**"), "good\nreal/f");
}

#[test]
fn home_is_left_out_and_refused() {
    let mut world = World::new();
    world.access = Access::Granted;
    world.write("a/f", "");
    world.write("inner-home/auth.json", "");
    assert_eq!(
        glob_in(&world, "**/f*", ".."),
        "../other/file\n../work/a/f",
        "the home beside is left out"
    );
    world.refused("Glob", r#"{"pattern":"*","path":"../home"}"#, "AGENTX_HOME");
    world.config.home = world.work("inner-home");
    assert_eq!(glob(&world, "**"), "a/f");
    symlink("inner-home", world.work("also-home")).unwrap();
    world.config.home = world.work("also-home");
    assert_eq!(glob(&world, "**"), "a/f");
}

#[test]
fn faults_name_their_member() {
    let world = World::new();
    world.write("f", "");
    for (input, why) in [
        (r#"{"pattern":"[z"}"#, "`pattern` is no glob pattern"),
        (r#"{"pattern":""}"#, "`pattern` must be"),
        (r#"{"pattern":"/etc/*"}"#, "`pattern` must be"),
        (r#"{"pattern":"../*"}"#, "`pattern` must be"),
        (
            r#"{"pattern":"*","path":"f"}"#,
            "`path` `f` is not a folder",
        ),
        (
            r#"{"pattern":"*","path":"none"}"#,
            "`path` `none` does not exist",
        ),
        (r#"{"pattern":"*","path":"../other"}"#, "outside"),
        (r#"{"path":"."}"#, "`pattern` is missing"),
    ] {
        world.refused("Glob", input, why);
    }
    let long = format!("{{\"pattern\":\"{}\"}}", "a".repeat(4_097));
    world.refused("Glob", &long, "longer than 4096 bytes");
}

#[test]
fn at_most_1000_results_come_and_the_cut_is_told() {
    let world = World::new();
    for n in 0..1_001 {
        world.write(&format!("{n:04}"), "");
    }
    let text = glob(&world, "*");
    assert_eq!(text.lines().count(), 1_001);
    assert!(
        text.contains("\n0999\n[Cut: these are the first 1000 files"),
        "{text}"
    );
    fs::remove_file(world.work("0500")).unwrap();
    let text = glob(&world, "*");
    assert!(
        text.ends_with("\n1000"),
        "exactly as many as may be: no note"
    );
}

#[test]
fn a_walk_is_bounded_and_tells_so() {
    let mut world = World::new();
    world.write("a/b/c/d", "");
    world.write("a/f", "");
    world.config.limits.walk_depth = 2;
    let text = glob(&world, "**");
    assert_eq!(text, "a/f\n[1 folders lie too deep and were left out.]");
    world.config.limits.walk_entries = 2;
    assert!(glob(&world, "**").contains("[Stopped after 2 entries"));
}

#[test]
fn a_name_cannot_fake_a_line() {
    let world = World::new();
    world.write("a\nb", "");
    fs::write(world.work("").join(OsStr::from_bytes(b"\xFF")), "").unwrap();
    assert_eq!(glob(&world, "*"), "a\\nb\n\u{FFFD}");
}

#[test]
fn a_pattern_that_is_nested_deeply_or_grows_large_is_judged_without_a_panic() {
    let world = World::new();
    world.write("b", "");
    let nested = |depth| format!("{}b{}", "{a,".repeat(depth), "}".repeat(depth));
    assert_eq!(glob(&world, &nested(50)), "b");
    let input = format!("{{\"pattern\":\"{}\"}}", nested(900));
    world.refused("Glob", &input, "nested too deeply");
    for unit in ["?", "[!a]", "{?,*}", "**/", "[a-\u{10ffff}]", "*", "{a,b}"] {
        let pattern = unit.repeat(4_000 / unit.len());
        assert_eq!(glob(&world, &format!("{pattern}x")), "No files match.");
    }
}
