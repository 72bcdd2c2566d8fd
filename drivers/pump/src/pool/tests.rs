use super::*;
use agentx_core::checkpoint::Bookkeeping;
use agentx_core::json::RawJson;
use agentx_core::tool::{Access, ToolCall, ToolOutcome, ToolRequest};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

/// Long enough for every test that ends; never waited out.
const LONG: Duration = Duration::from_secs(300);

fn request(name: &str) -> Box<ToolRequest> {
    Box::new(ToolRequest {
        call: ToolCall {
            id: "toolu_1".into(),
            name: name.into(),
            input: RawJson::parse("{}").unwrap(),
        },
        access: Access::Granted,
        directories: [].into(),
        environment: Arc::default(),
        bookkeeping: Bookkeeping::default(),
    })
}

/// A pool for tools, and the answers it posts.
fn pool(
    body: impl Fn(&ToolRequest, &CancelToken) -> ToolOutcome + Send + Sync + 'static,
) -> (Pool<Box<ToolRequest>>, Receiver<News>) {
    bounded(THREADS, body)
}

/// The same with so many threads.
fn bounded(
    threads: usize,
    body: impl Fn(&ToolRequest, &CancelToken) -> ToolOutcome + Send + Sync + 'static,
) -> (Pool<Box<ToolRequest>>, Receiver<News>) {
    let (sender, news) = channel();
    let post: Post = Arc::new(move |item| drop(sender.send(item)));
    let body =
        move |request: Box<ToolRequest>, cancel: &CancelToken| Answer::Tool(body(&request, cancel));
    let lost = |lost| Answer::Tool(ToolOutcome::error(format!("{lost:?}")));
    (Pool::new(threads, Box::new(body), lost, post), news)
}

fn answered(news: &Receiver<News>) -> (EffectId, ToolOutcome) {
    match news.recv().unwrap() {
        News::Answer(id, Answer::Tool(outcome)) => (id, outcome),
        other => panic!("{other:?}"),
    }
}

/// Lets bodies go on when it is opened.
#[derive(Clone, Default)]
struct Door(Arc<(Mutex<bool>, Condvar)>);

impl Door {
    fn pass(&self) {
        let mut open = self.0.0.lock().unwrap();
        while !*open {
            open = self.0.1.wait(open).unwrap();
        }
    }

    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

#[test]
fn a_body_that_panics_is_an_error_of_its_call_alone() {
    let (pool, news) = pool(|request, _| {
        assert_eq!(&*request.call.name, "sound", "a fault of the body");
        ToolOutcome::text("done")
    });
    for round in 0..2 * THREADS as u64 {
        pool.start(EffectId(round), request("broken"));
        let (id, outcome) = answered(&news);
        assert_eq!(id, EffectId(round));
        assert_eq!(outcome, ToolOutcome::error("Panicked"));
    }
    pool.start(EffectId(99), request("sound"));
    assert_eq!(
        answered(&news),
        (EffectId(99), ToolOutcome::text("done")),
        "no thread was lost"
    );
    assert!(pool.join(LONG));
}

#[test]
fn further_calls_wait_for_a_thread() {
    // A round passes only with as many bodies at once, and never with more.
    let round = Barrier::new(THREADS);
    let running = AtomicUsize::new(0);
    let (pool, news) = pool(move |_, _| {
        let before = running.fetch_add(1, Ordering::SeqCst);
        round.wait();
        running.fetch_sub(1, Ordering::SeqCst);
        ToolOutcome::text(if before < THREADS {
            "in turn"
        } else {
            "too many"
        })
    });
    let calls = 3 * THREADS as u64;
    for id in 0..calls {
        pool.start(EffectId(id), request("any"));
    }
    let mut ids: Vec<u64> = (0..calls)
        .map(|_| {
            let (id, outcome) = answered(&news);
            assert_eq!(outcome, ToolOutcome::text("in turn"));
            id.0
        })
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..calls), "each answered once");
    assert!(pool.join(LONG));
}

