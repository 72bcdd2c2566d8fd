//! Files put back to what they were at a checkpoint, and what was seen of them.

use crate::world::{World, command_input, quoted, text};
use agentx_core::checkpoint::{
    Bookkeeping, Checkpoint, RewindReport, RewindRequest, SeedRequest, Seeding,
};
use agentx_core::guard::Guard;
use agentx_core::tool::{Access, ToolOutcome};
use agentx_tools::{CancelToken, Toolbox};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A session: its tools, and the checkpoint that its calls belong to.
struct Session {
    world: World,
    toolbox: Toolbox,
    at: u64,
}

impl Session {
    fn new() -> Self {
        Self::of(World::new())
    }

    fn of(world: World) -> Self {
        Self {
            toolbox: world.toolbox(),
            world,
            at: 0,
        }
    }

    fn call(&self, name: &str, input: &str) -> ToolOutcome {
        let mut request = self.world.request(name, input);
        request.bookkeeping = Bookkeeping {
            checkpoint: Some(Checkpoint(self.at)),
            reads: true,
        };
        self.toolbox.run(&request, &CancelToken::new())
    }

    #[track_caller]
    fn ok(&self, name: &str, input: &str) -> String {
        let outcome = self.call(name, input);
        assert!(!outcome.is_error, "{outcome:?}");
        text(&outcome)
    }

    #[track_caller]
    fn write(&self, path: &str, content: &str) {
        let (path, content) = (quoted(path), quoted(content));
        self.ok(
            "Write",
            &format!("{{\"file_path\":{path},\"content\":{content}}}"),
        );
    }

    #[track_caller]
    fn edit(&self, path: &str, old: &str, new: &str) {
        let (path, old, new) = (quoted(path), quoted(old), quoted(new));
        self.ok(
            "Edit",
            &format!("{{\"file_path\":{path},\"old_string\":{old},\"new_string\":{new}}}"),
        );
    }

    fn read(&self, path: &str) -> String {
        self.ok("Read", &format!("{{\"file_path\":{}}}", quoted(path)))
    }

    fn try_rewind(&mut self, to: u64, dry_run: bool) -> Result<RewindReport, String> {
        self.at += 1;
        let request = RewindRequest {
            to: Checkpoint(to),
            at: Checkpoint(self.at),
            dry_run,
            directories: vec![self.world.work("").to_str().unwrap().to_owned()].into(),
        };
        let report = self.toolbox.rewind(&request, &CancelToken::new());
        self.at += 1;
        report
    }

    #[track_caller]
    fn rewind(&mut self, to: u64) -> RewindReport {
        self.try_rewind(to, false).unwrap()
    }

    /// A rewind of which nothing fails; gives names below the working folder,
    /// insertions and deletions.
    #[track_caller]
    fn rewound(&mut self, to: u64) -> (Vec<String>, u64, u64) {
        let report = self.rewind(to);
        assert_eq!(report.failures, Vec::<String>::new());
        self.brief(&report)
    }

    fn brief(&self, report: &RewindReport) -> (Vec<String>, u64, u64) {
        let top = fs::canonicalize(self.world.work("")).unwrap();
        let names = report.changed.iter().map(|path| {
            let name = Path::new(path).strip_prefix(&top).unwrap();
            name.to_str().unwrap().to_owned()
        });
        (names.collect(), report.insertions, report.deletions)
    }

    fn seed(&self, path: &str, mtime_ms: u64) -> Seeding {
        self.toolbox.seed(&SeedRequest {
            path: path.to_owned(),
            mtime_ms,
            directories: vec![self.world.work("").to_str().unwrap().to_owned()].into(),
        })
    }

