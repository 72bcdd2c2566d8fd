use super::*;

fn queue(records: &[&str]) -> WriteQueue {
    let mut queue = WriteQueue::new();
    for record in records {
        queue.push(record.as_bytes().to_vec());
    }
    queue
}

/// Writes everything, `step` bytes at a time, as a descriptor would take it.
fn write_all(queue: &mut WriteQueue, step: usize) -> (Vec<u8>, Vec<u32>) {
    let (mut written, mut finished) = (Vec::new(), Vec::new());
    while let Some(front) = queue.front() {
        let count = front.len().min(step);
        written.extend_from_slice(&front[..count]);
        finished.push(queue.wrote(count).unwrap());
    }
    (written, finished)
}

#[test]
fn records_leave_in_order_whatever_a_write_takes() {
    let records = ["one\n", "second\n", "3\n"];
    for step in 1..16 {
        let mut queue = queue(&records);
        let (written, finished) = write_all(&mut queue, step);
        assert_eq!(written, b"one\nsecond\n3\n");
        assert_eq!(finished.iter().sum::<u32>(), 3);
        assert!(queue.is_empty());
    }
}

#[test]
fn a_record_is_finished_by_its_last_byte() {
    let mut queue = queue(&["abc\n", "d\n", "e\n"]);
    assert_eq!(queue.wrote(3), Ok(0));
    assert_eq!(queue.front(), Some(b"\n".as_slice()));
    // One write may finish several and begin another.
    assert_eq!(queue.wrote(4), Ok(2));
    assert_eq!((queue.front(), queue.unsent()), (Some(b"\n".as_slice()), 1));
    assert_eq!(queue.wrote(0), Ok(0));
    assert_eq!(queue.wrote(1), Ok(1));
    assert_eq!(queue.front(), None);
}

#[test]
fn slices_are_the_unsent_bytes() {
    let mut queue = queue(&["abc", "de", "f"]);
    queue.wrote(1).unwrap();
    for (room, expected) in [(0, ""), (1, "bc"), (2, "bcde"), (9, "bcdef")] {
        let mut slices = vec![IoSlice::new(&[]); room];
        let filled = queue.slices(&mut slices);
        assert_eq!(filled, room.min(3));
        let bytes: Vec<u8> = slices[..filled].iter().flat_map(|s| s.to_vec()).collect();
        assert_eq!(bytes, expected.as_bytes());
    }
}

#[test]
fn more_than_is_queued_cannot_be_written() {
    let mut queue = queue(&["abc"]);
    assert_eq!(queue.wrote(4), Err(Misuse::WrongAnswer));
    assert_eq!(
        (queue.unsent(), queue.front()),
        (3, Some(b"abc".as_slice()))
    );
}

#[test]
fn an_empty_record_is_none() {
    let mut queue = queue(&["", "a", ""]);
    assert_eq!(queue.front(), Some(b"a".as_slice()));
    assert_eq!(queue.wrote(1), Ok(1));
    assert!(queue.is_empty() && queue.front().is_none());
}

#[test]
fn finished_buffers_come_back_empty_and_bounded() {
    let mut queue = WriteQueue::new();
    assert_eq!(queue.recycle(), None);
    for _ in 0..MAX_SPARE_BUFFERS + 5 {
        queue.push(Vec::from([b'x'; 100]));
    }
    write_all(&mut queue, 250);
    let mut count = 0;
    while let Some(buffer) = queue.recycle() {
        assert!(buffer.is_empty() && buffer.capacity() >= 100);
        count += 1;
    }
    assert_eq!(count, MAX_SPARE_BUFFERS);
}

// covers: DEC-36
#[test]
fn pressure_follows_the_unsent_bytes() {
    let mut queue = WriteQueue::new();
    queue.push(vec![b'x'; PAUSE_PROGRESS_BYTES]);
    assert_eq!(queue.pressure(), Pressure::None);
    queue.push(vec![b'x']);
    assert_eq!(queue.pressure(), Pressure::Progress);
    queue.push(vec![b'x'; PAUSE_INPUT_BYTES - PAUSE_PROGRESS_BYTES - 1]);
    assert_eq!(queue.pressure(), Pressure::Progress);
    queue.push(vec![b'x']);
    assert_eq!(queue.pressure(), Pressure::Input);
    queue.wrote(1).unwrap();
    assert_eq!(queue.pressure(), Pressure::Progress);
}

// covers: DEC-11
#[test]
fn a_failed_write_is_latched() {
    let mut queue = queue(&["abc", "def"]);
    queue.wrote(1).unwrap();
    queue.fail();
    queue.push(b"later".to_vec());
    assert!(queue.has_failed() && queue.is_empty());
    assert_eq!((queue.front(), queue.unsent()), (None, 0));
    assert_eq!(queue.wrote(1), Err(Misuse::WrongAnswer));
}

#[test]
fn no_record_shows_when_a_queue_is_printed() {
    let text = format!("{:?}", queue(&["sk-test-0123456789"]));
    assert!(text.contains("18") && !text.contains("sk-"), "{text}");
}
