use super::*;
use agentx_core::schema::host::Interrupt;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A client of a shell script in place of an agent.
fn client(script: &str, callbacks: Callbacks) -> Client {
    let agent = Agent::new("/bin/sh").args(["-c", script]);
    start(agent, callbacks, threads()).unwrap()
}

/// What becomes of one request of an agent: the record that answers it.
fn answer(request: &str, callbacks: Callbacks) -> String {
    let script = format!(
        r#"echo '{{"type":"control_request","request_id":"r1","request":{request}}}'
        read -r answer; echo "$answer" >&2"#
    );
    let client = client(&script, callbacks);
    while wait(client.next()).is_some() {}
    let said = client.stderr();
    assert_eq!(said.len(), 1, "{said:?}");
    said[0].clone()
}

const ELICITATION: &str =
    r#"{"subtype":"elicitation","mcp_server_name":"calc","message":"How many?"}"#;

#[test]
fn a_user_is_asked_for_a_server() {
    let callbacks = Callbacks::new().elicit(|question| async move {
        assert_eq!(question.message, "How many?");
        Ok(McpReply::Accept(Some(RawJson::parse(r#"{"n":3}"#)?)))
    });
    let said = answer(ELICITATION, callbacks);
    let payload = r#""request_id":"r1","response":{"action":"accept","content":{"n":3}}"#;
    assert!(said.contains(payload), "{said}");
}

// covers: WIRE-PERM-002
#[test]
fn whatever_has_no_callback_is_refused() {
    let question = r#"{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t","input":{}}"#;
    let hook = r#"{"subtype":"hook_callback","callback_id":"hook_0","input":{}}"#;
    let message = r#"{"subtype":"mcp_message","server_name":"calc","message":{}}"#;
    for request in [question, hook, message, ELICITATION] {
        let said = answer(request, Callbacks::new());
        assert!(said.contains(r#""subtype":"error""#), "{said}");
    }
}

// covers: WIRE-PERM-002
#[test]
fn a_task_that_is_lost_is_a_refusal() {
    let lost: Spawn = std::sync::Arc::new(|task| {
        drop(task);
        Box::new(|| {})
    });
    let panics: Spawn = std::sync::Arc::new(|_| panic!("no runtime"));
    for spawn in [lost, panics] {
        let question = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t","input":{}}}"#;
        let script = format!(r#"echo '{question}'; read -r answer; echo "$answer" >&2"#);
        let callbacks = Callbacks::new().can_use_tool(|_| async { Ok(Decision::allow()) });
        let agent = Agent::new("/bin/sh").args(["-c", &script]);
        let client = start(agent, callbacks, spawn).unwrap();
        while wait(client.next()).is_some() {}
        let said = client.stderr();
        assert!(said[0].contains(r#""subtype":"error""#), "{said:?}");
    }
}

#[test]
fn a_call_whose_future_is_dropped_is_forgotten() {
    let client = client("while read -r line; do :; done", Callbacks::new());
    let mut context = Context::from_waker(Waker::noop());
    let soon = Duration::from_millis(20);
    for _ in 0..1_001 {
        let mut call = pin!(client.call(Interrupt {}));
        assert!(call.as_mut().poll(&mut context).is_pending());
    }
    let late = wait(client.call_within(Interrupt {}, soon));
    assert!(matches!(late, Err(Error::TimedOut { .. })), "{late:?}");
    // Those that are not dropped count.
    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let mut call = Box::pin(client.call(Interrupt {}));
            assert!(call.as_mut().poll(&mut context).is_pending());
            call
        })
        .collect();
    assert_eq!(wait(client.call(Interrupt {})), Err(Error::TooMany));
    drop(calls);
}

#[test]
fn records_that_nobody_takes_hold_the_agent_up_and_none_is_lost() {
    // 48 records of 1 MB, of which the host keeps 32 MiB.
    let script = r#"text=$(head -c 1000000 /dev/zero | tr '\0' x)
        for n in 1 2 3 4 5 6; do for m in 1 2 3 4 5 6 7 8; do
            echo "{\"type\":\"later\",\"text\":\"$text\"}"
        done; done
        echo done >&2"#;
    let client = client(script, Callbacks::new());
    let soon = Duration::from_millis(500);
    let late = wait(client.call_within(Interrupt {}, soon));
    assert!(matches!(late, Err(Error::TimedOut { .. })), "{late:?}");
    assert!(client.stderr().is_empty());
    let mut records = 0;
    while let Some(Ok(record)) = wait(client.next()) {
        assert!(matches!(record.body, Body::Unknown { kind, .. } if kind == "later"));
        records += 1;
    }
    assert_eq!(records, 48);
    assert_eq!(*wait(client.wait()).stderr, ["done"]);
}

#[test]
fn records_are_a_stream() {
    use futures_core::Stream as _;
    let client = client(
        "echo '{\"type\":\"one\"}'; cat > /dev/null",
        Callbacks::new(),
    );
    let mut records = pin!(client.records());
    let mut next = || wait(std::future::poll_fn(|cx| records.as_mut().poll_next(cx)));
    assert!(next().unwrap().is_ok());
    client.close();
    assert!(next().is_none());
    assert!(wait(client.wait()).success());
}

#[test]
fn an_agent_that_closes_its_output_is_told_with_how_it_ended_then() {
    let client = client("exec > /dev/null; read -r line; exit 5", Callbacks::new());
    let Err(Error::Ended(how)) = wait(client.call(Interrupt {})) else {
        panic!("an answer of nobody");
    };
    // It may have read the call before its input was closed.
    assert_eq!(how.code(), Some(5));
    let mut context = Context::from_waker(Waker::noop());
    let over = pin!(client.wait()).as_mut().poll(&mut context);
    assert_eq!(over, Poll::Ready(how));
}