    fn content(&self, name: &str) -> String {
        fs::read_to_string(self.world.work(name)).unwrap()
    }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn mtime_ms(path: &Path) -> u64 {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

/// Sets a modification time so far from the real one that no clock hides it.
fn age(path: &Path, seconds: u64) {
    let file = fs::File::options().append(true).open(path).unwrap();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    file.set_modified(then).unwrap();
}

// covers: DEC-47
#[test]
fn changed_files_are_put_back_and_new_ones_removed() {
    let mut session = Session::new();
    let run = session.world.write("run.sh", b"one\n\xff\ntwo\n");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o751)).unwrap();
    session.world.write("other", "as it was\n");
    session.edit("run.sh", "two", "2\n3");
    session.edit("run.sh", "one", "1");
    session.write("sub/new", "a\nb");
    session.at = 1;
    session.write("sub/new", "a\nc");
    session.write("late", "x\n");
    assert_eq!(
        session.rewound(0),
        (names(&["late", "run.sh", "sub/new"]), 2, 6)
    );
    assert_eq!(fs::read(&run).unwrap(), b"one\n\xff\ntwo\n");
    let mode = fs::metadata(&run).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    assert!(!session.world.work("sub/new").exists());
    assert!(!session.world.work("late").exists());
    assert_eq!(session.content("other"), "as it was\n");
    // Once is enough.
    assert_eq!(session.rewound(0), (vec![], 0, 0));
}

#[test]
fn a_later_message_keeps_what_came_before_it() {
    let mut session = Session::new();
    session.write("f", "first\n");
    session.at = 1;
    session.write("f", "second\n");
    session.at = 2;
    session.write("f", "third\n");
    session.write("g", "third\n");
    assert_eq!(session.rewound(1), (names(&["f", "g"]), 1, 2));
    assert_eq!(session.content("f"), "first\n");
    // One can go back on it: to where the third message began.
    assert_eq!(session.rewound(2), (names(&["f"]), 1, 1));
    assert_eq!(session.content("f"), "second\n");
    assert!(!session.world.work("g").exists());
    assert_eq!(session.rewound(0), (names(&["f"]), 0, 1));
    assert!(!session.world.work("f").exists());
}

#[test]
fn a_dry_run_tells_the_same_and_changes_nothing() {
    let mut session = Session::new();
    session.world.write("f", "a\nb\nc\n");
    session.edit("f", "b\n", "");
    session.write("new", "x\ny\n");
    let dry = session.try_rewind(0, true).unwrap();
    assert_eq!(session.brief(&dry), (names(&["f", "new"]), 1, 2));
    assert_eq!(session.content("f"), "a\nc\n");
    assert_eq!(session.content("new"), "x\ny\n");
    assert_eq!(session.rewind(0), dry);
    assert_eq!(session.content("f"), "a\nb\nc\n");
}

#[test]
fn what_others_changed_since_is_not_lost() {
    let mut session = Session::new();
    for name in ["mine", "theirs", "made", "gone"] {
        session.world.write(name, "old\n");
    }
    session.at = 1;
    for name in ["mine", "theirs", "gone", "made-too"] {
        session.write(name, "new\n");
    }
    // A tool of ours that is no file tool counts as somebody else.
    let shell = "echo more >> theirs; echo more >> made-too; rm gone";
    session.ok("Bash", &command_input(shell));
    session.world.write("made", "theirs alone\n");
    let report = session.rewind(1);
    assert_eq!(session.brief(&report), (names(&["gone", "mine"]), 2, 1));
    let [first, second] = &*report.failures else {
        panic!("two are left: {report:?}");
    };
    for (text, name) in [(first, "made-too`"), (second, "theirs`")] {
        assert!(
            text.contains(name) && text.contains("left as it is"),
            "{text}"
        );
    }
    assert_eq!(session.content("mine"), "old\n");
    assert_eq!(session.content("gone"), "old\n", "what is gone is no loss");
    assert_eq!(session.content("theirs"), "new\nmore\n");
    assert_eq!(session.content("made-too"), "new\nmore\n");
    assert_eq!(session.content("made"), "theirs alone\n");
    // Content counts, not the time: what is back as the tool left it is put back.
    session.world.write("theirs", "new\n");
    assert_eq!(session.rewind(1).changed.len(), 1);
    assert_eq!(session.content("theirs"), "old\n");
}

#[test]
fn an_edit_between_two_prompts_comes_back_with_the_later_one() {
    let mut session = Session::new();
    session.write("f", "tool\n");
    session.world.write("f", "theirs\n");
    session.read("f");
    session.at = 1;
    session.edit("f", "theirs", "both");
    // It went into what a tool made of the file, and is kept.
    assert_eq!(session.rewound(0), (names(&["f"]), 0, 1));
    assert!(!session.world.work("f").exists());
    assert_eq!(session.rewound(1), (names(&["f"]), 1, 0));
    assert_eq!(session.content("f"), "theirs\n");
}

