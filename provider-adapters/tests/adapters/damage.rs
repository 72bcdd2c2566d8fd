//! Streams that are damaged in every way a few changes can: the answer ends, in
//! order, and where it was cut does not show.

use crate::streams::{Stream, corpus};
use crate::support::Hand;
use agentx_core::model::{Delta, ModelOutcome};
use agentx_laws::SplitMix64;
use agentx_providers::call::Output;
use agentx_providers::http::HttpEvent;
use std::collections::BTreeSet;

/// Damaged forms of each stream.
const FORMS: u64 = 12;

// covers: DEC-41, DEC-51
#[test]
fn damage_ends_an_answer_in_order() {
    for stream in corpus() {
        let mut provider = (stream.dialect.provider)();
        for seed in 0..FORMS {
            let body = damaged(&stream, &mut SplitMix64::new(seed));
            let whole = stream.play(&mut provider, [&*body]);
            let place = || format!("{} seed {seed}", stream.name);
            judge(&whole, &place());
            let mut hand = Hand::streaming_from(&mut provider);
            for piece in body.chunks(7) {
                hand.body(piece);
            }
            hand.http(HttpEvent::End);
            assert_eq!(hand.out, whole.out, "{}", place());
        }
    }
}

/// One end or another attempt; a stop reason exactly where the answer is whole;
/// arguments for calls that began.
fn judge(hand: &Hand, place: &str) {
    let ends = hand.out.iter().filter(|o| matches!(o, Output::Done(_)));
    let tries = hand.out.iter().filter(|o| matches!(o, Output::Warn(_)));
    assert_eq!(ends.count() + tries.count(), 1, "{place}: {:?}", hand.out);
    let whole = hand.outcome() == Some(&ModelOutcome::Finished);
    let mut calls = BTreeSet::new();
    let mut stops = 0;
    for delta in hand.deltas() {
        assert_eq!(stops, 0, "{place}: {delta:?} behind the stop");
        match delta {
            Delta::CallStart { index, .. } => {
                assert!(calls.insert(index), "{place}: call {index} twice");
            }
            Delta::CallArguments { index, .. } => {
                assert!(calls.contains(&index), "{place}: call {index} never began");
            }
            Delta::Stop(_) => stops += 1,
            _ => {}
        }
    }
    assert_eq!(stops, usize::from(whole), "{place}");
}

fn damaged(stream: &Stream, rng: &mut SplitMix64) -> Vec<u8> {
    let text = String::from_utf8_lossy(&stream.body);
    let mut events: Vec<String> = text.split_inclusive("\n\n").map(Into::into).collect();
    for _ in 0..=rng.below(3) {
        let at = rng.below(events.len());
        let other = rng.below(events.len());
        match rng.below(7) {
            0 if events.len() > 1 => drop(events.remove(at)),
            1 => events.insert(at, events[other].clone()),
            2 => events.swap(at, other),
            3 => swap_words(&mut events[at], rng),
            4 => {
                let cut = rng.below(events[at].len());
                if events[at].is_char_boundary(cut) {
                    events[at].truncate(cut);
                }
            }
            5 => events[at] = events[at].replace("\"\"", "null"),
            _ => events[at] = events[at].replacen('{', "[", rng.below(4)),
        }
    }
    let mut body = events.concat().into_bytes();
    if rng.one_in(3) && !body.is_empty() {
        let at = rng.below(body.len());
        body[at] = rng.next_u64().to_le_bytes()[0];
    }
    body
}

/// Puts one value or name where another one stood.
fn swap_words(event: &mut String, rng: &mut SplitMix64) {
    const WORDS: [&str; 12] = [
        "\"type\"",
        "\"index\"",
        "\"text\"",
        "\"delta\"",
        "\"id\"",
        "0",
        "1",
        "null",
        "{}",
        "[]",
        "\"\"",
        "true",
    ];
    let found: Vec<&str> = WORDS.into_iter().filter(|w| event.contains(w)).collect();
    let Some(from) = found.get(rng.below(found.len())) else {
        return;
    };
    *event = event.replacen(from, WORDS[rng.below(WORDS.len())], 1 + rng.below(3));
}
