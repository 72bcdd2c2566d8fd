//! A host in this process.

use crate::support::{Bench, Silent, Sink, channel_of_news, configured, control, user, world};
use agentx_pump::pump::{News, Post, Streams};
use agentx_pump::world::{Host, HostReply, Stdio};
use serde_json::Value;
use std::sync::{Arc, Mutex};

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
