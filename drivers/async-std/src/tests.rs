use super::*;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A wait that nobody should ever see.
const PATIENCE: Duration = Duration::from_secs(30);

// covers: DEC-28
#[test]
fn a_request_in_a_long_step_does_not_hold_up_the_loop() {
    let (end, ended) = channel();
    let (told, result) = bounded(1);
    let (begin, begun) = bounded(1);
    block_on(async {
        let _task = spawn(async move {
            begin.send(()).await.unwrap();
            // As a decoder that computes: no await, until the loop goes on.
            told.send(ended.recv_timeout(PATIENCE)).await.unwrap();
        });
        begun.recv().await.unwrap();
        end.send("the loop runs").unwrap();
        assert_eq!(result.recv().await.unwrap(), Ok("the loop runs"));
    });
}

#[test]
fn a_task_ends_with_its_handle() {
    let (held, released) = bounded::<()>(1);
    let task = spawn(async move {
        let _held = held;
        pending::<()>().await;
    });
    assert!(!task.is_over());
    drop(task);
    assert_eq!(released.recv_blocking(), Err(RecvError));
}
