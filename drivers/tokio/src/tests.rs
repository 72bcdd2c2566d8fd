use super::*;
use std::sync::mpsc::channel;

/// A wait that nobody should ever see.
const PATIENCE: Duration = Duration::from_secs(30);

// covers: DEC-28
#[test]
fn a_request_in_a_long_step_does_not_hold_up_the_loop() {
    let runtime = runtime().unwrap();
    let (end, ended) = channel();
    let (begin, begun) = tokio::sync::oneshot::channel();
    runtime.block_on(async {
        let step = tokio::spawn(async move {
            begin.send(()).unwrap();
            // As a decoder that computes: no await, until the loop goes on.
            ended.recv_timeout(PATIENCE)
        });
        begun.await.unwrap();
        end.send("the loop runs").unwrap();
        assert_eq!(step.await.unwrap(), Ok("the loop runs"));
    });
}
