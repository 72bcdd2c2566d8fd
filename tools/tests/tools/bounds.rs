//! What holds for every tool.

use crate::world::{World, command_input, quoted, text};
use agentx_tools::CancelToken;

/// A call of each tool that would succeed.
fn calls() -> [(&'static str, String); 7] {
    [
        ("Read", r#"{"file_path":"f"}"#.to_owned()),
        ("Glob", r#"{"pattern":"*"}"#.to_owned()),
        ("Grep", r#"{"pattern":"a"}"#.to_owned()),
        ("CurrentTime", "{}".to_owned()),
        ("Write", r#"{"file_path":"g","content":"x"}"#.to_owned()),
        (
            "Edit",
            r#"{"file_path":"f","old_string":"a","new_string":"b"}"#.to_owned(),
        ),
        ("Bash", command_input("true")),
    ]
}

#[test]
fn every_offered_tool_runs_and_no_other() {
    let world = World::new();
    world.write("f", "a\n");
    let offered = world.config.specs();
    let names: Vec<&str> = offered.iter().map(|spec| &*spec.name).collect();
    assert_eq!(names, calls().each_ref().map(|(name, _)| *name));
    for (name, input) in calls() {
        world.ok(name, &input);
    }
    world.refused("read", "{}", "There is no tool `read`.");
}

#[test]
fn a_cancelled_call_does_nothing_and_says_so() {
    let world = World::new();
    world.write("f", "a\n");
    let cancel = CancelToken::new();
    cancel.cancel();
    for (name, input) in calls() {
        let outcome = world.toolbox().run(&world.request(name, &input), &cancel);
        assert!(outcome.is_error);
        assert_eq!(text(&outcome), "The call was cancelled before it ended.");
    }
    assert_eq!(std::fs::read_to_string(world.work("f")).unwrap(), "a\n");
    assert!(!world.work("g").exists());
}

#[test]
fn every_tool_refuses_unknown_members_and_what_is_no_object() {
    let world = World::new();
    for (name, _) in calls() {
        world.refused(
            name,
            r#"{"no_such_member":1}"#,
            "Unknown member `no_such_member`",
        );
        world.refused(name, "[]", "The input must be a JSON object.");
    }
}

#[test]
fn a_session_without_a_usable_directory_is_an_error() {
    let world = World::new();
    for (name, input) in calls()
        .into_iter()
        .filter(|(name, _)| *name != "CurrentTime")
    {
        for directories in [vec![], vec!["relative".to_owned()]] {
            let mut request = world.request(name, &input);
            request.directories = directories.into();
            let outcome = world.toolbox().run(&request, &CancelToken::new());
            assert!(outcome.is_error);
            assert!(text(&outcome).contains("no absolute working directory"));
        }
    }
}

#[test]
fn a_further_working_directory_is_open_too() {
    let world = World::new();
    let mut request = world.request("Read", r#"{"file_path":"../other/file"}"#);
    let work = request.directories[0].clone();
    request.directories = vec![work, world.beside("other").to_str().unwrap().to_owned()].into();
    let outcome = world.toolbox().run(&request, &CancelToken::new());
    assert_eq!(text(&outcome), "     1\toutside");
}

#[test]
fn a_home_that_cannot_be_located_closes_the_file_tools() {
    let mut world = World::new();
    world.write("f", "a\n");
    world.config.home = "relative".into();
    world.refused("Read", r#"{"file_path":"f"}"#, "AGENTX_HOME");
    world.config.home = world.work("f/below");
    world.refused("Read", r#"{"file_path":"f"}"#, "AGENTX_HOME");
}

// covers: DEC-34
#[test]
fn results_are_cut_at_100000_characters_and_told() {
    let world = World::new();
    for n in 0..600 {
        world.write(&format!("{n:03}{}", "x".repeat(200)), "foo");
    }
    let text = world.ok("Glob", r#"{"pattern":"*"}"#);
    assert!(text.chars().count() <= 100_000);
    assert!(text.contains("more results left out]"), "{text}");
    let long = format!("{{\"file_path\":{}}}", quoted(&"y".repeat(4_000)));
    assert!(world.fault("Read", &long).chars().count() < 1_000);
}

#[test]
fn a_file_of_home_is_refused_under_its_other_names() {
    let mut world = World::new();
    world.access = agentx_core::tool::Access::Granted;
    std::fs::hard_link(world.beside("home/auth.json"), world.work("a")).unwrap();
    std::fs::hard_link(world.beside("other/file"), world.work("b")).unwrap();
    let why = "`a` is a file of AGENTX_HOME";
    world.refused("Read", r#"{"file_path":"a"}"#, why);
    world.refused("Grep", r#"{"pattern":"secret","path":"a"}"#, why);
    let edit = r#"{"file_path":"a","old_string":"secret","new_string":"x"}"#;
    world.refused("Edit", edit, why);
    assert_eq!(world.ok("Grep", r#"{"pattern":"."}"#), "b");
    // Writing makes a new file; the one in the home stays as it is.
    world.ok("Write", r#"{"file_path":"a","content":"x"}"#);
    let kept = std::fs::read_to_string(world.beside("home/auth.json")).unwrap();
    assert_eq!(kept, "the secret");
    world.ok("Read", r#"{"file_path":"a"}"#);
}

#[cfg(target_os = "linux")]
#[test]
fn the_links_of_proc_lead_where_they_say_and_home_stays_closed() {
    let mut world = World::new();
    world.access = agentx_core::tool::Access::Granted;
    let folder = std::fs::File::open(world.beside("home")).unwrap();
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&folder);
    let home = world.beside("home");
    for path in [
        format!("/proc/self/root{}/auth.json", home.display()),
        format!("/proc/self/fd/{descriptor}/auth.json"),
        format!("/proc/{}/fd/{descriptor}/auth.json", std::process::id()),
        format!("/dev/fd/{descriptor}/auth.json"),
        format!(
            "/proc/self/cwd/../../../../../..{}/auth.json",
            home.display()
        ),
    ] {
        let input = format!("{{\"file_path\":{}}}", quoted(&path));
        world.refused("Read", &input, "lies in AGENTX_HOME");
        let input = format!("{{\"file_path\":{},\"content\":\"\"}}", quoted(&path));
        world.refused("Write", &input, "lies in AGENTX_HOME");
    }
    // What is no path behind such a link cannot be named through it.
    let (reader, _writer) = std::io::pipe().unwrap();
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&reader);
    let pipe = format!("{{\"file_path\":\"/proc/self/fd/{descriptor}\"}}");
    world.refused("Read", &pipe, "does not exist");
}

#[test]
fn pipes_and_devices_are_passed_over_by_a_search_and_refused_by_name() {
    let mut world = World::new();
    world.access = agentx_core::tool::Access::Granted;
    world.fifo("pipe");
    world.write("f", "a\n");
    std::os::unix::fs::symlink("/dev/zero", world.work("zero")).unwrap();
    assert_eq!(world.ok("Grep", r#"{"pattern":"a"}"#), "f");
    for (path, why) in [
        ("pipe", "a pipe"),
        ("zero", "a device"),
        ("/dev/zero", "a device"),
    ] {
        world.refused(
            "Grep",
            &format!("{{\"pattern\":\"a\",\"path\":\"{path}\"}}"),
            why,
        );
        let edit =
            format!("{{\"file_path\":\"{path}\",\"old_string\":\"a\",\"new_string\":\"b\"}}");
        world.refused("Edit", &edit, why);
    }
}
