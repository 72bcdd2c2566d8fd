//! Several processes and one store.

use crate::support::{Home, answer, entries, first, later, prompt};
use agentx_store::{Store, StoreError};
use std::fs::File;

#[test]
fn a_session_is_claimed_by_one_at_a_time() {
    let home = Home::new();
    let (mut one, mut two) = (home.store(), home.store());
    one.append(&first("a", 1, vec![prompt("u", "go")])).unwrap();
    assert_eq!(two.claim("a"), Err(StoreError::Claimed));
    let batch = later("a", 1, 2, vec![answer("mine")]);
    assert_eq!(two.append(&batch), Err(StoreError::Claimed));
    // Others are free, and so is this one once the first is gone.
    two.claim("b").unwrap();
    drop(one);
    two.append(&batch).unwrap();
    assert_eq!(entries(&two, "a").len(), 2);
}

#[test]
fn a_claim_survives_its_own_repetition_and_a_stale_file() {
    let home = Home::new();
    let mut store = home.store();
    // As a killed process leaves it.
    drop(File::create(home.of_store("a.lock")).unwrap());
    store.claim("a").unwrap();
    store.claim("a").unwrap();
    assert_eq!(home.store().claim("a"), Err(StoreError::Claimed));
}

#[test]
fn a_batch_that_does_not_follow_is_refused() {
    let home = Home::new();
    let mut store = home.store();
    store
        .append(&first("a", 1, vec![prompt("u", "go")]))
        .unwrap();
    for wrong in [0, 2] {
        let batch = later("a", wrong, 2, vec![answer("x")]);
        assert_eq!(store.append(&batch), Err(StoreError::Changed));
    }
    let again = first("a", 1, vec![prompt("u", "go")]);
    assert_eq!(store.append(&again), Err(StoreError::Exists));
    let unknown = later("b", 0, 1, vec![answer("x")]);
    assert_eq!(store.append(&unknown), Err(StoreError::Unknown));
    assert_eq!(entries(&store, "a").len(), 1);
}

// Many writers wait for one another and lose nothing.
// covers: DEC-32
#[test]
fn writers_of_one_store_take_turns() {
    let home = Home::new();
    drop(home.store());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let mut store = home.store();
            scope.spawn(move || {
                let id = format!("s{writer}");
                store
                    .append(&first(&id, 1, vec![prompt("u", "go")]))
                    .unwrap();
                for n in 1..50 {
                    store.append(&later(&id, n, n, vec![answer("x")])).unwrap();
                }
            });
        }
    });
    let store = home.store();
    for writer in 0..4 {
        assert_eq!(entries(&store, &format!("s{writer}")).len(), 50);
    }
}

#[test]
fn many_may_be_the_first() {
    for _ in 0..20 {
        let home = Home::new();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = home.path();
                scope.spawn(move || {
                    let mut store = Store::open(&path).unwrap();
                    let id = format!("s{writer}");
                    store
                        .append(&first(&id, 1, vec![prompt("u", "go")]))
                        .unwrap();
                });
            }
        });
        assert_eq!(home.store().sessions().unwrap().len(), 8);
    }
}
