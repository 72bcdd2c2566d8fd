use crate::world::{World, command_input, text};
use agentx_tools::CancelToken;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

/// Milliseconds in which a shell has begun its command on any machine.
const PROMPT: u64 = 1_500;

fn input(command: &str, timeout_ms: u64) -> String {
    let input = command_input(command);
    let input = input.trim_end_matches('}');
    format!("{input},\"timeout_ms\":{timeout_ms}}}")
}

/// The reading end of a FIFO that processes of a command hold open. It is at
/// its end exactly when the last of them is gone.
pub(crate) struct Lifeline(BufReader<File>);

impl Lifeline {
    /// Waits until a process opens the other end.
    pub(crate) fn open(path: &Path) -> Self {
        Self(BufReader::new(File::open(path).unwrap()))
    }

    /// For a command that has opened and maybe closed it already.
    pub(crate) fn open_before(path: &Path) -> Self {
        let fd = open(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
        rustix::io::ioctl_fionbio(&fd, false).unwrap();
        Self(BufReader::new(File::from(fd)))
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Returns only once no process holds the other end.
    pub(crate) fn wait_for_all_gone(mut self) {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).unwrap();
    }
}

pub(crate) fn pid(text: &str) -> Pid {
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

/// Neither running nor a zombie of ours.
pub(crate) fn assert_reaped(pid: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let waited = waitid(WaitId::Pid(pid), options);
    assert_eq!(waited.unwrap_err(), rustix::io::Errno::CHILD);
}

#[test]
fn output_of_both_streams_comes_in_the_order_it_was_written() {
    let world = World::new();
    let text = world.sh("echo one; echo two >&2; echo three; printf four >&2");
    assert_eq!(text, "one\ntwo\nthree\nfour");
    assert_eq!(world.sh("true"), "[The command wrote nothing.]");
}

#[test]
fn it_runs_in_the_working_directory_without_input_in_a_group_of_its_own() {
    let world = World::new();
    let work = world.work("").canonicalize().unwrap();
    assert_eq!(world.sh("pwd -P").trim(), work.to_str().unwrap());
    assert_eq!(world.sh("cat; echo end"), "end\n");
    assert_eq!(
        world.sh("read -r x < /proc/$$/stat; set -- ${x##*) }; [ $3 = $$ ] && echo leader"),
        "leader\n"
    );
    assert_eq!(world.sh("[[ a == a ]] && echo bash"), "bash\n");
}

#[test]
fn a_status_that_is_no_success_is_an_error_that_tells_it() {
    let world = World::new();
    assert_eq!(
        world.fault("Bash", &command_input("echo no; exit 3")),
        "no\n[Exit status 3.]"
    );
    assert_eq!(
        world.fault("Bash", &command_input("printf no; exit 1")),
        "no\n[Exit status 1.]"
    );
    assert_eq!(
        world.fault("Bash", &command_input("false")),
        "[Exit status 1.]"
    );
    assert_eq!(
        world.fault("Bash", &command_input("kill -9 $$")),
        "[Ended by signal 9.]"
    );
    world.refused(
        "Bash",
        &command_input("no-such-program-here"),
        "[Exit status 127.]",
    );
}

// covers: DEC-22
#[test]
fn the_environment_is_the_base_with_updates_and_without_home() {
    let mut world = World::new();
    let home = world.config.home.clone().into_os_string();
    world.config.environment.insert("AGENTX_HOME".into(), home);
    world
        .config
        .environment
        .insert("KEPT".into(), "base".into());
    world.config.environment.insert("SET".into(), "base".into());
    world.environment.insert("SET".into(), "new".into());
    world
        .environment
        .insert("AGENTX_HOME".into(), "/somewhere".into());
    let all = world.sh("env");
    assert!(all.lines().any(|line| line == "KEPT=base"));
    assert!(all.lines().any(|line| line == "SET=new"));
    assert!(!all.contains("AGENTX_HOME"), "{all}");
    assert!(!all.contains("/home\n"), "{all}");
    assert!(
        !all.contains("CARGO"),
        "the process's own environment: {all}"
    );
}

#[test]
fn without_a_path_there_is_the_default_one() {
    let mut world = World::new();
    world.config.environment.clear();
    assert_eq!(
        world.sh("echo $PATH; ls /dev/null"),
        "/usr/local/bin:/usr/bin:/bin\n/dev/null\n"
    );
}

#[test]
fn a_command_that_names_home_does_not_run() {
    let mut world = World::new();
    let home = world.beside("home");
    let home = home.to_str().unwrap();
    for command in [
        format!("touch ran; cat {home}/auth.json"),
        format!("touch ran; cat '{home}'/auth.json"),
        "touch ran; cat $AGENTX_HOME/auth.json".to_owned(),
        "touch ran; cat \"${AGENTX_HOME}\"".to_owned(),
    ] {
        world.refused("Bash", &command_input(&command), "AGENTX_HOME");
    }
    // The other name of a home that is a link.
    symlink("../home", world.work("alias")).unwrap();
    world.config.home = world.work("alias");
    world.refused(
        "Bash",
        &command_input(&format!("touch ran; ls {home}")),
        "AGENTX_HOME",
    );
    assert!(!world.work("ran").exists());
}

#[test]
fn a_working_directory_in_home_or_gone_is_refused() {
    let mut world = World::new();
    world.config.home = world.work("");
    world.refused("Bash", &command_input("ls"), "AGENTX_HOME");
    world.config.home = world.beside("home");
    std::fs::remove_dir(world.work("")).unwrap();
    world.refused("Bash", &command_input("ls"), "no folder any more");
}

#[test]
fn faults_of_the_input_are_told_and_nothing_runs() {
    let world = World::new();
    for (input, why) in [
        (r#"{"command":" "}"#, "`command` is empty"),
        (r#"{"command":"touch ran\u0000"}"#, "NUL"),
        (
            r#"{"command":"touch ran","timeout_ms":600001}"#,
            "`timeout_ms` must be at most 600000",
        ),
        (
            r#"{"command":"touch ran","timeout_ms":0}"#,
            "`timeout_ms` must be",
        ),
        (
            r#"{"command":"touch ran","timeout":5}"#,
            "Unknown member `timeout`",
        ),
    ] {
        world.refused("Bash", input, why);
    }
    let long = format!("touch ran # {}", "x".repeat(131_072));
    world.refused(
        "Bash",
        &command_input(&long),
        "more than the 131071 that can be passed on",
    );
    assert!(!world.work("ran").exists());
    let longest = format!("echo ran # {}", "x".repeat(131_071 - 11));
    assert_eq!(world.sh(&longest), "ran\n");
}

// covers: DEC-34
#[test]
fn output_is_cut_at_30000_characters_with_head_tail_and_a_note() {
    let world = World::new();
    let exact = world.sh("printf '%030000d' 7");
    assert_eq!(exact.len(), 30_000);
    assert!(!exact.contains("cut"));
    let text = world.sh("echo start; yes ä | head -n 60000; echo end");
    assert!(text.chars().count() <= 30_000, "{}", text.chars().count());
    assert!(text.starts_with("start\nä\n") && text.ends_with("ä\nend\n"));
    let (_, note) = text.split_once("[… ").unwrap();
    let (cut, _) = note.split_once(" characters cut …]").unwrap();
    let cut: usize = cut.parse().unwrap();
    let note = format!("\n[… {cut} characters cut …]\n").chars().count();
    assert_eq!(text.chars().count() - note + cut, 120_010);
    // What tells the status is inside the bound too.
    let failed = world.fault("Bash", &command_input("yes | head -c 100000; exit 9"));
    assert!(failed.chars().count() <= 30_000 && failed.ends_with("[Exit status 9.]"));
}

// covers: DEC-34
#[test]
fn a_flood_of_output_is_drained_in_bounded_memory() {
    let world = World::new();
    let text = world.sh("head -c 100000000 /dev/zero | tr '\\0' x; echo end >&2");
    assert!(text.chars().count() <= 30_000);
    assert!(text.contains("[… 999") && text.ends_with("xend\n"));
    let peak = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = peak
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 100_000, "{peak} kB");
}

#[test]
fn output_that_is_not_utf8_is_shown_with_replacements() {
    let world = World::new();
    assert_eq!(world.sh(r"printf 'a\377b\0c\303'"), "a\u{FFFD}b\0c\u{FFFD}");
}

#[test]
fn a_background_process_neither_holds_the_call_nor_outlives_it() {
    let world = World::new();
    let lifeline = Lifeline::open_before(&world.fifo("life"));
    let text =
        world.sh("exec 9>life; sleep 1000 & (trap '' TERM HUP; sleep 1000) & echo started $$");
    let leader = text.strip_prefix("started ").unwrap();
    assert_reaped(pid(leader));
    lifeline.wait_for_all_gone();
}

#[test]
fn a_process_that_left_the_group_does_not_hold_the_call() {
    let world = World::new();
    // Goes on only once the process leads a session of its own.
    let escape = "setsid sleep 1000 & echo $!; \
                  until read -r x < /proc/$!/stat; set -- ${x##*) }; [ $4 = $! ]; do :; done";
    let text = world.sh(escape);
    let escaped = pid(&text);
    kill_process(escaped, Signal::KILL).expect("it lives, and held the pipe");
}

#[test]
fn a_command_whose_time_is_up_is_ended_with_its_group() {
    let world = World::new();
    let lifeline = Lifeline::open_before(&world.fifo("life"));
    let text = world.fault(
        "Bash",
        &input("exec 9>life; echo $$; sleep 1000 | sleep 1000", PROMPT),
    );
    let (leader, rest) = text.split_once('\n').unwrap();
    assert_eq!(rest, "[It was ended after its time of 1500 ms was up.]");
    assert_reaped(pid(leader));
    lifeline.wait_for_all_gone();
}

#[test]
fn what_ignores_sigterm_is_killed() {
    let world = World::new();
    let lifeline = Lifeline::open_before(&world.fifo("life"));
    let command = "exec 9>life; trap '' TERM; echo $$; while :; do sleep 1000; done";
    let text = world.fault("Bash", &input(command, PROMPT));
    assert!(
        text.ends_with("[It was ended after its time of 1500 ms was up.]"),
        "{text}"
    );
    assert_reaped(pid(text.lines().next().unwrap()));
    lifeline.wait_for_all_gone();
}

#[test]
fn sigterm_leaves_time_to_clean_up_and_output_is_read_meanwhile() {
    let mut world = World::new();
    world.config.limits.ending.term_grace = Duration::from_secs(60);
    let command = "trap 'echo cleaned; exit' TERM; sleep 1000 & wait";
    let text = world.fault("Bash", &input(command, PROMPT));
    assert_eq!(
        text,
        "cleaned\n[It was ended after its time of 1500 ms was up.]"
    );
}

#[test]
fn a_stopped_command_can_be_ended_by_sigterm() {
    let mut world = World::new();
    world.config.limits.ending.term_grace = Duration::from_secs(600);
    let text = world.fault("Bash", &input("kill -STOP $$", PROMPT));
    assert!(text.contains("its time of 1500 ms"), "{text}");
}

#[test]
fn endless_output_does_not_outrun_the_time_limit() {
    let world = World::new();
    let text = world.fault("Bash", &input("yes", PROMPT));
    assert!(text.chars().count() <= 30_000);
    assert!(text.ends_with("y\n[It was ended after its time of 1500 ms was up.]"));
}

/// Cancels a command once it says that it runs.
fn cancelled(world: &World, command: &str) -> (String, Pid, Lifeline) {
    ended(world, command, CancelToken::cancel)
}

/// Ends a command in this way once it says that it runs.
fn ended(world: &World, command: &str, end: fn(&CancelToken)) -> (String, Pid, Lifeline) {
    let path = world.fifo("life");
    let cancel = CancelToken::new();
    let command = format!("exec 9>life; {command}");
    let request = world.request("Bash", &command_input(&command));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| world.toolbox().run(&request, &cancel));
        let mut lifeline = Lifeline::open(&path);
        let leader = pid(&lifeline.line());
        end(&cancel);
        let outcome = running.join().unwrap();
        assert!(outcome.is_error);
        (text(&outcome), leader, lifeline)
    })
}