#[test]
fn a_file_that_is_gone_comes_back_with_its_folder_and_rights() {
    let mut session = Session::new();
    let path = session.world.write("deep/er/f", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    session.write("deep/er/f", "new");
    fs::remove_dir_all(session.world.work("deep")).unwrap();
    assert_eq!(session.rewound(0), (names(&["deep/er/f"]), 1, 0));
    assert_eq!(session.content("deep/er/f"), "old");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
}

#[test]
fn one_file_that_cannot_be_put_back_stops_no_other() {
    let mut session = Session::new();
    for name in ["a", "b", "c", "d/f", "e"] {
        session.world.write(name, "old");
        session.write(name, "new");
    }
    fs::remove_file(session.world.work("a")).unwrap();
    fs::create_dir(session.world.work("a")).unwrap();
    fs::remove_file(session.world.work("b")).unwrap();
    session.world.fifo("b");
    // A link in the place of a folder leads elsewhere, even to the same file.
    fs::rename(session.world.work("d"), session.world.work("moved")).unwrap();
    symlink("moved", session.world.work("d")).unwrap();
    fs::remove_file(session.world.work("e")).unwrap();
    symlink("moved/f", session.world.work("e")).unwrap();
    let report = session.rewind(0);
    assert_eq!(session.brief(&report).0, names(&["c"]));
    let expected = ["a folder", "a pipe", "leads elsewhere", "leads elsewhere"];
    for (text, why) in report.failures.iter().zip(expected) {
        assert!(text.contains(why), "{why}: {text}");
    }
    assert_eq!(report.failures.len(), expected.len());
    assert_eq!(session.content("moved/f"), "new");
}

#[test]
fn home_stays_out_of_reach() {
    let mut session = Session::new();
    session.write("sub/auth.json", "made by a tool");
    // The folder becomes the home folder after the tools were there.
    let (sub, home) = (session.world.work("sub"), session.world.beside("home"));
    fs::remove_dir_all(&home).unwrap();
    fs::rename(&sub, &home).unwrap();
    symlink(&home, &sub).unwrap();
    let report = session.rewind(0);
    let [text] = &*report.failures else {
        panic!("{report:?}");
    };
    assert!(text.contains("AGENTX_HOME"), "{text}");
    let kept = fs::read_to_string(home.join("auth.json")).unwrap();
    assert_eq!(kept, "made by a tool");
}

#[test]
fn a_secret_of_home_under_another_name_is_not_kept() {
    let mut session = Session::new();
    fs::hard_link(
        session.world.beside("home/auth.json"),
        session.world.work("twin"),
    )
    .unwrap();
    session.write("twin", "new");
    let report = session.rewind(0);
    let [text] = &*report.failures else {
        panic!("{report:?}");
    };
    assert!(text.contains("AGENTX_HOME"), "{text}");
    assert_eq!(session.content("twin"), "new");
}

#[test]
fn a_file_is_found_again_whichever_path_led_to_it() {
    let mut session = Session::new();
    session.world.access = Access::Granted;
    session.world.write("real/f", "old\n");
    symlink("real", session.world.work("link")).unwrap();
    symlink("link/f", session.world.work("direct")).unwrap();
    session.write("link/f", "one\n");
    session.write("direct", "two\n");
    session.write("real/../link/./f", "three\n");
    assert_eq!(session.rewound(0), (names(&["real/f"]), 1, 1));
    assert_eq!(session.content("real/f"), "old\n");
}

#[test]
fn a_change_that_failed_is_no_change() {
    let mut session = Session::new();
    session.world.write("f", "old");
    let input = "{\"file_path\":\"f\",\"old_string\":\"no\",\"new_string\":\"x\"}";
    assert!(session.call("Edit", input).is_error);
    session.world.write("f", "theirs");
    assert_eq!(session.rewound(0), (vec![], 0, 0));
    assert_eq!(session.content("f"), "theirs");
}

#[test]
fn what_is_too_large_is_told_and_left() {
    let mut world = World::new();
    world.config.limits.checkpoints.file_bytes = 10;
    let mut session = Session::of(world);
    session.world.write("large", "eleven byte");
    session.world.write("small", "ten bytes!");
    session.write("large", "new");
    session.write("small", "new");
    let report = session.rewind(0);
    assert_eq!(session.brief(&report).0, names(&["small"]));
    let [text] = &*report.failures else {
        panic!("{report:?}");
    };
    assert!(text.contains("10 bytes"), "{text}");
    assert_eq!(session.content("large"), "new");
}

#[test]
fn the_oldest_checkpoints_are_given_up_for_new_ones() {
    let limits: [fn(&mut World); 3] = [
        |world| world.config.limits.checkpoints.kept_bytes = 10,
        |world| world.config.limits.checkpoints.kept_checkpoints = 2,
        |world| world.config.limits.checkpoints.kept_files = 2,
    ];
    for limit in limits {
        let mut world = World::new();
        limit(&mut world);
        let mut session = Session::of(world);
        session.world.write("f", "0000\n");
        for (at, content) in [(1, "1111\n"), (2, "2222\n"), (3, "3333\n")] {
            session.at = at;
            session.write("f", content);
        }
        let gone = session.try_rewind(1, false).unwrap_err();
        assert!(gone.contains("no longer kept"), "{gone}");
        assert_eq!(session.content("f"), "3333\n");
        assert_eq!(session.rewound(2).0, names(&["f"]));
        assert_eq!(session.content("f"), "1111\n");
    }
}

#[test]
fn a_message_that_changed_too_many_files_cannot_be_gone_back_to() {
    let mut world = World::new();
    world.config.limits.checkpoints.kept_files = 2;
    let mut session = Session::of(world);
    for name in ["a", "b", "c"] {
        session.write(name, "x");
    }
    let gone = session.try_rewind(0, false).unwrap_err();
    assert!(gone.contains("no longer kept"), "{gone}");
    session.at += 1;
    let at = session.at;
    session.write("a", "y");
    assert_eq!(session.rewound(at).0, names(&["a"]));
    assert_eq!(session.content("a"), "x");
}

#[test]
fn nothing_of_what_is_kept_lies_about() {
    let mut world = World::new();
    let temp = world.beside("temp");
    fs::create_dir(&temp).unwrap();
    world.config.temp = temp.clone();
    let mut session = Session::of(world);
    session.world.write("f", "old");
    session.write("f", "new");
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0);
    assert_eq!(session.rewound(0).0, names(&["f"]));
    assert_eq!(session.content("f"), "old");
}

