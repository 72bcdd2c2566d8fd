//! The home folder, `auth.json` and the files beside it.

use crate::support::{World, auth, finish, from_prompt};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn entries() -> Value {
    json!([from_prompt("main", &json!({}))])
}

/// What a run says that should be refused after `change` was done to a good home.
fn refused(change: impl FnOnce(&World)) -> String {
    let world = World::with(&entries());
    change(&world);
    let outcome = world.run(&["-p", "x"], "");
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(2), ""));
    let text = outcome.stderr.strip_prefix("agentx: error: ").unwrap();
    let home = world.home();
    text.strip_suffix('\n')
        .unwrap()
        .replace(home.to_str().unwrap(), "HOME")
}

#[test]
fn a_missing_home_or_registry_is_told() {
    assert_eq!(
        refused(|world| fs::remove_dir_all(world.home()).unwrap()),
        "home folder HOME: does not exist; it holds auth.json, see agentx --help"
    );
    assert_eq!(
        refused(|world| {
            fs::remove_dir_all(world.home()).unwrap();
            fs::write(world.home(), "").unwrap();
        }),
        "home folder HOME: not a folder"
    );
    assert_eq!(
        refused(|world| fs::remove_file(world.home().join("auth.json")).unwrap()),
        "auth.json: no such file in HOME"
    );
}

#[test]
fn every_rule_of_the_registry_file_is_held() {
    let file = |world: &World| world.home().join("auth.json");
    for (mode, shown) in [
        (0o644, "0644"),
        (0o640, "0640"),
        (0o400, "0400"),
        (0o700, "0700"),
    ] {
        assert_eq!(
            refused(|world| set_mode(&file(world), mode)),
            format!("auth.json: mode {shown}, expected 0600")
        );
    }
    assert_eq!(
        refused(|world| set_mode(&world.home(), 0o755)),
        "auth.json: its folder has mode 0755, expected 0700"
    );
    assert_eq!(
        refused(|world| fs::hard_link(file(world), world.work().join("other")).unwrap()),
        "auth.json: 2 hard links, exactly one is expected"
    );
    assert_eq!(
        refused(|world| {
            let real = world.work().join("real");
            fs::rename(file(world), &real).unwrap();
            symlink(real, file(world)).unwrap();
        }),
        "auth.json: a symbolic link, expected a regular file"
    );
    assert_eq!(
        refused(|world| {
            fs::remove_file(file(world)).unwrap();
            fs::create_dir(file(world)).unwrap();
        }),
        "auth.json: not a regular file"
    );
    assert_eq!(
        refused(|world| {
            fs::remove_file(file(world)).unwrap();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, file(world), kind, mode, 0).unwrap();
        }),
        "auth.json: not a regular file"
    );
}

#[test]
fn the_text_of_the_registry_is_checked() {
    let rewritten = |text: &str| {
        refused(|world| {
            let path = world.home().join("auth.json");
            fs::write(path, text).unwrap();
        })
    };
    let long = auth(&entries()) + &" ".repeat(65_536);
    assert_eq!(rewritten(&long), "auth.json: over 65536 bytes");
    let marked = format!("\u{feff}{}", auth(&entries()));
    assert!(rewritten(&marked).starts_with("auth.json: "));
    let twice = r#"{"version":2,"version":2,"providers":[]}"#;
    assert!(rewritten(twice).contains("duplicate member name"));
    assert!(rewritten("{").starts_with("auth.json: "));
    // A whole registry of the largest size is taken.
    let world = World::empty();
    world.make_home();
    let text = auth(&entries());
    let padding = " ".repeat(65_536 - text.len());
    world.write_private("auth.json", &(text + &padding));
    assert_eq!(world.run(&["-p", "x"], "").stdout, "echo: x\n");
}

// covers: WIRE-025
#[test]
fn a_provider_is_chosen_once_for_the_process() {
    let two = json!([
        from_prompt("east", &json!({})),
        from_prompt("west", &json!({}))
    ]);
    let world = World::with(&two);
    world.run(&["-p", "x"], "").refused(
        "auth.json: several providers and no default: name one with --provider (east, west), \
         or mark one entry \"default\": true",
    );
    let unknown = world.run(&["-p", "--provider", "north", "x"], "");
    unknown.refused("auth.json: no provider has the id given by --provider; there are: east, west");
    for id in ["east", "west"] {
        let outcome = world.run(
            &["--output-format", "stream-json", "--provider", id, "x"],
            "",
        );
        assert_eq!(outcome.records()[0]["provider"], id);
    }
}

#[test]
fn a_script_file_is_read_with_the_same_care() {
    let entries = json!([{
        "id": "main", "type": "scripted",
        "scripted": {"model": "m", "script": "turns.json"}
    }]);
    let script = json!({"turns": [{"text": "first"}, {"text": "second"}]}).to_string();
    let world = World::with(&entries);
    let run = || world.run(&["-p", "x"], "");
    let home = world.home();
    run().refused(&format!("turns.json: no such file in {}", home.display()));
    world.write_private("turns.json", &script);
    assert_eq!(run().stdout, "first\n");
    set_mode(&home.join("turns.json"), 0o644);
    run().refused("turns.json: mode 0644, expected 0600");
    fs::remove_file(home.join("turns.json")).unwrap();
    symlink("auth.json", home.join("turns.json")).unwrap();
    run().refused("turns.json: a symbolic link, expected a regular file");
    fs::remove_file(home.join("turns.json")).unwrap();
    world.write_private("turns.json", "{\"turns\": 1}");
    let outcome = run();
    assert_eq!(outcome.status, Some(2));
    let start = "agentx: error: auth.json: id \"main\": scripted.script: ";
    assert!(outcome.stderr.starts_with(start), "{}", outcome.stderr);
}

#[test]
fn the_home_of_the_user_is_the_default() {
    let world = World::empty();
    let run = |home: &Path| {
        let mut command = world.command(&["-p", "x"]);
        command.env("AGENTX_HOME", " ").env("HOME", home);
        finish(command, "")
    };
    let expected = world.work().join(".agentx");
    run(&world.work()).refused(&format!(
        "home folder {}: does not exist; it holds auth.json, see agentx --help",
        expected.display()
    ));
    run(Path::new("relative"))
        .refused("no home folder is known: expected AGENTX_HOME or HOME to be an absolute path");
}
