//! `agentx sessions`.

use crate::support::{DUPLEX, World, script, user};
use serde_json::{Value, json};

#[test]
fn a_session_is_shown_to_people_without_moving_their_terminal() {
    let world = World::scripted();
    let steps = json!([
        {"thinking": ["hm"], "tool_calls": [{"id": "t1", "name": "CurrentTime", "input": {"timezone": "UTC"}}]},
        {"text": "done \u{1b}[31mred"}
    ]);
    let run = world.run(&DUPLEX, &format!("{}\n", user(&script(&steps))));
    let id = run.records()[0]["session_id"].as_str().unwrap().to_owned();
    let shown = world.run(&["sessions", "show", &id], "");
    assert_eq!((shown.status, shown.stderr.as_str()), (Some(0), ""));
    let text = shown.stdout;
    assert!(
        text.starts_with(&format!("session   {id}\nfolder    ")),
        "{text}"
    );
    for part in [
        "provider  main (scripted, fixture-model)\n",
        "  user\n    SCRIPT ",
        "  assistant\n    (thinking) hm\n    CurrentTime t1 {\"timezone\":\"UTC\"}\n",
        "  result of t1\n    ",
        "    done \\u{1b}[31mred\n",
        "  end of turn: end_turn, 2 requests, ",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn a_listing_is_one_document_for_programs() {
    let world = World::empty();
    let list = ["sessions", "list", "--output-format", "json"];
    // Without a home folder there is nothing to list, and nothing is made.
    let none = world.run(&list, "");
    assert_eq!(
        (none.status, none.stdout.as_str()),
        (Some(0), "{\"version\":1,\"sessions\":[]}\n")
    );
    assert!(!world.home().exists());
    let world = World::scripted();
    for prompt in ["one", "two"] {
        assert_eq!(world.run(&["-p", prompt], "").status, Some(0));
    }
    let listed: Value = serde_json::from_str(&world.run(&list, "").stdout).unwrap();
    let sessions = listed["sessions"].as_array().unwrap();
    let titles: Vec<_> = sessions.iter().map(|session| &session["title"]).collect();
    assert_eq!(titles, ["two", "one"]);
    let names: Vec<_> = sessions[0].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 9, "{names:?}");
    assert_eq!(
        sessions[0]["cwd"],
        world.work().canonicalize().unwrap().to_str().unwrap()
    );
    let refused = world.run(&["sessions", "list", "--output-format", "stream-json"], "");
    assert_eq!(refused.status, Some(2));
}
