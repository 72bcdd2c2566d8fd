//! Background tasks: output files, what begins, what is told.

use crate::bash::Lifeline;
use crate::world::{World, quoted, text};
use agentx_core::guard::Guard;
use agentx_core::tool::{TaskRequest, ToolOutcome};
use agentx_tools::{CancelToken, Toolbox};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A world whose temporary directory is its own.
fn world() -> World {
    let mut world = World::new();
    world.config.temp = world.beside("other");
    world
}

fn request(world: &World, id: &str, command: &str) -> TaskRequest {
    let input = format!(
        "{{\"command\":{},\"run_in_background\":true}}",
        quoted(command)
    );
    TaskRequest {
        task_id: id.into(),
        tool: world.request("Bash", &input),
    }
}

/// Runs a task to its end; gives the file it named, if it began.
fn run(
    toolbox: &Toolbox,
    task: &TaskRequest,
    cancel: &CancelToken,
) -> (Option<PathBuf>, ToolOutcome) {
    let begun = RefCell::new(None);
    let began = |path: &str| {
        let before = begun.replace(Some(PathBuf::from(path)));
        assert_eq!(before, None, "it begins once");
    };
    let outcome = toolbox.run_task(task, &began, cancel);
    (begun.into_inner(), outcome)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn folders(world: &World) -> Vec<PathBuf> {
    let all = fs::read_dir(world.beside("other")).unwrap();
    let paths = all.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

// covers: WIRE-004
#[test]
fn output_files_are_for_their_owner_alone_and_in_one_folder() {
    let world = world();
    let toolbox = world.toolbox();
    assert_eq!(
        folders(&world),
        Vec::<PathBuf>::new(),
        "made when it is needed"
    );
    let (a, outcome) = run(
        &toolbox,
        &request(&world, "task_a", "echo out; echo err >&2"),
        &CancelToken::new(),
    );
    let (b, failed) = run(
        &toolbox,
        &request(&world, "task_b", "printf x; exit 7"),
        &CancelToken::new(),
    );
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(
        (text(&outcome).as_str(), outcome.is_error),
        ("out\nerr\n", false)
    );
    assert_eq!(
        (text(&failed).as_str(), failed.is_error),
        ("x\n[Exit status 7.]", true)
    );
    assert_eq!(
        fs::read_to_string(&a).unwrap(),
        "out\nerr\n[The task is complete.]\n"
    );
    assert_eq!(fs::read_to_string(&b).unwrap(), "x\n[Exit status 7.]\n");
    assert_eq!(folders(&world), [a.parent().unwrap()]);
    assert_eq!(a.parent(), b.parent());
    assert_eq!((mode(&a), mode(a.parent().unwrap())), (0o600, 0o700));
}

// covers: WIRE-004
#[test]
fn what_does_not_begin_leaves_no_file() {
    let mut world = world();
    let toolbox = world.toolbox();
    for command in [" ", "ls $AGENTX_HOME"] {
        let (begun, outcome) = run(
            &toolbox,
            &request(&world, "task_a", command),
            &CancelToken::new(),
        );
        assert!(begun.is_none() && outcome.is_error, "{outcome:?}");
    }
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let (begun, outcome) = run(
        &toolbox,
        &request(&world, "task_a", "touch ran"),
        &cancelled,
    );
    assert!(begun.is_none() && outcome.is_error);
    let folder = folders(&world).remove(0);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    world.config.shell = world.beside("nothing");
    let (begun, outcome) = run(
        &world.toolbox(),
        &request(&world, "task_a", "ls"),
        &CancelToken::new(),
    );
    assert!(
        begun.is_none() && text(&outcome).contains("was not started"),
        "{outcome:?}"
    );
    world.config.temp = world.beside("gone");
    let (begun, outcome) = run(
        &world.toolbox(),
        &request(&world, "task_a", "touch ran"),
        &CancelToken::new(),
    );
    assert!(begun.is_none());
    assert!(text(&outcome).starts_with("Not started: no output file could be made"));
    assert!(!world.work("ran").exists());
}

// covers: WIRE-004
#[test]
fn a_folder_that_somebody_prepared_is_not_used() {
    let world = world();
    let name = |n: u32| {
        world
            .beside("other")
            .join(format!("agentx-tasks-{}-{n}", std::process::id()))
    };
    fs::create_dir(name(0)).unwrap();
    std::os::unix::fs::symlink(world.beside("home"), name(1)).unwrap();
    let (begun, _) = run(
        &world.toolbox(),
        &request(&world, "task_a", "true"),
        &CancelToken::new(),
    );
    assert_eq!(begun.unwrap().parent(), Some(name(2).as_path()));
}

// covers: WIRE-004
#[test]
fn a_file_takes_no_more_than_its_bound_and_tells_what_it_left_out() {
    let mut world = world();
    world.config.limits.task_file_bytes = 10;
    let (begun, outcome) = run(
        &world.toolbox(),
        &request(&world, "task_a", "printf 'äbcdefghijk'; printf 'l\\n'"),
        &CancelToken::new(),
    );
    assert_eq!(
        text(&outcome),
        "äbcdefghijkl\n",
        "the answer has its own bound"
    );
    let file = fs::read_to_string(begun.unwrap()).unwrap();
    assert_eq!(
        file,
        "äbcdefghi\n[… 4 bytes cut]\n[The task is complete.]\n"
    );
}

// covers: DEC-30, WIRE-004
#[test]
fn a_file_holds_no_credential_however_it_is_written() {
    let key = "qZ7-kW3'xJ9_vB5+";
    let mut world = world();
    world.config.guard = Guard::new([key]).unwrap();
    fs::write(world.work("key"), key).unwrap();
    let command = "head -c 7 key; sleep 0.1; tail -c +8 key; echo; head -c 9 key; exit 1";
    let (begun, _) = run(
        &world.toolbox(),
        &request(&world, "task_a", command),
        &CancelToken::new(),
    );
    let file = fs::read_to_string(begun.unwrap()).unwrap();
    assert!(
        file.starts_with("[redacted]\n") && !file.contains(key),
        "{file}"
    );
    // A path that spells one cannot be told.
    world.config.temp = world.beside(key);
    fs::create_dir(world.beside(key)).unwrap();
    let (begun, outcome) = run(
        &world.toolbox(),
        &request(&world, "task_a", "touch ran"),
        &CancelToken::new(),
    );
    assert!(begun.is_none() && !world.work("ran").exists());
    assert!(!text(&outcome).contains(key));
}

// covers: WIRE-004
#[test]
fn a_task_that_is_stopped_is_ended_and_its_file_says_so() {
    let world = world();
    let fifo = world.fifo("life");
    let toolbox = world.toolbox();
    let task = request(
        &world,
        "task_a",
        "trap '' TERM; exec 9>life; echo up >&9; echo up; while :; do sleep 600; done",
    );
    let cancel = CancelToken::new();
    let other = cancel.clone();
    let runner = std::thread::spawn(move || run(&toolbox, &task, &cancel));
    let mut life = Lifeline::open(&fifo);
    assert_eq!(life.line(), "up");
    other.cancel();
    let (begun, outcome) = runner.join().unwrap();
    life.wait_for_all_gone();
    assert!(outcome.is_error);
    let file = fs::read_to_string(begun.unwrap()).unwrap();
    assert!(file.starts_with("up\n[") && file.ends_with("]\n"), "{file}");
}