#[test]
fn where_nothing_can_be_kept_the_tools_work_and_the_rewind_says_so() {
    let mut world = World::new();
    world.config.temp = PathBuf::from("/nonexistent");
    let mut session = Session::of(world);
    session.world.write("f", "old");
    session.write("f", "new");
    session.write("made", "new");
    let report = session.rewind(0);
    assert_eq!(session.brief(&report).0, names(&["made"]));
    let [text] = &*report.failures else {
        panic!("{report:?}");
    };
    assert!(text.contains("could not be kept"), "{text}");
    assert_eq!(session.content("f"), "new");
}

#[test]
fn a_cancelled_rewind_leaves_the_rest_as_it_is() {
    let session = Session::new();
    session.write("f", "new");
    let cancel = CancelToken::new();
    cancel.cancel();
    let request = RewindRequest {
        to: Checkpoint(0),
        at: Checkpoint(1),
        dry_run: false,
        directories: vec![session.world.work("").to_str().unwrap().to_owned()].into(),
    };
    let report = session.toolbox.rewind(&request, &cancel).unwrap();
    assert_eq!((report.changed.len(), report.failures.len()), (0, 1));
    assert_eq!(session.content("f"), "new");
}

#[test]
fn no_key_is_told_with_a_path() {
    let mut world = World::new();
    world.config.guard = Guard::new(["sk-12345678".to_owned()]).unwrap();
    let mut session = Session::of(world);
    session.write("kept-sk-12345678", "x");
    session.write("theirs-sk-12345678", "x");
    session.world.write("theirs-sk-12345678", "y");
    let report = session.rewind(0);
    let told = format!("{report:?}");
    assert!(told.contains("kept-[redacted]"), "{told}");
    assert!(!told.contains("sk-12345678"), "{told}");
    let seeding = format!("{:?}", session.seed("none-sk-12345678", 0));
    assert!(seeding.contains("none-[redacted]"), "{seeding}");
}

