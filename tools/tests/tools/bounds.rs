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
    let offered = agentx_tools::builtin_specs();
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
