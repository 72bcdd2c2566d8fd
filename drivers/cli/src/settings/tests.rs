use super::*;
use agentx_core::schema::permission::{Behavior, PermissionMode};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// A home folder, a working folder and a policy that are gone afterwards.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self {
            root: tempfile::tempdir().unwrap(),
        };
        for folder in ["home", "work/.agentx", "etc"] {
            fs::create_dir_all(machine.path(folder)).unwrap();
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        path
    }

    fn load(&self, flag: Option<&TextOrFile>, trusted: bool) -> Result<Loaded, String> {
        let places = Places {
            home: &Home::open(&self.path("home")).unwrap(),
            cwd: &self.path("work"),
            policy: &self.path("etc/policy.json"),
            flag,
            trusted,
            sources: &SettingSource::ALL,
            hosted: false,
            keys: &Guard::default(),
        };
        places.load().map_err(|refusal| refusal.to_string())
    }
}

fn allow(rule: &str) -> String {
    format!(r#"{{"permissions":{{"defaultMode":"plan","allow":["{rule}"]}}}}"#)
}

#[test]
fn five_layers_stand_low_to_high() {
    let machine = Machine::new();
    machine.write("home/settings.json", &allow("User"));
    machine.write("work/.agentx/settings.json", &allow("Project"));
    machine.write("work/.agentx/settings.local.json", &allow("Local"));
    machine.write(
        "etc/policy.json",
        r#"{"permissions":{"defaultMode":"dontAsk","allow":["Policy"]}}"#,
    );
    let flag = TextOrFile::Text(allow("Flag"));
    let names = |trusted| {
        let loaded = machine.load(Some(&flag), trusted).unwrap();
        let rules = loaded.layers.rules(Behavior::Allow);
        let names: Vec<_> = rules.map(|rule| rule.value.tool_name.clone()).collect();
        assert_eq!(
            loaded.layers.default_mode().map(|mode| mode.value),
            Some(PermissionMode::DontAsk)
        );
        (names, loaded.notes.len())
    };
    let all = ["User", "Project", "Local", "Flag", "Policy"].map(String::from);
    assert_eq!(names(true), (all.to_vec(), 0));
    let mut others = all.to_vec();
    others.drain(1..3);
    assert_eq!(names(false), (others, 1));
}

#[test]
fn without_files_there_are_no_settings() {
    let machine = Machine::new();
    let loaded = machine.load(None, true).unwrap();
    assert_eq!(loaded.layers, Layers::new());
    assert_eq!(loaded.notes, Vec::<String>::new());
}

#[test]
fn a_policy_that_cannot_be_trusted_or_read_is_refused() {
    let machine = Machine::new();
    let path = machine.write("etc/policy.json", "{\"permissions\":1}");
    let refused = |fault: &str| {
        let expected = format!("{}: {fault}", path.display());
        assert_eq!(machine.load(None, false).unwrap_err(), expected);
    };
    refused("permissions: an object is expected");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    refused("mode 0666, others than its owner may write it");
    fs::remove_file(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    refused("a symbolic link, expected a regular file");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused("not a regular file");
}

#[test]
fn settings_are_held_against_the_tools() {
    let machine = Machine::new();
    let checked = |text: &str| {
        let flag = TextOrFile::Text(text.to_owned());
        let mut loaded = machine.load(Some(&flag), false).unwrap();
        let checked = loaded.check().map_err(|refusal| refusal.to_string());
        checked.map(|_| loaded.notes)
    };
    let tool = |name: &str| {
        format!(
            r#""tools":[{{"name":"{name}","description":"","input_schema":{{"type":"object"}},"command":["c"]}}]"#
        )
    };
    let own = format!(
        r#"{{"permissions":{{"allow":["lookup","Bash(ls)","Grep(src/**)","mcp__x"]}},{}}}"#,
        tool("lookup")
    );
    assert_eq!(checked(&own), Ok(vec![]));
    assert_eq!(
        checked(r#"{"permissions":{"allow":["Read"],"ask":["Write","lookup"]}}"#),
        Ok(vec![
            "warning: --settings: permissions.ask[1]: no tool has the name \"lookup\"".to_owned()
        ])
    );
    assert_eq!(
        checked(&format!("{{{}}}", tool("Bash"))),
        Err("--settings: tools[0].name: Bash is a built-in tool".into())
    );
    for rule in ["CurrentTime(UTC)", "lookup(x:*)"] {
        assert_eq!(
            checked(&format!(
                r#"{{"permissions":{{"deny":["{rule}"]}},{}}}"#,
                tool("lookup")
            )),
            Err(format!(
                "--settings: permissions.deny[0]: rule \"{rule}\": brackets are for Bash and for tools that name a path"
            ))
        );
    }
}

#[test]
fn further_directories_are_absolute_and_without_links() {
    let machine = Machine::new();
    symlink(machine.path("etc"), machine.path("link")).unwrap();
    let found = directories(&[machine.path("link"), machine.path("work/../home")]).unwrap();
    let real = |name: &str| {
        machine
            .path(name)
            .canonicalize()
            .unwrap()
            .display()
            .to_string()
    };
    assert_eq!(found, [real("etc"), real("home")]);
}

/// What a host of other programs gives, with all layers there.
fn hosted(machine: &Machine, flag: &str, sources: &[SettingSource]) -> Result<Loaded, String> {
    let places = Places {
        home: &Home::open(&machine.path("home")).unwrap(),
        cwd: &machine.path("work"),
        policy: &machine.path("etc/policy.json"),
        flag: Some(&TextOrFile::Text(flag.to_owned())),
        trusted: true,
        sources,
        hosted: true,
        keys: &Guard::default(),
    };
    places.load().map_err(|refusal| refusal.to_string())
}

#[test]
fn a_host_chooses_which_files_count() {
    use SettingSource::{Local, Project, User};
    let machine = Machine::new();
    machine.write("home/settings.json", &allow("User"));
    machine.write("work/.agentx/settings.json", &allow("Project"));
    machine.write("work/.agentx/settings.local.json", &allow("Local"));
    machine.write("etc/policy.json", &allow("Policy"));
    for (sources, expected) in [
        (&[][..], &["Policy"][..]),
        (&[User], &["User", "Policy"]),
        (&[Local, User], &["User", "Local", "Policy"]),
        (&[Project], &["Project", "Policy"]),
        (
            &[User, Project, Local],
            &["User", "Project", "Local", "Policy"],
        ),
    ] {
        let loaded = hosted(&machine, "{}", sources).unwrap();
        let rules = loaded.layers.rules(Behavior::Allow);
        let names: Vec<_> = rules.map(|rule| rule.value.tool_name.clone()).collect();
        assert_eq!(names, expected, "{sources:?}");
    }
}

#[test]
fn settings_of_a_host_may_hold_what_is_for_others() {
    let machine = Machine::new();
    let text = r#"{"model":"x","permissions":{"allow":["Read"]}}"#;
    let loaded = hosted(&machine, text, &[]).unwrap();
    assert_eq!(loaded.layers.rules(Behavior::Allow).count(), 1);
    assert_eq!(loaded.notes, ["warning: --settings: no effect: \"model\""]);
    let flag = TextOrFile::Text(text.to_owned());
    let fault = machine.load(Some(&flag), false).unwrap_err();
    assert!(fault.contains("unknown member"), "{fault}");
    let fault = hosted(&machine, "{", &[]).unwrap_err();
    assert!(fault.starts_with("--settings: "), "{fault}");
}

#[test]
fn rules_of_the_command_line_join_those_of_its_settings() {
    let machine = Machine::new();
    let texts = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let flag = r#"{"permissions":{"allow":["Read"],"deny":["Bash(rm:*)"]}}"#;
    let mut loaded = hosted(&machine, flag, &[]).unwrap();
    let allow = texts(&[
        "Bash(ls:*)",
        "mcp__calc__*",
        "Skill(pdf)",
        "WebFetch",
        "CurrentTime(x)",
        "Bash(",
        "read",
        "Bash(echo (),Write(a)",
        "mcp__*",
    ]);
    let deny = texts(&["Write", "mcp__calc__add", "Edit(secret/**)", "Agent(x)"]);
    let ruled = loaded.add_rules(&allow, &deny).unwrap();
    assert_eq!(ruled.withheld, ["Write", "mcp__calc__add"]);
    let rules = |behavior| -> Vec<String> {
        let rules = loaded.layers.rules(behavior);
        rules
            .map(|rule| {
                assert_eq!(rule.layer, Layer::Flag);
                agentx_core::policy::write_rule(rule.value, behavior).unwrap()
            })
            .collect()
    };
    assert_eq!(rules(Behavior::Allow), ["Read", "Bash(ls:*)", "mcp__calc"]);
    let denied = ["Bash(rm:*)", "Write", "mcp__calc__add", "Edit(secret/**)"];
    assert_eq!(rules(Behavior::Deny), denied);
    // The text of the layer says the same.
    let flag = loaded.layers.sources().next().unwrap().value;
    let read = Settings::read(flag.text().as_str().as_bytes()).unwrap();
    assert_eq!(read.permissions, flag.permissions);
    let names = [
        "Skill(pdf)",
        "WebFetch",
        "CurrentTime(x)",
        "Bash(",
        "read",
        "Bash(echo (),Write(a)",
        "mcp__*",
        "Agent(x)",
    ];
    assert_eq!(loaded.notes.len(), names.len(), "{:?}", loaded.notes);
    for (note, name) in loaded.notes.iter().zip(names) {
        let part = format!("Tools: rule {name:?} has no effect: ");
        assert!(
            note.starts_with("warning: --") && note.contains(&part),
            "{note}"
        );
    }
    // A rule that should protect something is not left out.
    for (rule, why) in [
        ("Bash(rm *)", "`*` means itself"),
        ("CurrentTime(x)", "brackets are for Bash"),
        ("*", "expected Tool or Tool(...)"),
        ("mcp__", "expected mcp__SERVER"),
        ("mcp__*", "expected Tool or Tool(...)"),
        ("Bash(echo \\(),Write(a)", "may be several rules"),
        ("Bash(echo ( x), Write(a)", "may be several rules"),
    ] {
        let fault = loaded
            .add_rules(&[], &texts(&[rule]))
            .unwrap_err()
            .to_string();
        let begin = format!("--disallowedTools: rule {rule:?}: ");
        assert!(fault.starts_with(&begin) && fault.contains(why), "{fault}");
    }
}

#[test]
fn a_bracket_that_means_itself_is_no_doubt_in_a_rule_that_stands_alone() {
    let machine = Machine::new();
    let mut loaded = machine.load(None, false).unwrap();
    let deny = ["Bash(echo \\()".to_owned(), "Bash(a (b), c)".to_owned()];
    let ruled = loaded.add_rules(&[], &deny).unwrap();
    assert_eq!(ruled.withheld, [""; 0]);
    assert_eq!(loaded.layers.rules(Behavior::Deny).count(), 2);
}

#[test]
fn rules_of_the_command_line_need_no_settings() {
    let machine = Machine::new();
    let mut loaded = machine.load(None, false).unwrap();
    assert_eq!(loaded.add_rules(&[], &[]), Ok(Ruled::default()));
    assert_eq!(loaded.layers, Layers::default());
    let ruled = loaded.add_rules(&[], &["Bash".to_owned(), "Edit(a)".to_owned()]);
    assert_eq!(ruled.unwrap().withheld, ["Bash"]);
    assert_eq!(loaded.layers.rules(Behavior::Deny).count(), 2);
}
