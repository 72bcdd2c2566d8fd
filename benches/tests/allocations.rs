//! What the core allocates, counted by the allocator for the thread of the test alone.

use agentx_benches::{decode, encode};
use agentx_core::agent::{AgentSession, Config, Input, Output, Provider};
use agentx_core::frame::Framer;
use agentx_core::ids::Seed;
use agentx_core::json::{RawJson, ScanLimits, Scanner, Writer};
use agentx_core::limits::Limits;
use agentx_core::link::Link;
use agentx_core::machine::Machine as _;
use agentx_core::mark::Marks;
use agentx_core::time::Instant;
use std::sync::Arc;

const RECORDS: &str = concat!(
    r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a \"b\"\n"}},"session_id":"s","parent_tool_use_id":null,"uuid":"u"}"#,
    "\n",
    r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"\u00e9 naïve"}]},"parent_tool_use_id":null,"uuid":"u"}"#,
    "\n",
    r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow","updatedInput":{"command":"ls","n\u0061me":[1,2,{"a":{}}]}}}}"#,
    "\n",
);

/// Runs once to warm up and then counts the blocks of a second run.
fn blocks(mut run: impl FnMut()) -> u64 {
    run();
    allocation_counter::measure(run).count_total
}

#[test]
fn the_steady_state_allocates_nothing() {
    let text = RECORDS.repeat(100);

    let mut scanner = Scanner::new();
    let whole = blocks(|| {
        assert_eq!(
            decode::borrowed(&mut scanner, text.as_bytes().chunks(text.len())),
            300
        );
    });
    assert_eq!(whole, 0, "300 records in one chunk");

    // A line over two chunks is joined in memory that lives only that long.
    let halves = blocks(|| {
        assert_eq!(
            decode::borrowed(&mut scanner, text.as_bytes().chunks(1 + text.len() / 2)),
            300
        );
    });
    assert_eq!(halves, 1, "one line was cut");

    let mut buffer = Vec::new();
    let writing = blocks(|| {
        let mut writer = Writer::with_buffer(std::mem::take(&mut buffer));
        writer.begin_object();
        writer.member_str("type", "keep\u{2028}alive");
        writer.member_u64("n", 7);
        writer.end_object();
        buffer = writer.finish();
    });
    assert_eq!(writing, 0, "a record into a buffer that was used before");

    // A record that leaves owns its bytes, since another thread writes them.
    let guard = encode::guard();
    let mut link = Link::new(&Limits::DEFAULT, String::new(), false);
    let sending = blocks(|| {
        for _ in 0..100 {
            let sent = link.send(&guard, |writer| {
                writer.begin_object();
                writer.member_str("text", "a \"b\"\n\u{1b}[0m");
                writer.end_object();
            });
            assert_eq!(sent, Ok(()));
            assert!(link.poll().is_some());
        }
    });
    assert_eq!(sending, 100, "one for each record through the link");

    let line = RECORDS.lines().next().expect("a line");
    let value = scanner
        .scan(line.as_bytes(), &ScanLimits::DEFAULT)
        .expect("a value");
    let owned = blocks(|| drop(RawJson::from_value(value)));
    assert_eq!(owned, 1, "a canonical value is handed over in one piece");

    let idle = blocks(|| {
        let mut framer = Framer::new(&Limits::DEFAULT);
        let mut chunk = line.as_bytes();
        assert!(framer.next(&mut chunk).is_none() && framer.held() > 0);
        let mut chunk = &b"\n"[..];
        while framer.next(&mut chunk).is_some() {}
        assert_eq!(framer.held(), 0, "nothing is held at a record boundary");
    });
    assert!(idle > 0);
}

/// What an idle session may take, in bytes: its own fields, and what they point to.
const IDLE_FIELDS: usize = 1_472;
const IDLE_ELSEWHERE: i64 = 145;
/// The same of what one small record leaves for the next.
const IDLE_SCRATCH: i64 = 1_272;

/// Feeds a session and acts as the writer of all it says.
fn feed(session: &mut AgentSession, input: Input<'_>) {
    let fed = session.handle(Instant::ZERO, input);
    assert_eq!(fed, Ok(()));
    settle(session);
}

fn settle(session: &mut AgentSession) {
    let mut written = 0;
    while let Some(output) = session.poll() {
        match output {
            Output::Transmit(record) => written += record.as_bytes().len(),
            other => panic!("an idle session asks for nothing: {other:?}"),
        }
    }
    if written > 0 {
        let told = session.handle(Instant::ZERO, Input::Sent(written));
        assert_eq!(told, Ok(()));
    }
}

#[test]
fn an_idle_session_is_small() {
    let provider = Provider::new("main", "scripted", "m");
    let config = Arc::new(Config::new(Seed::from_u64(1), "/", provider));
    let mut idle = None;
    let fresh = allocation_counter::measure(|| {
        let config = Arc::clone(&config);
        let mut session = AgentSession::with_seed(config, Seed::from_u64(2), Instant::ZERO);
        settle(&mut session);
        idle = Some(session);
    });
    // Where another member turns marks on, a few machines of a session have some.
    let marks = 8 * size_of::<Marks>();
    assert!(size_of::<AgentSession>() <= IDLE_FIELDS + marks);
    assert!(fresh.bytes_current <= IDLE_ELSEWHERE, "{fresh:?}");

    // What reads a record is kept for the next one; that makes no part of a turn.
    let mut session = idle.expect("a session");
    let heard = allocation_counter::measure(|| {
        feed(&mut session, Input::Bytes(b"{\"type\":\"keep_alive\"}\n"));
        feed(&mut session, Input::Tick);
    });
    assert!(heard.bytes_current <= IDLE_SCRATCH, "{heard:?}");
    let again = allocation_counter::measure(|| {
        feed(&mut session, Input::Bytes(b"{\"type\":\"keep_alive\"}\n"));
    });
    assert_eq!(again.bytes_current, 0, "{again:?}");
}
