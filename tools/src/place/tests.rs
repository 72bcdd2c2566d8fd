use super::*;
use crate::testing;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

struct World {
    top: TempDir,
}

impl World {
    /// `work` and `other` beside each other, and a home with a secret.
    fn new() -> Self {
        let top = TempDir::new().unwrap();
        for folder in ["work/sub", "other", "home"] {
            fs::create_dir_all(top.path().join(folder)).unwrap();
        }
        for file in ["work/a", "work/sub/b", "other/c", "home/auth.json"] {
            fs::write(top.path().join(file), file).unwrap();
        }
        Self { top }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    fn fence(&self, access: Access) -> Fence {
        let request = testing::request(&self.path("work"), access);
        let home = self.path("home");
        Fence::new(&home, &request.directories, access, &Guard::default()).unwrap()
    }

    fn bound(&self, path: &str) -> Result<Place, String> {
        fault(self.fence(Access::WorkingDirectories).enter(path))
    }

    fn granted(&self, path: &str) -> Result<Place, String> {
        fault(self.fence(Access::Granted).enter(path))
    }
}

fn fault(result: Result<Place, Stop>) -> Result<Place, String> {
    result.map_err(|stop| format!("{stop:?}"))
}

fn content(place: &Place) -> String {
    let mut text = String::new();
    let (mut file, _) = place.open_file().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

fn refused(result: Result<Place, String>, why: &str) {
    let text = result.map(|place| place.leaf).unwrap_err();
    assert!(text.contains(why), "{text}");
}

#[test]
fn paths_lead_where_the_system_would_lead_them() {
    let world = World::new();
    for (path, expected) in [
        ("a", "work/a"),
        ("./sub/../a", "work/a"),
        ("sub//b", "work/sub/b"),
        ("../work/a", "work/a"),
    ] {
        assert_eq!(content(&world.bound(path).unwrap()), expected, "{path}");
    }
    assert!(matches!(world.bound("sub/").unwrap().leaf, Leaf::Folder));
    let Leaf::Missing { names } = world.bound("new/x").unwrap().leaf else {
        panic!("it exists");
    };
    assert_eq!(names, ["new", "x"]);
    refused(world.bound("a/"), "not a folder");
    refused(world.bound("a/b"), "not a folder");
    refused(world.bound("new/../a"), "does not exist");
    refused(world.bound(""), "empty");
    refused(world.bound("a\0b"), "NUL");
    refused(world.bound(&"x/".repeat(3_000)), "longer than");
}

#[test]
fn outside_is_refused_however_it_is_written_unless_somebody_allowed_it() {
    let world = World::new();
    symlink("../other", world.path("work/to-other")).unwrap();
    symlink(world.path("other/c"), world.path("work/to-c")).unwrap();
    symlink("/", world.path("work/to-root")).unwrap();
    symlink(world.path("other/new"), world.path("work/dangling")).unwrap();
    let absolute = world.path("other/c");
    let through_root = format!("to-root{}", absolute.display());
    let paths = [
        "../other/c",
        "to-other/c",
        "to-c",
        "sub/../../other/c",
        &through_root,
        absolute.to_str().unwrap(),
    ];
    for path in paths {
        refused(world.bound(path), "outside the working directories");
        assert_eq!(content(&world.granted(path).unwrap()), "other/c", "{path}");
    }
    refused(world.bound("dangling"), "outside");
    refused(world.bound(".."), "outside");
    refused(world.bound("to-other/new/x"), "outside");
}

#[test]
fn a_link_that_stays_inside_is_followed() {
    let world = World::new();
    symlink("sub/b", world.path("work/to-b")).unwrap();
    symlink(world.path("work/sub"), world.path("other/back")).unwrap();
    assert_eq!(content(&world.bound("to-b").unwrap()), "work/sub/b");
    assert_eq!(
        content(&world.bound("../other/back/b").unwrap()),
        "work/sub/b"
    );
}

#[test]
fn home_is_refused_in_every_mode_and_under_every_name() {
    let world = World::new();
    symlink("../home", world.path("work/h")).unwrap();
    symlink("../home/auth.json", world.path("work/f")).unwrap();
    symlink("h", world.path("work/hh")).unwrap();
    for path in [
        "../home",
        "../home/auth.json",
        "h/auth.json",
        "f",
        "hh/new/x",
        "h/",
    ] {
        refused(world.granted(path), "AGENTX_HOME");
        refused(world.bound(path), "AGENTX_HOME");
    }
    // A home inside the working directory, and one behind a link.
    let mut fence = world.fence(Access::Granted);
    symlink("sub", world.path("work/home-link")).unwrap();
    fence.home = Place::resolve(&world.path("work/home-link")).unwrap();
    refused(fault(fence.enter("sub/b")), "AGENTX_HOME");
    assert!(fence.enter("a").is_ok());
}

#[test]
fn a_home_that_does_not_exist_yet_cannot_be_made() {
    let world = World::new();
    let mut fence = world.fence(Access::Granted);
    fence.home = Place::resolve(&world.path("work/later/home")).unwrap();
    refused(fault(fence.enter("later/home")), "AGENTX_HOME");
    refused(fault(fence.enter("later/home/auth.json")), "AGENTX_HOME");
    assert!(fence.enter("later/homes").is_ok());
    assert!(fence.enter("later").is_ok());
    assert!(fence.enter("sub/later/home").is_ok());
}

#[test]
fn links_in_a_circle_end() {
    let world = World::new();
    symlink("round", world.path("work/round")).unwrap();
    symlink("sub/../x/y", world.path("work/x")).unwrap();
    refused(world.bound("round"), "too many links");
    refused(world.bound("x"), "too many links");
}

#[test]
fn what_was_judged_is_what_is_opened() {
    let world = World::new();
    let file = world.bound("a").unwrap();
    let below = world.bound("sub/b").unwrap();
    // The names now lead elsewhere.
    fs::remove_file(world.path("work/a")).unwrap();
    symlink(world.path("other/c"), world.path("work/a")).unwrap();
    fs::rename(world.path("work/sub"), world.path("work/old")).unwrap();
    symlink(world.path("other"), world.path("work/sub")).unwrap();
    fs::write(world.path("other/b"), "other/b").unwrap();
    assert!(matches!(
        file.open_file(),
        Err(OpenFault::System(Errno::LOOP | Errno::MLINK))
    ));
    assert_eq!(content(&below), "work/sub/b");
}

#[test]
fn a_pipe_that_takes_the_place_of_a_file_does_not_block() {
    let world = World::new();
    let file = world.bound("a").unwrap();
    fs::remove_file(world.path("work/a")).unwrap();
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, world.path("work/a"), mode).unwrap();
    assert!(matches!(file.open_file(), Err(OpenFault::Kind("a pipe"))));
}

#[test]
fn names_are_shown_on_one_line() {
    assert_eq!(
        name_text(OsStr::from_bytes(b"a\xFF.rs"), &Guard::default()),
        "a\u{FFFD}.rs"
    );
    assert_eq!(name_text(OsStr::new("a\nb"), &Guard::default()), "a\\nb");
    assert_eq!(name_text(OsStr::new("a\\b"), &Guard::default()), "a\\b");
}
