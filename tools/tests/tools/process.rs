use agentx_core::guard::Guard;
use agentx_tools::process::{End, Finished, Job, Stderr, run};
use agentx_tools::{CancelToken, EndingLimits};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

fn child(program: &str, arguments: &[&str], stdin: Option<&[u8]>) -> Finished {
    started(program, arguments, stdin, "/").unwrap()
}

fn started(
    program: &str,
    arguments: &[&str],
    stdin: Option<&[u8]>,
    directory: &str,
) -> Result<Finished, String> {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let environment = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
    let job = Job {
        task: None,
        watch: None,
        program: Path::new(program),
        arguments: &arguments,
        directory: Path::new(directory),
        environment: &environment,
        stdin,
        stderr: Stderr::Apart,
        keep_chars: 10_000_000,
        keep_bytes: 1_000,
        guard: &Guard::default(),
        timeout: Duration::from_secs(60),
        ending: &EndingLimits::default(),
    };
    run(&job, &CancelToken::new()).map_err(|fault| fault.to_string())
}

fn status(finished: &Finished) -> Option<i32> {
    match &finished.end {
        End::Exited(Ok(status)) => status.code(),
        other => panic!("{other:?}"),
    }
}

fn all(capture: &agentx_tools::Capture) -> String {
    capture.text(10_000_000)
}

#[test]
fn a_child_reads_its_stdin_to_the_end_while_it_writes() {
    let input = "{\"a\":1}\n".repeat(500_000);
    let finished = child("cat", &[], Some(input.as_bytes()));
    assert_eq!(status(&finished), Some(0));
    assert_eq!(all(&finished.stdout), input);
    assert_eq!(all(&child("cat", &[], Some(b"")).stdout), "");
    assert_eq!(all(&child("cat", &[], None).stdout), "");
}

#[test]
fn a_child_need_not_read_its_stdin() {
    let input = vec![b'x'; 10_000_000];
    let finished = child("sh", &["-c", "exec <&-; echo done"], Some(&input));
    assert_eq!(status(&finished), Some(0));
    assert_eq!(all(&finished.stdout), "done\n");
    assert_eq!(status(&child("true", &[], Some(&input))), Some(0));
}

#[test]
fn streams_are_kept_apart_and_arguments_reach_no_shell() {
    let finished = child(
        "sh",
        &["-c", "echo \"$1\"; echo err >&2; exit 4", "sh", "$(ls) 'x'"],
        None,
    );
    assert_eq!(all(&finished.stdout), "$(ls) 'x'\n");
    assert_eq!(all(&finished.stderr), "err\n");
    assert_eq!(status(&finished), Some(4));
}

#[test]
fn both_streams_are_drained_however_much_comes() {
    let script =
        "head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero; head -c 100 /dev/zero >&2";
    let finished = child("sh", &["-c", script], None);
    assert_eq!(finished.stdout.total_chars(), 3_000_000);
    assert_eq!(finished.stderr.total_chars(), 3_000_100);
}

#[test]
fn what_cannot_start_says_why() {
    let fault = started("/no/such/program", &[], None, "/").unwrap_err();
    assert!(
        fault.starts_with("the program cannot be started: "),
        "{fault}"
    );
    assert!(started("/etc/passwd", &[], None, "/").is_err());
    assert!(started("no-such-program-here", &[], None, "/").is_err());
    let fault = started("true", &[], None, "/no/such/folder").unwrap_err();
    assert!(
        fault.starts_with("the working directory cannot be used: "),
        "{fault}"
    );
}
