//! Inputs as lines and back.

use super::*;
use alloc::vec;

fn inputs() -> Vec<Input<'static>> {
    let id = EffectId(7);
    let delta = |delta| Input::Progress(id, Progress::Delta(delta));
    let failed = |category, status| {
        let message = "said \"no\"\nand \\ left".to_string();
        Input::Done(
            id,
            Answer::Model(ModelOutcome::Failed(ModelFailure {
                category,
                status,
                message,
            })),
        )
    };
    let hook = |end| {
        let report = HookReport {
            end,
            answer: "{\"decision\": \"deny\"}\n".into(),
            stdout: String::new(),
            stderr: "a b".into(),
        };
        Input::Done(id, Answer::Hook(report))
    };
    let tool = |content: &[&str], is_error| {
        let content = content.iter().map(|text| ToolContent::Text((*text).into()));
        let content = content.collect();
        Input::Done(id, Answer::Tool(ToolOutcome { content, is_error }))
    };
    let mut inputs = vec![
        Input::Command(Command::Prompt("two words\u{2028}é".into())),
        Input::Command(Command::Shutdown { status: 143 }),
        delta(Delta::MessageId("msg \\\"1\\\\".into())),
        delta(Delta::Text("".into())),
        delta(Delta::Thinking("hm \"".into())),
        delta(Delta::Signature("c2ln".into())),
        delta(Delta::RedactedThinking("b3Bh".into())),
        delta(Delta::CallStart {
            index: 3,
            id: "".into(),
            name: "Read".into(),
        }),
        delta(Delta::CallArguments {
            index: 3,
            text: "{\"a\": 1}".into(),
        }),
        delta(Delta::UsageUnknown),
        delta(Delta::RateLimited { resets_at: None }),
        delta(Delta::RateLimited {
            resets_at: Some(1_764_000_000),
        }),
        delta(Delta::Usage(Usage {
            input_tokens: 1,
            output_tokens: 2,
            cache_creation_input_tokens: 3,
            cache_read_input_tokens: 4,
            reasoning_output_tokens: 5,
        })),
        Input::Done(id, Answer::Model(ModelOutcome::Finished)),
        failed(ErrorCategory::Unknown, None),
        tool(&[], false),
        tool(&["a \" b", "c"], true),
        Input::Command(Command::StopTask {
            task_id: "task_1 \"".into(),
        }),
        Input::Progress(
            id,
            Progress::Began {
                output_file: "/tmp/a b".into(),
            },
        ),
        Input::Done(id, Answer::Task(ToolOutcome::text("did \" it"))),
        Input::Done(id, Answer::Task(ToolOutcome::error("not"))),
        Input::Done(id, Answer::Matched(vec![])),
        Input::Done(
            id,
            Answer::Matched(vec![
                Ok(BTreeSet::new()),
                Err("no \"pattern\"".into()),
                Ok(["a b".into(), "c".into()].into()),
            ]),
        ),
        Input::Done(id, Answer::SchemaRead(Ok(()))),
        Input::Done(id, Answer::SchemaRead(Err("at /a: no".into()))),
        Input::Done(id, Answer::Validated(Validity::Fits)),
        Input::Done(id, Answer::Validated(Validity::Unknown)),
        Input::Done(id, Answer::Validated(Validity::Breaks(vec![]))),
        Input::Done(
            id,
            Answer::Validated(Validity::Breaks(vec!["/a \"b\"\n: no".into(), "".into()])),
        ),
        Input::Progress(id, Progress::Network("example.org".into())),
        Input::Progress(
            id,
            Progress::Hook {
                stdout: "a \" b\n".into(),
                stderr: String::new(),
            },
        ),
        hook(HookEnd::Exited(2)),
        hook(HookEnd::Failed("it \"went\" wrong".into())),
        Input::Sent(usize::MAX),
        Input::WriteFailed,
    ];
    inputs.extend(ErrorCategory::ALL.map(|category| failed(category, Some(500))));
    inputs.extend(STOPS.map(|(_, stop)| delta(Delta::Stop(stop))));
    for verdict in [Verdict::Passed, Verdict::Failed] {
        inputs.push(Input::Done(id, Answer::Persisted(verdict)));
        inputs.push(Input::Done(id, Answer::Stored(verdict)));
        inputs.push(Input::Done(id, Answer::Flushed(verdict)));
        inputs.push(Input::Done(id, Answer::Vetted(verdict)));
    }
    inputs
}

#[test]
fn every_input_reads_back_as_it_was_written() {
    for input in inputs() {
        let line = write(&input).expect("no input of the stream");
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(read(&line), Ok(input), "{line}");
    }
    for input in [Input::Bytes(b"{}"), Input::Eof, Input::Tick] {
        assert_eq!(write(&input), None);
    }
}

#[test]
fn what_is_no_input_is_a_fault() {
    for (line, fault) in [
        ("", "a word is missing"),
        ("wait", "an unknown kind of input"),
        ("write_failed now", "more than the input"),
        ("command sing", "an unknown command"),
        ("command prompt hello", "a text is missing"),
        ("command prompt \"hello", "a text is missing"),
        ("command prompt \"\\q\"", "a text is no JSON string"),
        ("command prompt \"\\ud800\"", "a text is no JSON string"),
        ("command shutdown 256", "a number is missing"),
        ("progress 1 hook \"a\"", "a text is missing"),
        ("progress 1 shout \"a\"", "an unknown delta"),
        ("progress 1 stop now", "an unknown stop reason"),
        ("done x model finished", "a number is missing"),
        ("done 1 tool", "a word is missing"),
        ("done 1 tool maybe", "a tool ends `ok` or `error`"),
        ("done 1 song passed", "an unknown answer"),
        ("done 1 hook passed", "a hook ends `exited` or `failed`"),
        ("done 1 hook exited 256", "a number is missing"),
        ("done 1 hook failed", "a text is missing"),
        ("done 1 matched all", "a pattern has `tools` or a `fault`"),
        ("done 1 matched tools 2 \"a\"", "a text is missing"),
        ("done 1 schema good", "a schema is `usable` or `unusable`"),
        ("done 1 vetted", "a word is missing"),
        (
            "done 1 validated well",
            "a value `fits`, `breaks` or is `unknown`",
        ),
        ("done 1 validated breaks x", "a text is missing"),
        ("done 1 vetted well", "a verdict is `passed` or `failed`"),
        (
            "done 1 model stopped",
            "a model request ends `finished` or `failed`",
        ),
        (
            "done 1 model failed badly - \"a\"",
            "an unknown error category",
        ),
    ] {
        assert_eq!(read(line), Err(LogFault(fault)), "{line}");
    }
}
