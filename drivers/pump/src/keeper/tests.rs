use super::*;
use agentx_core::time::WallTime;
use std::sync::{Arc, Mutex};

/// Long enough for every test that ends; never waited out.
const LONG: Duration = Duration::from_secs(300);

fn batch(first: u64) -> Batch {
    Batch {
        session_id: "s".into(),
        first,
        opening: None,
        entries: [].into(),
        time: WallTime(0),
    }
}

fn keeper(keep: Option<Keep>) -> (Keeper, Receiver<News>) {
    let (sender, news) = channel();
    let post: Post = Arc::new(move |item| drop(sender.send(item)));
    (Keeper::new(keep, post), news)
}

// covers: DEC-32, DEC-28
#[test]
fn batches_are_stored_in_order_and_the_store_is_closed_behind_them() {
    struct Closed(Arc<Mutex<Vec<u64>>>);
    impl Drop for Closed {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(u64::MAX);
        }
    }
    let stored = Arc::new(Mutex::new(Vec::new()));
    let closed = Closed(Arc::clone(&stored));
    let keep: Keep = Box::new(move |batch| {
        closed.0.lock().unwrap().push(batch.first);
        Ok(())
    });
    let (mut keeper, news) = keeper(Some(keep));
    for n in 0..100 {
        keeper.store(EffectId(n), batch(n));
    }
    assert!(keeper.close(LONG));
    for n in 0..100 {
        assert_eq!(news.recv(), Ok(News::Stored(EffectId(n), Ok(()))));
    }
    let mut expected: Vec<u64> = (0..100).collect();
    expected.push(u64::MAX);
    assert_eq!(*stored.lock().unwrap(), expected);
}

#[test]
fn a_store_that_fails_or_panics_says_so_and_goes_on() {
    let keep: Keep = Box::new(|batch| match batch.first {
        0 => Err("the disk is full".into()),
        1 => panic!("a bug of the store"),
        _ => Ok(()),
    });
    let (mut keeper, news) = keeper(Some(keep));
    for n in 0..3 {
        keeper.store(EffectId(n), batch(n));
    }
    let told = |why: &str| Err(why.to_owned());
    for (n, kept) in [
        (0, told("the disk is full")),
        (1, told("it failed inside")),
        (2, Ok(())),
    ] {
        assert_eq!(news.recv(), Ok(News::Stored(EffectId(n), kept)));
    }
    assert!(keeper.close(LONG));
}

#[test]
fn without_a_store_nothing_is_stored_and_that_is_told() {
    let (mut keeper, news) = keeper(None);
    keeper.store(EffectId(0), batch(0));
    let none = Err("there is none".to_owned());
    assert_eq!(news.recv(), Ok(News::Stored(EffectId(0), none)));
    assert!(keeper.close(LONG));
}

#[test]
fn a_store_that_hangs_is_not_waited_for_for_ever() {
    let (release, held) = channel::<()>();
    let keep: Keep = Box::new(move |_| {
        let _ = held.recv();
        Ok(())
    });
    let (mut keeper, _news) = keeper(Some(keep));
    keeper.store(EffectId(0), batch(0));
    assert!(!keeper.close(Duration::ZERO));
    drop(release);
}
