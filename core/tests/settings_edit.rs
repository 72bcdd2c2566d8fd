//! Updates in the text of settings files: files with blanks, orders and
//! spellings made at random, held against lists that are changed the plain way.

use agentx_core::json::{ScanLimits, Scanner};
use agentx_core::policy::{Permissions, Settings, edit};
use agentx_core::schema::permission::{
    Behavior, Destination, DirectoriesAction, DirectoriesUpdate, ModeUpdate, PermissionMode,
    PermissionRule, PermissionUpdate, RulesAction, RulesUpdate,
};
use agentx_laws::SplitMix64;

const NAMES: [&str; 6] = ["Read", "Write", "Bash", "Edit", "mcp__a", "x-y"];

const PLACES: [&str; 4] = ["/a", "b/c", "../d", "/a b"];

fn pick<'a>(rng: &mut SplitMix64, items: &[&'a str]) -> &'a str {
    items[rng.below(items.len())]
}

fn blanks(rng: &mut SplitMix64) -> &'static str {
    pick(rng, &["", "", " ", "\n  ", "\t", "\r\n", "\n\n    "])
}

/// A list or object of these parts, with blanks anywhere.
fn container(rng: &mut SplitMix64, brackets: [&str; 2], parts: &[String]) -> String {
    let mut text = brackets[0].to_owned();
    for (at, part) in parts.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        text += comma;
        text += blanks(rng);
        text += part;
        text += blanks(rng);
    }
    text += blanks(rng);
    text + brackets[1]
}

/// Quotes a text, a letter of it escaped now and then.
fn quoted(rng: &mut SplitMix64, text: &str) -> String {
    if rng.one_in(4) {
        let (first, rest) = text.split_at(1);
        let code = u32::from(first.chars().next().unwrap());
        return format!("\"\\u{code:04x}{rest}\"");
    }
    format!("\"{text}\"")
}

fn some_of(rng: &mut SplitMix64, items: &[&str]) -> Vec<String> {
    let chosen: Vec<&&str> = items.iter().filter(|_| rng.one_in(2)).collect();
    chosen.into_iter().map(|item| (*item).to_owned()).collect()
}

fn file(rng: &mut SplitMix64) -> String {
    let mut members = Vec::new();
    for name in ["deny", "allow", "additionalDirectories", "ask"] {
        if rng.one_in(2) {
            let items = if name == "additionalDirectories" {
                some_of(rng, &PLACES)
            } else {
                some_of(rng, &NAMES)
            };
            let items: Vec<String> = items.iter().map(|item| quoted(rng, item)).collect();
            let list = container(rng, ["[", "]"], &items);
            members.push(format!("{}:{}{list}", quoted(rng, name), blanks(rng)));
        }
    }
    if rng.one_in(3) {
        members.push(r#""defaultMode" :"plan""#.to_owned());
    }
    let mut root = Vec::new();
    if rng.one_in(2) {
        root.push(TOOLS.to_owned());
    }
    if !rng.one_in(4) {
        let object = container(rng, ["{", "}"], &members);
        let at = rng.below(root.len() + 1);
        root.insert(at, format!("{} :{object}", quoted(rng, "permissions")));
    }
    let text = container(rng, ["{", "}"], &root);
    format!("{}{text}{}", blanks(rng), blanks(rng))
}

/// Text that no update has to do with, spelled in an uncommon way.
const TOOLS: &str = "\"tools\" : [ {\"name\":\"t\",\"description\":\"\\u00e9\",\"input_schema\":{\"type\":\"object\",\"x\":[1.50, 1e3 ]},\n\"command\":[\"c\"]} ]";

fn update(rng: &mut SplitMix64) -> PermissionUpdate {
    let destination = Destination::ProjectSettings;
    match rng.below(8) {
        0 => PermissionUpdate::Mode(ModeUpdate {
            mode: PermissionMode::ALL[rng.below(5)],
            destination,
        }),
        1 | 2 => PermissionUpdate::Directories(DirectoriesUpdate {
            action: [DirectoriesAction::Add, DirectoriesAction::Remove][rng.below(2)],
            directories: some_of(rng, &PLACES),
            destination,
        }),
        _ => PermissionUpdate::Rules(RulesUpdate {
            action: RulesAction::ALL[rng.below(3)],
            rules: some_of(rng, &NAMES).into_iter().map(rule).collect(),
            behavior: Behavior::ALL[rng.below(3)],
            destination,
        }),
    }
}

fn rule(tool_name: String) -> PermissionRule {
    PermissionRule {
        tool_name,
        rule_content: None,
    }
}

fn add<T: Clone + PartialEq>(list: &mut Vec<T>, items: &[T]) {
    for item in items {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}

/// The plain way.
fn apply(permissions: &mut Permissions, update: &PermissionUpdate) {
    match update {
        PermissionUpdate::Mode(update) => permissions.default_mode = Some(update.mode),
        PermissionUpdate::Directories(update) => {
            let list = &mut permissions.additional_directories;
            match update.action {
                DirectoriesAction::Add => add(list, &update.directories),
                DirectoriesAction::Remove => list.retain(|path| !update.directories.contains(path)),
            }
        }
        PermissionUpdate::Rules(update) => {
            let list = match update.behavior {
                Behavior::Allow => &mut permissions.allow,
                Behavior::Ask => &mut permissions.ask,
                Behavior::Deny => &mut permissions.deny,
            };
            match update.action {
                RulesAction::Add => add(list, &update.rules),
                RulesAction::Replace => {
                    list.clear();
                    add(list, &update.rules);
                }
                RulesAction::Remove => list.retain(|rule| !update.rules.contains(rule)),
            }
        }
    }
}

// covers: WIRE-PERM-030
#[test]
fn every_file_says_after_an_update_what_it_should() {
    let mut rng = SplitMix64::new(11);
    for _ in 0..5_000 {
        let file = file(&mut rng);
        let before = Settings::read(file.as_bytes()).unwrap_or_else(|fault| {
            panic!("{fault}: {file}");
        });
        let updates: Vec<PermissionUpdate> = (0..=rng.below(4)).map(|_| update(&mut rng)).collect();
        let mut expected = before.permissions.clone();
        for update in &updates {
            apply(&mut expected, update);
        }
        let text = edit(Some(&file), &updates, "/repo").unwrap();
        let after = Settings::read(text.as_bytes()).unwrap();
        assert_eq!(after.permissions, expected, "{file:?} {updates:?} {text:?}");
        assert_eq!(after.tools, before.tools);
        // What has nothing to do with it keeps every byte.
        assert_eq!(text.contains(TOOLS), file.contains(TOOLS), "{text:?}");
        let mut scanner = Scanner::new();
        scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).unwrap();
        // An update that changes nothing writes nothing.
        if let [only] = &updates[..]
            && expected == before.permissions
            && !rewrites(only)
        {
            assert_eq!(text, file, "{only:?}");
        }
    }
}

/// Whether the update writes a value even where the same one stands.
const fn rewrites(update: &PermissionUpdate) -> bool {
    matches!(
        update,
        PermissionUpdate::Mode(_)
            | PermissionUpdate::Rules(RulesUpdate {
                action: RulesAction::Replace,
                ..
            })
    )
}
