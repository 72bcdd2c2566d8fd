use super::*;
use agentx_core::schema::permission::{Behavior, PermissionRule, RulesAction, RulesUpdate};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn folders() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("home")).unwrap();
    fs::create_dir(root.path().join("work")).unwrap();
    root
}

fn store(root: &Path) -> Store {
    let home = Home::open(&root.join("home")).unwrap();
    Store::new(&home, &root.join("work"), Guard::default()).unwrap()
}

fn allow(name: &str, destination: Destination) -> PermissionUpdate {
    PermissionUpdate::Rules(RulesUpdate {
        action: RulesAction::Add,
        rules: vec![PermissionRule {
            tool_name: name.to_owned(),
            rule_content: None,
        }],
        behavior: Behavior::Allow,
        destination,
    })
}

fn rules(path: &Path) -> Vec<String> {
    let settings = Settings::read(&fs::read(path).unwrap()).unwrap();
    let rules = settings.permissions.allow.into_iter();
    rules.map(|rule| rule.tool_name).collect()
}

// covers: WIRE-PERM-030
#[test]
fn processes_that_write_at_once_lose_nothing() {
    let root = folders();
    thread::scope(|threads| {
        for writer in 0..4 {
            // Each has handles of its own, as processes do.
            let store = store(root.path());
            threads.spawn(move || {
                for at in 0..5 {
                    let update = allow(&format!("T{writer}{at}"), Destination::UserSettings);
                    assert!(store.persist(&[update]));
                }
            });
        }
    });
    let home = root.path().join("home");
    let mut found = rules(&home.join("settings.json"));
    found.sort_unstable();
    let expected = (0..4).flat_map(|writer| (0..5).map(move |at| format!("T{writer}{at}")));
    assert!(found.into_iter().eq(expected));
    assert_eq!(fs::read_dir(home).unwrap().count(), 1);
}

#[test]
fn a_folder_that_is_held_is_not_waited_for_without_end() {
    let root = folders();
    let folder = |name: &str| {
        open_folder(rustix::fs::CWD, root.path().join(name).to_str().unwrap()).unwrap()
    };
    let held = folder("home");
    lock(&held, 1).unwrap();
    assert_eq!(
        lock(&folder("home"), 1),
        Err("another process holds its folder".into())
    );
    drop(held);
    lock(&folder("home"), 1).unwrap();
}

#[test]
fn what_a_killed_process_left_is_no_obstacle() {
    let root = folders();
    let home = root.path().join("home");
    let left = home.join(format!(".settings.json.{}", std::process::id()));
    fs::write(&left, "half").unwrap();
    assert!(store(root.path()).persist(&[allow("Read", Destination::UserSettings)]));
    assert_eq!(rules(&home.join("settings.json")), ["Read"]);
    assert!(!left.exists());
}

#[test]
fn a_file_of_the_project_keeps_its_mode() {
    let root = folders();
    let folder = root.path().join("work/.agentx");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("settings.json");
    fs::write(&path, "{}").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    assert!(store(root.path()).persist(&[allow("Read", Destination::ProjectSettings)]));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o664);
    assert_eq!(rules(&path), ["Read"]);
}

// A home folder inside the working folder holds what is the user's.
#[test]
fn the_home_folder_is_never_a_project() {
    let root = folders();
    let work = root.path().join("work");
    fs::rename(root.path().join("home"), work.join(".agentx")).unwrap();
    let home = Home::open(&work.join(".agentx")).unwrap();
    let store = Store::new(&home, &work, Guard::default()).unwrap();
    for destination in [Destination::ProjectSettings, Destination::LocalSettings] {
        assert!(!store.persist(&[allow("Read", destination)]));
    }
    assert_eq!(fs::read_dir(work.join(".agentx")).unwrap().count(), 0);
    assert!(store.persist(&[allow("Read", Destination::UserSettings)]));
}

#[test]
fn a_text_that_would_not_be_read_again_is_not_written() {
    let root = folders();
    let home = root.path().join("home");
    let path = home.join("settings.json");
    fs::write(&path, b"{}\xff").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let update = [allow("Read", Destination::UserSettings)];
    assert!(!store(root.path()).persist(&update));
    assert_eq!(fs::read(&path).unwrap(), b"{}\xff");
    fs::write(&path, "{}").unwrap();
    assert!(!store(root.path()).persist(&[allow("a b", Destination::UserSettings)]));
    assert_eq!(fs::read(&path).unwrap(), b"{}");
}
