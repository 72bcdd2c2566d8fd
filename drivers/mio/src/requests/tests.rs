use super::*;
use crate::mailbox::Mail;
use agentx_core::model::{Delta, Message, ModelOutcome, ModelRequest, ToolChoice};
use agentx_core::time::WallTime;
use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, Registry};
use agentx_pump::drive::MODEL_NEWS;
use agentx_pump::http1::Limits;
use agentx_pump::pump::ModelNews;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Barrier;
use std::sync::mpsc::channel;

/// A wait that nobody should ever see.
const PATIENCE: Duration = Duration::from_secs(30);

/// More than a mailbox has room for at once.
const MANY: usize = 100;

/// A run that asks the server at this port.
fn model_run(port: u16) -> Box<ModelRun> {
    let text = format!(
        r#"{{"version":2,"providers":[{{"id":"p","type":"openai_compatible",
        "openai_compatible":{{"base_url":"http://127.0.0.1:{port}/v1","model":"m",
        "api_key":"sk-test-0123456789","api":"chat_completions"}}}}]}}"#
    );
    let registry = Registry::parse(text.as_bytes(), &FileFacts::PRIVATE).unwrap();
    let key = registry.credentials().next().cloned();
    let mut provider = Provider::build(registry.select(None).unwrap(), None).unwrap();
    let request = ModelRequest {
        system: None,
        history: vec![Arc::new(Message::User(vec!["hi".to_owned()]))],
        prompt: 0,
        round: 0,
        tools: [].into(),
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 64,
        effort: None,
    };
    let call = provider.begin(request, 1, WallTime(0));
    Box::new(ModelRun::new(call, key, Limits::DEFAULT))
}

fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

