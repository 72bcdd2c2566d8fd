//! Questions of a command tool about the network. Its program tells where its
//! socket is, and prints what it reads then; in between the test plays it.

use crate::command::{declared, install, script};
use crate::world::{World, text};
use agentx_core::tool::{TaskRequest, ToolOutcome};
use agentx_tools::{CancelToken, Network, NetworkAnswers};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

const PROGRAM: &str = "printf %s \"$AGENTX_NETWORK_SOCKET\" >told; cat said";

/// A running call, as its program and whoever answers it see it.
struct Call {
    socket: PathBuf,
    hosts: Receiver<String>,
    /// Until nobody answers any more.
    answers: Option<NetworkAnswers>,
    cancel: CancelToken,
}

/// Whatever becomes of the play, its call ends.
impl Drop for Call {
    fn drop(&mut self) {
        if thread::panicking() {
            self.cancel.cancel();
        }
    }
}

fn world() -> World {
    let mut world = script(PROGRAM);
    world.config.temp = world.beside("other");
    world.fifo("told");
    world.fifo("said");
    world
}

/// Plays the program of a call; gives how the call ended.
fn play(world: &World, play: impl FnOnce(&mut Call)) -> ToolOutcome {
    let (sender, hosts) = channel();
    let (network, answers) = Network::new(move |host| sender.send(host).unwrap());
    let (request, toolbox, cancel) = (
        world.request("tool", "{}"),
        world.toolbox(),
        CancelToken::new(),
    );
    thread::scope(|scope| {
        let running = scope.spawn(|| toolbox.run_asking(&request, &network, &cancel));
        let mut call = Call {
            socket: fs::read_to_string(world.work("told")).unwrap().into(),
            hosts,
            answers: Some(answers),
            cancel: cancel.clone(),
        };
        play(&mut call);
        if !cancel.is_cancelled() {
            fs::write(world.work("said"), "over").unwrap();
        }
        running.join().unwrap()
    })
}

impl Call {
    fn connect(&self) -> UnixStream {
        UnixStream::connect(&self.socket).unwrap()
    }

    /// A connection that asks this.
    fn ask(&self, line: &str) -> UnixStream {
        let mut stream = self.connect();
        stream.write_all(line.as_bytes()).unwrap();
        stream
    }

    fn ask_about(&self, host: &str) -> UnixStream {
        self.ask(&format!("{{\"host\":\"{host}\"}}\n"))
    }

    /// One whose question has come to whoever answers.
    fn asked(&self, host: &str) -> UnixStream {
        let stream = self.ask_about(host);
        assert_eq!(self.hosts.recv().unwrap(), host);
        stream
    }

    /// The same, where a place may not be free yet.
    fn insist(&self, host: &str) -> UnixStream {
        loop {
            let mut stream = self.connect();
            // One that is refused may be closed already.
            let _ = writeln!(stream, "{{\"host\":\"{host}\"}}");
            stream.set_nonblocking(true).unwrap();
            loop {
                if let Ok(asked) = self.hosts.try_recv() {
                    assert_eq!(asked, host);
                    stream.set_nonblocking(false).unwrap();
                    return stream;
                }
                if stream.read(&mut [0; 100]).is_ok() {
                    break;
                }
                thread::yield_now();
            }
        }
    }

    fn answer(&self, host: &str, allowed: bool) {
        let answers = self.answers.as_ref().unwrap();
        answers.answer(host.to_owned(), allowed);
    }

    fn nobody_was_asked(&self) {
        assert_eq!(self.hosts.try_recv(), Err(TryRecvError::Empty));
    }
}

/// All that a connection says until it is closed.
#[track_caller]
fn told(stream: UnixStream) -> String {
    let mut line = String::new();
    let mut stream = BufReader::new(stream);
    stream.read_line(&mut line).unwrap();
    // One that had more to say is reset.
    let _ = stream.read_to_string(&mut line);
    line
}

fn denied(why: &str) -> String {
    format!("{{\"allowed\":false,\"error\":\"{why}\"}}\n")
}

const YES: &str = "{\"allowed\":true}\n";
const NO: &str = "{\"allowed\":false}\n";

