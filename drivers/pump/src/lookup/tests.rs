use super::*;
use std::sync::mpsc::channel;

fn target(host: &str) -> Target {
    Target {
        host: host.to_owned(),
        port: 443,
        tls: false,
        ca_file: None,
    }
}

#[test]
fn each_lookup_is_answered_once_also_where_there_are_more_than_threads() {
    let lookups = Lookups::new(Arc::new(TrustStore::new()));
    let (sender, found) = channel();
    for number in 0..4 * THREADS {
        let sender = sender.clone();
        let answer = move |found: Found| sender.send((number, found)).unwrap();
        lookups.start(target("127.0.0.1"), Box::new(answer));
    }
    drop(sender);
    let mut numbers: Vec<_> = found
        .iter()
        .map(|(number, found)| {
            assert_eq!(found.unwrap().addresses.len(), 1);
            number
        })
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..4 * THREADS).collect::<Vec<_>>());
}

#[test]
fn lookups_that_hang_hold_up_no_other_one_below_the_bound() {
    let lookups = Lookups::new(Arc::new(TrustStore::new()));
    let (end, ended) = channel::<()>();
    let ended = Arc::new(Mutex::new(ended));
    for _ in 1..THREADS {
        let ended = Arc::clone(&ended);
        // As a lookup that does not come back.
        let hang = move |_| assert!(ended.lock().unwrap().recv().is_err());
        lookups.start(target("127.0.0.1"), Box::new(hang));
    }
    let (sender, found) = channel();
    lookups.start(
        target("127.0.0.1"),
        Box::new(move |found| sender.send(found).unwrap()),
    );
    assert!(found.recv().unwrap().is_ok());
    drop(end);
}
