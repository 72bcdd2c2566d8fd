//! A host in this process.

use crate::support::{Bench, Silent, Sink, channel_of_news, configured, control, user, world};
use agentx_core::agent::Config;
use agentx_pump::pump::{News, Post, Streams};
use agentx_pump::world::{Host, HostPort, HostReply, Stdio};
use serde_json::{Value, json};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// A host that does as this says to each record.
struct Says<F>(F);

impl<F: FnMut(&Value) -> HostReply + Send> Host for Says<F> {
    fn record(&mut self, record: &[u8]) -> HostReply {
        (self.0)(&serde_json::from_slice(record).unwrap())
    }
}

fn line(text: &str) -> HostReply {
    HostReply {
        input: format!("{text}\n").into_bytes(),
        end: false,
    }
}

/// A session with a host, to its end: the exit status and stderr.
fn run(
    host: impl FnMut(&Value) -> HostReply + Send + 'static,
    news: (Post, std::sync::mpsc::Receiver<News>),
) -> (u8, String) {
    let errors = Sink::default();
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(Sink::default()),
        errors: Box::new(errors.clone()),
    };
    let stdio = Stdio::Host(Box::new(Says(host)));
    let status = Bench::start(configured(), world(), stdio, streams, news).end();
    (status, errors.text())
}

#[test]
fn a_host_may_go_on_for_as_long_as_it_likes() {
    const EXCHANGES: usize = 100_000;
    let answers = Arc::<Mutex<usize>>::default();
    let counted = Arc::clone(&answers);
    // Every answer is answered by the next request; no stack grows by that.
    let host = move |_: &Value| {
        let mut count = counted.lock().unwrap();
        *count += 1;
        if *count > EXCHANGES {
            return HostReply {
                input: Vec::new(),
                end: true,
            };
        }
        line(&control(&format!("c{count}")))
    };
    assert_eq!(run(host, channel_of_news()), (0, String::new()));
    assert_eq!(*answers.lock().unwrap(), EXCHANGES + 1);
}

// covers: DEC-28
#[test]
fn a_host_that_never_stops_talking_does_not_keep_others_from_their_turn() {
    let (post, news) = channel_of_news();
    let signal = Arc::clone(&post);
    let mut count = 0;
    let host = move |_: &Value| {
        count += 1;
        if count == 10 {
            signal(News::Signal(143));
        }
        line(&control(&format!("c{count}")))
    };
    assert_eq!(run(host, (post, news)), (143, String::new()));
}

// covers: WIRE-015
#[test]
fn a_host_that_panics_is_an_output_that_failed() {
    let mut count = 0;
    let host = move |_: &Value| {
        count += 1;
        assert_eq!(count, 1, "a fault of the host");
        line(&user("hello"))
    };
    let (status, errors) = run(host, channel_of_news());
    assert_eq!(status, 1);
    assert_eq!(
        errors,
        "agentx: error: stdout cannot be written; the session ends\n"
    );
}

// covers: DEC-28
#[test]
fn a_long_word_of_a_host_comes_in_steps() {
    let (post, news) = channel_of_news();
    let sizes = Arc::<Mutex<Vec<usize>>>::default();
    let seen = Arc::clone(&sizes);
    let counting: Post = Arc::new(move |item| {
        if let News::Input(piece) = &item {
            seen.lock().unwrap().push(piece.len());
        }
        post(item);
    });
    let long = "x".repeat(3_000_000);
    let host = move |record: &Value| match record["subtype"].as_str() {
        Some("init") => line(&user(&long)),
        _ => HostReply {
            input: Vec::new(),
            end: record["type"] == "result",
        },
    };
    assert_eq!(run(host, (counting, news)), (0, String::new()));
    let sizes = sizes.lock().unwrap();
    assert!(sizes.iter().sum::<usize>() > 3_000_000);
    assert!(sizes.iter().all(|size| *size <= 256 * 1024), "{sizes:?}");
}

/// What a host that only notes things was given.
enum Noted {
    Port(HostPort),
    Record(Value, usize),
    Line(String),
}

/// A host that another thread speaks for.
struct Notes {
    noted: Sender<Noted>,
    reports: bool,
}

impl Host for Notes {
    fn record(&mut self, record: &[u8]) -> HostReply {
        let parsed = serde_json::from_slice(record).unwrap();
        drop(self.noted.send(Noted::Record(parsed, record.len())));
        HostReply::default()
    }

    fn connect(&mut self, port: HostPort) {
        drop(self.noted.send(Noted::Port(port)));
    }

    fn takes_later(&self) -> bool {
        true
    }

