use super::*;
use agentx_core::schema::host::Interrupt;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
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
    let lost: Spawn = Arc::new(|task| {
        drop(task);
        Box::new(|| {})
    });
    let panics: Spawn = Arc::new(|_| panic!("no runtime"));
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
fn what_is_not_sent_says_so_by_what_comes_first() {
    let client = client("exec sleep 1000", Callbacks::new());
    // More than may wait, of which a pipe takes little.
    let long = "x".repeat(UNWRITTEN_BYTES + 1024 * 1024);
    assert!(wait(client.prompt(long)).is_ok());
    assert_eq!(wait(client.prompt("one more")), Err(Error::Stalled));
    client.close();
    assert_eq!(wait(client.prompt("late")), Err(Error::Closed));
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

/// A question of an agent, as a line of a shell script.
fn question(id: &str) -> String {
    format!(
        r#"echo '{{"type":"control_request","request_id":"{id}","request":{{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t","input":{{}}}}}}'"#
    )
}

// covers: WIRE-008
#[test]
fn an_agent_that_closes_its_input_and_lives_on_leaves_nobody_waiting() {
    let script = r#"exec < /dev/null; echo '{"type":"one"}'; exec sleep 1000"#;
    let client = client(script, Callbacks::new());
    assert!(wait(client.next()).unwrap().is_ok());
    let Err(Error::Ended(how)) = wait(client.call(Interrupt {})) else {
        panic!("an answer of nobody");
    };
    assert_eq!(how, Ended::default());
    assert_eq!(how.to_string(), "the agent closed its end of a pipe");
    // It was left alone.
    assert_eq!(
        wait(client.kill()).status.and_then(|how| how.signal()),
        Some(15)
    );
}

#[test]
fn what_has_left_the_group_and_goes_on_writing_holds_up_no_end() {
    let leaves = r#"setsid sh -c 'while echo "{\"type\":\"more\"}"; do sleep 0.1; done' &
        read -r line; exit 3"#;
    let client = client(leaves, Callbacks::new());
    assert!(wait(client.next()).unwrap().is_ok());
    client.close();
    // It is gone before its pipe is.
    while std::fs::exists(format!("/proc/{}", client.id())).unwrap() {
        assert!(wait(client.next()).unwrap().is_ok());
    }
    assert_eq!(wait(client.kill()).code(), Some(3));
    while let Some(record) = wait(client.next()) {
        assert!(record.is_ok(), "{record:?}");
    }
}

// covers: WIRE-PERM-002
#[test]
fn callbacks_that_were_taken_back_and_run_on_count() {
    let begun = Arc::new(AtomicUsize::new(0));
    let (count, (release, held)) = (Arc::clone(&begun), channel::<()>());
    let held = Mutex::new(held);
    let callbacks = Callbacks::new().can_use_tool(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        // Until the other end is dropped.
        let _ = held.lock().unwrap().recv();
        async { Ok(Decision::allow()) }
    });
    let again = format!(
        r#"{}; echo '{{"type":"control_cancel_request","request_id":"r"}}'"#,
        question("r")
    );
    let script = format!(
        r#"n=0; while [ $n -lt 300 ]; do n=$((n+1)); {again}; done
        {}; while read -r answer; do case "$answer" in *last*) break;; esac; done
        echo "$answer" >&2"#,
        question("last")
    );
    let client = client(&script, callbacks);
    // All of stderr is there once the end is.
    while wait(client.next()).is_some() {}
    let said = client.stderr();
    assert!(
        said[0].contains(r#""subtype":"error","request_id":"last""#)
            && said[0].contains("too many"),
        "{said:?}"
    );
    drop(release);
    drop(client);
    assert!(begun.load(Ordering::Relaxed) <= CALLBACKS);
}

#[test]
fn half_a_record_at_the_end_is_told_by_how_the_agent_ended() {
    let half = r#"echo '{"type":"one"}'; printf '{"type":"ha'"#;
    let last = |then: &str, kill: bool| {
        let client = client(&format!("{half}; {then}"), Callbacks::new());
        assert!(wait(client.next()).unwrap().is_ok());
        if kill {
            wait(client.kill());
        }
        let last = wait(client.next()).map(Result::unwrap_err);
        assert!(wait(client.next()).is_none());
        (last, wait(client.wait()))
    };
    let (told, _) = last("exit 0", false);
    assert!(matches!(told, Some(Error::Protocol { .. })), "{told:?}");
    let (told, ended) = last("exit 3", false);
    assert_eq!(ended.code(), Some(3));
    assert_eq!(told, Some(Error::Ended(ended)));
    let (told, ended) = last("kill -SEGV $$", false);
    assert_eq!(ended.status.and_then(|how| how.signal()), Some(11));
    assert_eq!(told, Some(Error::Ended(ended)));
    // Whoever kills it knows.
    let (told, _) = last("exec sleep 1000", true);
    assert_eq!(told, None);
}

#[test]
fn records_before_an_answer_are_there_when_it_is() {
    let script = r#"while read -r line; do
        id=$(echo "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
        printf '{"type":"one"}\n{"type":"control_response","response":{"subtype":"success","request_id":"%s"}}\n' "$id"
        done"#;
    let client = client(script, Callbacks::new());
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..20 {
        wait(client.interrupt()).unwrap();
        let record = pin!(client.next()).as_mut().poll(&mut context);
        assert!(matches!(record, Poll::Ready(Some(Ok(_)))), "{record:?}");
    }
}