#[test]
fn a_cancelled_command_is_gone_with_its_group_and_says_so() {
    let world = World::new();
    let command = "echo before; (sleep 1000; :) & echo $$ >&9; sleep 1000";
    let (text, leader, lifeline) = cancelled(&world, command);
    assert_eq!(text, "before\n[The call was cancelled before it ended.]");
    assert_reaped(leader);
    lifeline.wait_for_all_gone();
}

#[test]
fn a_cancelled_command_that_ignores_sigterm_is_killed() {
    let world = World::new();
    let command = "trap '' TERM; echo $$ >&9; while :; do sleep 1000; done";
    let (text, leader, lifeline) = cancelled(&world, command);
    assert_eq!(text, "[The call was cancelled before it ended.]");
    assert_reaped(leader);
    lifeline.wait_for_all_gone();
}

// covers: DEC-11
#[test]
fn a_killed_command_has_no_time_to_ignore_it() {
    let mut world = World::new();
    world.config.limits.ending.term_grace = Duration::from_secs(600);
    let command = "trap '' TERM; (sleep 1000; :) & echo $$ >&9; while :; do sleep 1000; done";
    let (text, leader, lifeline) = ended(&world, command, CancelToken::kill);
    assert_eq!(text, "[The call was cancelled before it ended.]");
    assert_reaped(leader);
    lifeline.wait_for_all_gone();
}

#[test]
fn a_call_that_is_cancelled_before_it_begins_does_not_run() {
    let world = World::new();
    let cancel = CancelToken::new();
    cancel.cancel();
    let request = world.request("Bash", &command_input("touch ran"));
    let outcome = world.toolbox().run(&request, &cancel);
    assert!(outcome.is_error && text(&outcome).contains("cancelled"));
    assert!(!world.work("ran").exists());
}

#[test]
fn calls_run_side_by_side_without_mixing() {
    let world = World::new();
    let toolbox = world.toolbox();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (world, toolbox) = (&world, &toolbox);
            scope.spawn(move || {
                let command = format!("for i in 1 2 3; do echo {n}; done; echo {n} > f{n}");
                let request = world.request("Bash", &command_input(&command));
                let outcome = toolbox.run(&request, &CancelToken::new());
                assert_eq!(text(&outcome), format!("{n}\n{n}\n{n}\n"));
                let read = world.request("Read", &format!("{{\"file_path\":\"f{n}\"}}"));
                let outcome = toolbox.run(&read, &CancelToken::new());
                assert_eq!(text(&outcome), format!("     1\t{n}"));
            });
        }
    });
}