// covers: WIRE-PERM-004, WIRE-PERM-080
#[test]
fn a_tool_asks_and_is_told_what_was_said() {
    let world = world();
    let mut folder = PathBuf::new();
    let outcome = play(&world, |call| {
        folder = call.socket.parent().unwrap().to_owned();
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "for nobody else");
        for (host, allowed, line) in [("a.example", true, YES), ("b.example", false, NO)] {
            let stream = call.asked(host);
            // Neither that of another question nor a late one means anything.
            call.answer("c.example", true);
            call.answer(host, allowed);
            assert_eq!(told(stream), line);
            call.answer(host, true);
        }
        let (mut slow, quick) = (call.connect(), call.asked("quick.example"));
        slow.write_all(b"{\"host\":\"sl").unwrap();
        call.answer("quick.example", true);
        assert_eq!(told(quick), YES, "a slow one holds up nobody");
        slow.write_all(b"ow\"}\n").unwrap();
        assert_eq!(call.hosts.recv().unwrap(), "slow");
        call.answer("slow", true);
        assert_eq!(told(slow), YES);
        call.nobody_was_asked();
    });
    assert_eq!((outcome.is_error, &*text(&outcome)), (false, "over"));
    assert!(!folder.exists(), "nothing is left");
}

// covers: WIRE-PERM-080
#[test]
fn two_that_ask_about_one_host_are_both_told() {
    play(&world(), |call| {
        let first = call.asked("a.example");
        let second = call.ask_about("a.example");
        // Taken in their order, so the second is there when this one is.
        let marker = call.asked("b.example");
        call.answer("a.example", true);
        assert_eq!((&*told(first), &*told(second)), (YES, YES));
        // What is open no more is asked about again.
        let third = call.asked("a.example");
        call.answer("a.example", false);
        call.answer("b.example", false);
        assert_eq!((&*told(third), &*told(marker)), (NO, NO));
        call.nobody_was_asked();
    });
}

// covers: WIRE-PERM-004, WIRE-PERM-080
#[test]
fn a_line_that_is_no_question_is_denied_and_says_why() {
    play(&world(), |call| {
        for (line, why) in [
            ("[]\n", "expected an object"),
            ("{\"port\":1}\n", "`host` is missing"),
            ("{\"host\":\"\"}\n", "`host` is empty"),
            ("{\"host\":7}\n", "`host`: expected a string"),
        ] {
            assert_eq!(told(call.ask(line)), denied(why));
        }
        for (line, why) in [
            ("\n", "the line is no JSON: "),
            ("example.com\n", "the line is no JSON: "),
            ("{\"host\":\"a\\u0007\"}\n", "`host`: expected a name"),
        ] {
            let said = told(call.ask(line));
            let start = denied(why);
            let start = start.trim_end_matches("\"}\n");
            assert!(said.starts_with(start), "{line}: {said}");
        }
        let cut = call.ask("{\"host\":\"a.example\"}");
        cut.shutdown(Shutdown::Write).unwrap();
        let unended = denied("expected a newline at the end of the line");
        assert_eq!(told(cut), unended);
        call.nobody_was_asked();
    });
}

// covers: WIRE-PERM-080
#[test]
fn a_line_of_4096_bytes_is_read_and_no_longer_one() {
    play(&world(), |call| {
        let question = |bytes: usize| {
            let question = "{\"host\":\"a\"}";
            format!("{question}{}", " ".repeat(bytes - question.len()))
        };
        let longest = call.ask(&(question(4_096) + "\n"));
        assert_eq!(call.hosts.recv().unwrap(), "a");
        call.answer("a", true);
        assert_eq!(told(longest), YES);
        let long = denied("expected a line of at most 4096 bytes");
        // Refused whether or not it ends.
        assert_eq!(told(call.ask(&question(4_097))), long);
        assert_eq!(told(call.ask(&(question(4_097) + "\n"))), long);
        call.nobody_was_asked();
    });
}