fn event(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

const END: &str =
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Reads a request to the end of its head; its body is small and may stay.
fn read_head(socket: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
}

fn requests() -> Requests {
    Requests::start(Arc::new(TrustStore::new())).unwrap()
}

/// Whether the other side has gone, with a close or a reset.
fn gone(socket: &mut TcpStream) -> bool {
    loop {
        match socket.read(&mut [0; 4_096]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn many_exchanges_share_one_poll_and_none_waits_for_another() {
    let (listener, port) = listen();
    // Each answers its second half only once all have said their first one.
    let all = Arc::new(Barrier::new(MANY));
    let server = thread::spawn(move || {
        let serve = |_| {
            let (mut socket, _) = listener.accept().unwrap();
            let all = Arc::clone(&all);
            thread::spawn(move || {
                read_head(&mut socket);
                let first = format!("{HEAD}{}", event("good "));
                socket.write_all(first.as_bytes()).unwrap();
                all.wait();
                let second = format!("{}{END}", event("day"));
                socket.write_all(second.as_bytes()).unwrap();
            })
        };
        let threads: Vec<_> = (0..MANY).map(serve).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let requests = requests();
    let mailbox = requests.mailbox();
    for id in 0..MANY as u64 {
        requests.run(EffectId(id), model_run(port), Instant::ZERO);
    }
    let mut texts = BTreeMap::<u64, String>::new();
    let mut ends = BTreeMap::new();
    while ends.len() < MANY {
        match mailbox.wait(true, None) {
            Some(Mail::Model(EffectId(id), news)) => {
                assert!(!ends.contains_key(&id), "{news:?} after the end of {id}");
                match news {
                    ModelNews::Delta(Delta::Text(text)) => *texts.entry(id).or_default() += &text,
                    ModelNews::Done(outcome) => drop(ends.insert(id, outcome)),
                    ModelNews::Delta(_) | ModelNews::Warn(_) => {}
                }
            }
            other => panic!("{other:?}"),
        }
    }
    let finished = |outcome: &ModelOutcome| *outcome == ModelOutcome::Finished;
    assert!(ends.values().all(finished), "{ends:?}");
    assert_eq!(texts.len(), MANY);
    assert!(texts.values().all(|text| text == "good day"), "{texts:?}");
    server.join().unwrap();
}

#[test]
fn a_cancelled_exchange_leaves_its_server_and_the_others_go_on() {
    let (listener, port) = listen();
    let requests = requests();
    let mailbox = requests.mailbox();
    requests.run(EffectId(1), model_run(port), Instant::ZERO);
    let (mut first, _) = listener.accept().unwrap();
    requests.run(EffectId(2), model_run(port), Instant::ZERO);
    let (mut second, _) = listener.accept().unwrap();
    read_head(&mut first);
    read_head(&mut second);
    requests.cancel(EffectId(1));
    assert!(gone(&mut first));
    let lost = Some(Mail::News(News::ModelLost(EffectId(1))));
    assert_eq!(mailbox.wait(true, None), lost);
    let answer = format!("{HEAD}{END}");
    second.write_all(answer.as_bytes()).unwrap();
    loop {
        match mailbox.wait(true, None) {
            Some(Mail::Model(EffectId(2), ModelNews::Done(outcome))) => {
                assert_eq!(outcome, ModelOutcome::Finished);
                break;
            }
            Some(Mail::Model(EffectId(2), _)) => {}
            other => panic!("{other:?}"),
        }
    }
}

// covers: DEC-36
#[test]
fn an_exchange_without_room_for_its_news_pauses_and_can_be_cancelled() {
    let (listener, port) = listen();
    let requests = requests();
    let mailbox = requests.mailbox();
    requests.run(EffectId(1), model_run(port), Instant::ZERO);
    let (mut socket, _) = listener.accept().unwrap();
    read_head(&mut socket);
    // Until no byte more is taken: neither the socket nor the mailbox has a bound
    // that the server could get beyond.
    let mut writes = socket.try_clone().unwrap();
    let writer = thread::spawn(move || {
        let piece = event("x").repeat(1_000);
        let mut written = writes.write_all(HEAD.as_bytes());
        while written.is_ok() {
            written = writes.write_all(piece.as_bytes());
        }
    });
    // Nobody takes news: no more come than there is room for.
    while mailbox.waiting() < MODEL_NEWS {
        thread::yield_now();
    }
    requests.cancel(EffectId(1));
    assert!(gone(&mut socket));
    writer.join().unwrap();
    assert_eq!(mailbox.waiting(), MODEL_NEWS);
}

// covers: DEC-28
#[test]
fn a_request_in_a_long_step_does_not_hold_up_the_loop() {
    let requests = requests();
    let mailbox = requests.mailbox();
    let (begin, begun) = channel();
    let (end, ended) = channel();
    let step = move || {
        begin.send(()).unwrap();
        // As a decoder that computes, until the loop went on.
        ended.recv_timeout(PATIENCE).unwrap();
    };
    requests.orders.send(Order::Step(Box::new(step)));
    begun.recv().unwrap();
    mailbox.put(News::InputEnd);
    let told = mailbox.wait(true, Some(PATIENCE));
    assert_eq!(told, Some(Mail::News(News::InputEnd)));
    end.send(()).unwrap();
}

#[test]
fn what_is_begun_after_the_end_of_the_thread_is_lost_at_once() {
    let requests = requests();
    let mailbox = requests.mailbox();
    requests.orders.send(Order::End);
    while requests.orders.lock().is_some() {
        thread::yield_now();
    }
    requests.run(EffectId(5), model_run(9), Instant::ZERO);
    let lost = Some(Mail::News(News::ModelLost(EffectId(5))));
    assert_eq!(mailbox.wait(true, None), lost);
}

#[test]
fn what_is_under_way_at_the_end_of_the_thread_is_lost() {
    let (listener, port) = listen();
    let requests = requests();
    let mailbox = requests.mailbox();
    requests.run(EffectId(5), model_run(port), Instant::ZERO);
    let (mut socket, _) = listener.accept().unwrap();
    drop(requests);
    assert!(gone(&mut socket));
    let lost = Some(Mail::News(News::ModelLost(EffectId(5))));
    assert_eq!(mailbox.wait(true, None), lost);
}
