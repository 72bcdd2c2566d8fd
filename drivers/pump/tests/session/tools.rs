//! Tools of a session whose loop is gone.

use crate::support::{
    Bench, PATIENCE, Silent, Sink, channel_of_news, configured, duplex, script, world,
};
use agentx_core::agent::Config;
use agentx_core::schema::permission::PermissionMode;
use agentx_pump::pump::{News, Streams};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Whether this process has not ended yet.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_loop_that_panics_leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        cwd: folder.path().to_str().unwrap().to_owned(),
        permission_mode: PermissionMode::BypassPermissions,
        ..configured()
    };
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(Sink::default()),
        errors: Box::new(Sink::default()),
    };
    let mut bench = Bench::start(config, world(), duplex(), streams, channel_of_news());
    let command = "trap '' TERM; echo $$ > pid.part; mv pid.part pid; while :; do sleep 600; done";
    let call = json!({"name": "Bash", "input": {"command": command}});
    let prompt = format!("{}\n", script(&json!([{"tool_calls": [call]}])));
    bench.pump.take(News::Input(prompt.into_bytes()));
    bench.settle();
    let pid = loop {
        match fs::read_to_string(folder.path().join("pid")) {
            Ok(pid) => break pid.trim().to_owned(),
            Err(_) => std::thread::yield_now(),
        }
    };
    assert!(runs(&pid));
    let looping = std::thread::spawn(move || {
        let _bench = bench;
        panic!("a fault of the loop");
    });
    looping.join().unwrap_err();
    let begun = Instant::now();
    while runs(&pid) {
        assert!(begun.elapsed() < PATIENCE, "it still runs");
        std::thread::yield_now();
    }
}