    fn report(&mut self, line: &str) -> bool {
        drop(self.noted.send(Noted::Line(line.to_owned())));
        self.reports
    }
}

fn streams(errors: &Sink) -> Streams {
    Streams {
        input: Box::new(Silent),
        output: Box::new(Sink::default()),
        errors: Box::new(errors.clone()),
    }
}

#[test]
fn a_host_speaks_from_any_thread_at_any_time() {
    let (noted, notes) = channel();
    let host = Notes {
        noted,
        reports: true,
    };
    let speaker = thread::spawn(move || {
        let (mut port, mut results, mut lines) = (None, Vec::new(), Vec::new());
        for note in notes {
            match note {
                Noted::Port(given) => {
                    HostPort::send(&given, format!("{}\n", user("one")).as_bytes());
                    port = Some(given);
                }
                Noted::Record(record, size) => {
                    let port = port.as_ref().expect("the road comes first");
                    if record["type"] == "result" {
                        results.push(record["result"].as_str().unwrap().to_owned());
                        match results.len() {
                            1 => port.send(
                                format!("{}\n{{\"type\":\"what\"}}\n", user("two")).as_bytes(),
                            ),
                            _ => port.end(),
                        }
                    }
                    port.took(size);
                }
                Noted::Line(line) => lines.push(line),
            }
        }
        (results, lines)
    });
    let errors = Sink::default();
    let stdio = Stdio::Host(Box::new(host));
    let bench = Bench::start(
        configured(),
        world(),
        stdio,
        streams(&errors),
        channel_of_news(),
    );
    assert_eq!(bench.end(), 0);
    let (results, lines) = speaker.join().unwrap();
    assert_eq!(results, ["echo: one", "echo: two"]);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("agentx: warning: "), "{lines:?}");
    assert_eq!(errors.text(), "", "the host showed it");
}

#[test]
fn a_line_that_a_host_does_not_show_goes_to_stderr() {
    let (noted, notes) = channel();
    let host = Notes {
        noted,
        reports: false,
    };
    let errors = Sink::default();
    let stdio = Stdio::Host(Box::new(host));
    let bench = Bench::start(
        configured(),
        world(),
        stdio,
        streams(&errors),
        channel_of_news(),
    );
    for note in notes.try_iter() {
        if let Noted::Port(port) = note {
            port.send(b"{\"type\":\"what\"}\n");
            port.end();
        }
    }
    assert_eq!(bench.end(), 0);
    assert!(
        errors.text().starts_with("agentx: warning: "),
        "{}",
        errors.text()
    );
}

// covers: DEC-36
#[test]
fn what_a_host_has_not_taken_counts_as_unsent() {
    let (noted, notes) = channel();
    let host = Notes {
        noted,
        reports: true,
    };
    let errors = Sink::default();
    let config = Config {
        replay_user_messages: true,
        ..configured()
    };
    let stdio = Stdio::Host(Box::new(host));
    let mut bench = Bench::start(config, world(), stdio, streams(&errors), channel_of_news());
    let context = json!({"type": "user", "message": {"role": "user", "content": "x".repeat(5 << 20)},
        "parent_tool_use_id": null, "isReplay": true, "session_id": "default",
        "uuid": "3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27"});
    let (mut port, mut size) = (None, 0);
    for note in notes.try_iter() {
        match note {
            Noted::Port(given) => port = Some(given),
            Noted::Record(_, init) => size += init,
            Noted::Line(_) => {}
        }
    }
    let port = port.unwrap();
    port.send(format!("{context}\n").as_bytes());
    assert!(bench.pump.wants_progress());
    let echo = loop {
        bench.step();
        if let Ok(Noted::Record(_, size)) = notes.try_recv() {
            break size;
        }
    };
    assert!(echo > 5 << 20);
    assert!(!bench.pump.wants_progress());
    port.took(size + echo);
    bench.step();
    assert!(bench.pump.wants_progress());
}

// covers: WIRE-015
#[test]
fn a_host_that_gives_up_is_an_output_that_failed() {
    let (noted, notes) = channel();
    let host = Notes {
        noted,
        reports: false,
    };
    let errors = Sink::default();
    let stdio = Stdio::Host(Box::new(host));
    let bench = Bench::start(
        configured(),
        world(),
        stdio,
        streams(&errors),
        channel_of_news(),
    );
    for note in notes.try_iter() {
        if let Noted::Port(port) = note {
            port.fail();
        }
    }
    assert_eq!(bench.end(), 1);
    let told = "agentx: error: stdout cannot be written; the session ends\n";
    assert_eq!(errors.text(), told);
}