#[test]
fn without_a_checkpoint_nothing_is_kept_or_guarded() {
    let mut session = Session::new();
    let path = session.world.write("f", "old");
    let run = |name: &str, input: &str| {
        let request = session.world.request(name, input);
        let outcome = session.toolbox.run(&request, &CancelToken::new());
        assert!(!outcome.is_error, "{outcome:?}");
    };
    run("Read", "{\"file_path\":\"f\"}");
    age(&path, 1_000);
    run("Write", "{\"file_path\":\"f\",\"content\":\"new\"}");
    assert_eq!(session.rewound(0), (vec![], 0, 0));
    assert_eq!(session.content("f"), "new");
}

// ---- what was seen ------------------------------------------------------------------

#[test]
fn a_file_that_changed_since_it_was_read_is_not_replaced() {
    let session = Session::new();
    let path = session.world.write("f", "old\n");
    session.read("f");
    session.write("f", "mine\n");
    session.world.write("f", "theirs\n");
    age(&path, 1_000);
    let input = "{\"file_path\":\"f\",\"content\":\"mine again\\n\"}";
    let refused = session.call("Write", input);
    assert!(refused.is_error);
    assert_eq!(
        text(&refused),
        "`f` changed since it was read; read it again."
    );
    // An edit keeps the rest, but does not make the rest known.
    session.edit("f", "theirs", "ours");
    assert!(session.call("Write", input).is_error);
    assert_eq!(session.content("f"), "ours\n");
    session.read("f");
    session.write("f", "mine again\n");
}

#[test]
fn a_file_that_was_never_read_or_is_gone_is_written() {
    let session = Session::new();
    session.world.write("f", "old");
    session.write("f", "new");
    fs::remove_file(session.world.work("f")).unwrap();
    session.write("f", "made");
    assert_eq!(session.content("f"), "made");
}

#[test]
fn what_was_put_back_has_to_be_read_again() {
    let mut session = Session::new();
    let path = session.world.write("f", "old");
    age(&path, 1_000);
    session.read("f");
    session.write("f", "newer");
    session.rewind(0);
    let refused = session.call("Write", "{\"file_path\":\"f\",\"content\":\"x\"}");
    assert!(
        text(&refused).contains("changed since it was read"),
        "{refused:?}"
    );
}

// covers: DEC-47
#[test]
fn a_host_can_say_what_the_model_has_seen() {
    let session = Session::new();
    let path = session.world.write("f", "old");
    age(&path, 1_000);
    assert_eq!(session.seed("f", 999_999), Seeding::Newer);
    let absolute = path.to_str().unwrap();
    assert_eq!(session.seed(absolute, 1_000_000), Seeding::Seeded);
    session.world.write("f", "theirs");
    age(&path, 2_000);
    assert_eq!(mtime_ms(&path), 2_000_000);
    let input = "{\"file_path\":\"f\",\"content\":\"mine\"}";
    assert!(session.call("Write", input).is_error);
    // A newer version on the disk was not seen, whatever is said of an older one.
    assert_eq!(session.seed("f", 1_999_999), Seeding::Newer);
    assert!(session.call("Write", input).is_error);
    assert_eq!(session.seed("f", 3_000_000), Seeding::Seeded);
    session.write("f", "mine");
}

#[test]
fn a_bad_path_is_named() {
    let session = Session::new();
    session.world.fifo("pipe");
    for (path, why) in [
        ("", "is empty"),
        ("none", "`none` does not exist"),
        ("pipe", "`pipe` is a pipe"),
        (".", "is a folder"),
        ("a\0b", "NUL"),
        ("../home/auth.json", "AGENTX_HOME"),
        (&"n/".repeat(3_000), "longer than"),
    ] {
        match session.seed(path, u64::MAX) {
            Seeding::Refused(text) => assert!(text.contains(why), "{path}: {text}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}
