use super::*;

fn queue(records: &[&str]) -> WriteQueue {
    let mut queue = WriteQueue::new();
    for record in records {
        queue.push(record.as_bytes().to_vec());
    }
    queue
}

/// The unsent bytes of the first `room` records.
fn unsent(queue: &WriteQueue, room: usize) -> String {
    let mut slices = vec![IoSlice::new(&[]); room];
    let filled = queue.slices(&mut slices);
    let bytes = slices[..filled].iter().flat_map(|slice| slice.to_vec());
    String::from_utf8(bytes.collect()).unwrap()
}

#[test]
fn records_leave_in_order_whatever_a_write_takes() {
    for step in 1..16 {
        let mut queue = queue(&["one\n", "second\n", "3\n"]);
        let mut written = String::new();
        while !queue.is_empty() {
            let front = unsent(&queue, 9);
            let count = front.len().min(step);
            written.push_str(&front[..count]);
            queue.wrote(count).unwrap();
        }
        assert_eq!(written, "one\nsecond\n3\n");
    }
}

#[test]
fn slices_are_the_unsent_bytes() {
    let mut queue = queue(&["abc", "de", "f"]);
    queue.wrote(1).unwrap();
    for (room, expected) in [(0, ""), (1, "bc"), (2, "bcde"), (9, "bcdef")] {
        assert_eq!(unsent(&queue, room), expected);
    }
    // One write may finish several records and begin another.
    queue.wrote(3).unwrap();
    assert_eq!(unsent(&queue, 9), "ef");
    queue.wrote(0).unwrap();
    queue.wrote(2).unwrap();
    assert!(queue.is_empty());
    assert_eq!(unsent(&queue, 9), "");
}

#[test]
fn more_than_is_queued_cannot_be_written() {
    let mut queue = queue(&["abc"]);
    assert_eq!(queue.wrote(4), Err(Misuse::WrongAnswer));
    assert_eq!(unsent(&queue, 9), "abc");
}

#[test]
fn an_empty_record_is_none() {
    let mut queue = queue(&["", "a", ""]);
    assert_eq!(queue.wrote(1), Ok(()));
    assert!(queue.is_empty());
}

#[test]
fn no_record_shows_when_a_queue_is_printed() {
    let text = format!("{:?}", queue(&["sk-test-0123456789"]));
    assert!(text.contains("18") && !text.contains("sk-"), "{text}");
}