#[test]
fn a_call_that_is_cancelled_while_it_waits_never_runs() {
    let door = Door::default();
    let passed = door.clone();
    let (pool, news) = pool(move |request, _| {
        passed.pass();
        ToolOutcome::text(&*request.call.name)
    });
    for id in 0..THREADS as u64 {
        pool.start(EffectId(id), request("first"));
    }
    pool.start(EffectId(100), request("cancelled"));
    pool.start(EffectId(101), request("last"));
    pool.cancel(EffectId(100));
    door.open();
    // Threads answer in any order, but everybody else exactly once.
    let mut answers: Vec<_> = (0..=THREADS).map(|_| answered(&news)).collect();
    answers.sort_by_key(|(id, _)| *id);
    let last = answers.pop();
    assert_eq!(last, Some((EffectId(101), ToolOutcome::text("last"))));
    let first = |id: u64| (EffectId(id), ToolOutcome::text("first"));
    assert_eq!(answers, (0..THREADS as u64).map(first).collect::<Vec<_>>());
    assert!(pool.join(LONG));
    drop(pool);
    assert!(news.iter().next().is_none(), "nobody answers for it");
}

#[test]
fn a_call_that_runs_learns_that_it_is_cancelled() {
    let (began, begins) = channel();
    let (pool, news) = pool(move |_, cancel| {
        began.send(()).unwrap();
        while !cancel.is_cancelled() {
            thread::yield_now();
        }
        ToolOutcome::error("cancelled")
    });
    pool.start(EffectId(1), request("any"));
    begins.recv().unwrap();
    // Of nobody's effect nothing comes.
    pool.cancel(EffectId(7));
    pool.cancel(EffectId(1));
    assert_eq!(
        answered(&news),
        (EffectId(1), ToolOutcome::error("cancelled"))
    );
    pool.cancel(EffectId(1));
    assert!(pool.join(LONG));
}

#[test]
fn joining_waits_for_the_bodies_and_no_longer_than_it_may() {
    let door = Door::default();
    let passed = door.clone();
    let (pool, news) = pool(move |_, _| {
        passed.pass();
        ToolOutcome::text("done")
    });
    assert!(pool.join(Duration::ZERO), "nothing runs");
    pool.start(EffectId(1), request("any"));
    assert!(!pool.join(Duration::ZERO));
    door.open();
    assert!(pool.join(LONG));
    assert_eq!(answered(&news), (EffectId(1), ToolOutcome::text("done")));
}

#[test]
fn with_one_thread_jobs_run_in_the_order_they_came() {
    let (told, order) = channel();
    let (pool, news) = bounded(1, move |request, _| {
        told.send(request.call.name.to_string()).unwrap();
        ToolOutcome::text("done")
    });
    let names: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    for (id, name) in (0..).zip(&names) {
        pool.start(EffectId(id), request(name));
    }
    let ran: Vec<String> = order.iter().take(names.len()).collect();
    assert_eq!(ran, names);
    assert!(pool.join(LONG));
    drop(pool);
    assert_eq!(news.iter().count(), names.len());
}

#[test]
fn an_abandoned_pool_ends_what_runs_and_begins_nothing() {
    let (began, begins) = channel();
    let (pool, news) = bounded(1, move |request, cancel| {
        began.send(request.call.name.to_string()).unwrap();
        while !cancel.is_cancelled() {
            thread::yield_now();
        }
        ToolOutcome::error("cancelled")
    });
    pool.start(EffectId(1), request("runs"));
    pool.start(EffectId(2), request("waits"));
    assert_eq!(begins.recv().unwrap(), "runs");
    pool.abandon(LONG);
    assert!(pool.join(Duration::ZERO));
    pool.start(EffectId(3), request("late"));
    assert_eq!(
        answered(&news),
        (EffectId(1), ToolOutcome::error("cancelled"))
    );
    drop(pool);
    assert_eq!(begins.iter().count(), 0);
    assert_eq!(news.iter().count(), 0);
}

#[test]
fn a_cancelled_call_that_still_runs_is_abandoned_too() {
    let (began, begins) = channel();
    let deaf = Door::default();
    let passed = deaf.clone();
    let (pool, news) = bounded(1, move |_, cancel| {
        began.send(()).unwrap();
        passed.pass();
        // Killed, not only cancelled: no process can be started any more.
        ToolOutcome::text(format!("{cancel:?}"))
    });
    pool.start(EffectId(1), request("any"));
    begins.recv().unwrap();
    pool.cancel(EffectId(1));
    assert!(!pool.join(Duration::ZERO), "it is still there");
    pool.abandon(Duration::ZERO);
    deaf.open();
    assert!(pool.join(LONG));
    let (_, outcome) = answered(&news);
    let token = format!("{outcome:?}");
    assert!(token.contains("closed: true"), "{token}");
}
