//! What a turn adds behind the provider's last byte: `latency AGENT [TURNS]`.
//!
//! A server on this machine streams an answer and notes when it hands the last
//! bytes to its socket; a host notes when it has read the `result` record. Every
//! driver of the binary plays a turn, with and without a session store, then a
//! line goes through `cat` and back, and so on in turns: what slows the machine
//! down for a while slows all of them. Times are of the wall, since waiting is
//! what is measured, so only an idle machine tells anything.

use std::error::Error;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const DRIVERS: [&str; 3] = ["tokio", "async-std", "mio"];
/// Turns of each that are not counted.
const WARM_UP: usize = 20;
/// How long the model pauses before its last bytes.
const PAUSE: Duration = Duration::from_millis(2);

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
    data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"four \"}}]}\n\n";
const LAST: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"words\"},\"finish_reason\":\"stop\"}],\
    \"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"total_tokens\":13}}\n\ndata: [DONE]\n\n";
const PROMPT: &[u8] =
    b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"say two words\"},\
    \"parent_tool_use_id\":null}\n";

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let agent = arguments.next().ok_or("usage: latency AGENT [TURNS]")?;
    let turns: usize = arguments.next().map_or(Ok(500), |turns| turns.parse())?;
    let (sent, last_bytes) = channel();
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let home = Home::new(listener.local_addr()?.port())?;
    thread::spawn(move || serve(&listener, &sent));

    let mut jobs = vec![Job::echo()?];
    for driver in DRIVERS {
        for stored in [false, true] {
            jobs.extend(Job::agent(Path::new(&agent), &home, driver, stored)?);
        }
    }
    for round in 0..WARM_UP + turns {
        let count = jobs.len();
        for at in 0..count {
            let job = &mut jobs[(round + at) % count];
            let took = job.turn(&last_bytes)?;
            if round >= WARM_UP {
                job.took.push(took);
            }
        }
    }
    eprintln!("{turns} turns each, in microseconds");
    eprintln!("{:<28} {:>8} {:>8} {:>8}", "job", "p50", "p99", "worst");
    for job in &mut jobs {
        job.took.sort_unstable();
        let at = |hundredth: usize| job.took[(job.took.len() - 1) * hundredth / 100].as_micros();
        eprintln!(
            "{:<28} {:>8} {:>8} {:>8}",
            job.name,
            at(50),
            at(99),
            at(100)
        );
    }
    Ok(())
}

/// A folder with a registry, and one to work in; gone at the end.
struct Home(PathBuf);

impl Home {
    fn new(port: u16) -> Outcome<Self> {
        let root = std::env::temp_dir().join(format!("agentx-latency-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&root)?;
        let home = Self(root);
        for folder in ["home", "work"] {
            DirBuilder::new().mode(0o700).create(home.0.join(folder))?;
        }
        fs::set_permissions(home.0.join("home"), Permissions::from_mode(0o700))?;
        let mut file = OpenOptions::new();
        let path = home.0.join("home/auth.json");
        let mut file = file.write(true).create_new(true).mode(0o600).open(path)?;
        write!(
            file,
            "{{\"version\":2,\"providers\":[{{\"id\":\"local\",\"type\":\"openai_compatible\",\"openai_compatible\":\
             {{\"base_url\":\"http://127.0.0.1:{port}/v1\",\"model\":\"m\",\"api_key\":\"latency-bench-key\",\
             \"api\":\"chat_completions\"}}}}]}}"
        )?;
        Ok(home)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A folder of a few files that nobody needs any more.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that is given a line and says when it is done.
struct Job {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// Whether it is an agent, which asks the server.
    asks: bool,
    took: Vec<Duration>,
}

impl Job {
    fn start(name: String, command: &mut Command, asks: bool) -> Outcome<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("no pipe")?;
        Ok(Self {
            name,
            input: child.stdin.take(),
            output: BufReader::new(output),
            child,
            asks,
            took: Vec::new(),
        })
    }

    fn echo() -> Outcome<Self> {
        Self::start("a line through cat".into(), &mut Command::new("cat"), false)
    }

    /// A session; none when the binary has no such driver.
    fn agent(agent: &Path, home: &Home, driver: &str, stored: bool) -> Outcome<Option<Self>> {
        let mut command = Command::new(agent);
        let format = "stream-json";
        command
            .args([
                "--print",
                "--input-format",
                format,
                "--output-format",
                format,
            ])
            .args(["--driver", driver])
            .args((!stored).then_some("--no-session-persistence"))
            .env("AGENTX_HOME", home.0.join("home"))
            .current_dir(home.0.join("work"));
        let mut job = Self::start(
            format!("{driver}, {}", if stored { "stored" } else { "not stored" }),
            &mut command,
            true,
        )?;
        if job.line()?.is_empty() {
            eprintln!("{driver}: no session");
            return Ok(None);
        }
        Ok(Some(job))
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }

    fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        let input = self.input.as_mut().ok_or("the input is closed")?;
        Ok(input.write_all(bytes)?)
    }

    fn turn(&mut self, last_bytes: &Receiver<Instant>) -> Outcome<Duration> {
        if !self.asks {
            let begun = Instant::now();
            self.write(PROMPT)?;
            self.line()?;
            return Ok(begun.elapsed());
        }
        self.write(PROMPT)?;
        loop {
            let line = self.line()?;
            let read = Instant::now();
            if line.starts_with("{\"type\":\"result\"") {
                if !line.contains("\"result\":\"four words\"") {
                    return Err(format!("{}: {line}", self.name).into());
                }
                self.line()?;
                return Ok(read.duration_since(last_bytes.recv()?));
            }
            if line.is_empty() {
                return Err(format!("{} ended", self.name).into());
            }
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// Answers one request after the other; tells when the last bytes of each go.
fn serve(listener: &TcpListener, sent: &Sender<Instant>) {
    for stream in listener.incoming().flatten() {
        if let Err(error) = answer(stream, sent) {
            eprintln!("server: {error}");
        }
    }
}

fn answer(mut stream: TcpStream, sent: &Sender<Instant>) -> Outcome<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        line.clear();
    }
    reader.take(length).read_to_end(&mut Vec::new())?;
    stream.write_all(HEAD)?;
    thread::sleep(PAUSE);
    let now = Instant::now();
    stream.write_all(LAST)?;
    sent.send(now)?;
    Ok(())
}