// covers: WIRE-PERM-080
#[test]
fn connections_that_say_nothing_take_their_places_and_hang_nothing() {
    let outcome = play(&world(), |call| {
        let idle: Vec<_> = (0..15).map(|_| call.connect()).collect();
        let sixteenth = call.asked("a.example");
        let most = denied("a call may have 16 connections at once");
        assert_eq!(told(call.connect()), most);
        drop(idle);
        // Those that are gone leave their places as soon as that is seen.
        let free = call.insist("b.example");
        call.answer("b.example", true);
        assert_eq!(told(free), YES);
        // This one has an answer and never reads it, that one is not answered.
        call.answer("a.example", true);
        let _unanswered = call.asked("c.example");
        let _never_asks = call.connect();
        let _unread = sixteenth;
    });
    assert_eq!(text(&outcome), "over");
}

// covers: WIRE-PERM-080
#[test]
fn a_call_asks_256_times_and_no_more() {
    play(&world(), |call| {
        for count in 0..256 {
            let host = format!("h{count}.example");
            let stream = call.asked(&host);
            call.answer(&host, true);
            assert_eq!(told(stream), YES);
        }
        let most = denied("a call may ask 256 times, and has done so");
        assert_eq!(told(call.ask_about("h0.example")), most);
        call.nobody_was_asked();
    });
}

// covers: WIRE-PERM-004
#[test]
fn whoever_cannot_answer_any_more_means_no() {
    play(&world(), |call| {
        let open = call.asked("a.example");
        call.answers = None;
        let nobody = denied("nobody can be asked");
        assert_eq!(told(open), nobody);
        assert_eq!(told(call.ask_about("b.example")), nobody);
    });
}

// covers: WIRE-PERM-004
#[test]
fn a_call_that_is_cancelled_means_no() {
    let world = world();
    let mut folder = PathBuf::new();
    let outcome = play(&world, |call| {
        folder = call.socket.parent().unwrap().to_owned();
        let open = call.asked("a.example");
        call.cancel.cancel();
        assert_eq!(told(open), denied("the call has ended"));
        call.answer("a.example", true);
    });
    assert_eq!(text(&outcome), "[The call was cancelled before it ended.]");
    assert!(!folder.exists());
}

// covers: WIRE-PERM-004
#[test]
fn where_nobody_can_be_asked_it_is_denied_at_once() {
    let world = world();
    let play = |run: &(dyn Fn() -> ToolOutcome + Sync)| {
        thread::scope(|scope| {
            let running = scope.spawn(run);
            let socket = fs::read_to_string(world.work("told")).unwrap();
            let mut stream = UnixStream::connect(socket).unwrap();
            stream.write_all(b"{\"host\":\"a\"}\n").unwrap();
            let said = told(stream);
            fs::write(world.work("said"), "over").unwrap();
            assert_eq!(text(&running.join().unwrap()), "over");
            said
        })
    };
    let toolbox = world.toolbox();
    let request = world.request("tool", "{}");
    let cancel = CancelToken::new();
    let said = play(&|| toolbox.run(&request, &cancel));
    assert_eq!(said, denied("nobody can be asked"));
    let task = TaskRequest {
        task_id: "task_1".into(),
        tool: request,
    };
    let said = play(&|| toolbox.run_task(&task, &|_| {}, &cancel));
    assert_eq!(said, denied("a background task cannot ask"));
}

// covers: DEC-22, WIRE-PERM-080
#[test]
fn a_tool_gets_its_own_socket_or_none() {
    let name = "AGENTX_NETWORK_SOCKET";
    let mut world = World::new();
    world
        .config
        .environment
        .insert(name.into(), "/outer".into());
    world
        .environment
        .insert(name.to_owned(), "/false".to_owned());
    assert_eq!(world.sh(&format!("echo \"<${name}>\"")), "<>\n");
    let print = format!("printf %s \"${name}\"");
    install(&mut world, declared(&["/bin/sh", "-c", &print]));
    world.config.temp = world.beside("other");
    let socket = world.ok("tool", "{}");
    assert!(Path::new(&socket).starts_with(world.beside("other")));
    assert!(!Path::new(&socket).exists());
    // Where no socket can be made nobody can be asked, and the tool runs.
    for temp in ["missing".to_owned(), "l".repeat(150)] {
        world.config.temp = world.beside(&temp);
        if temp.len() > 100 {
            fs::create_dir(&world.config.temp).unwrap();
        }
        assert_eq!(world.ok("tool", "{}"), "[The tool said nothing.]");
    }
    assert_eq!(fs::read_dir(&world.config.temp).unwrap().count(), 0);
}
