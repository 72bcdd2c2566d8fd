//! What the store holds.

use super::Stage;
use super::config;
use super::model_request;
use super::uuid;
use crate::event::Event;
use crate::kit::kit;
use agentx_core::agent::Config;
use agentx_core::effect::Answer;
use agentx_core::effect::Request;
use agentx_core::effect::Verdict;
use agentx_core::model::Message;
use agentx_core::model::ModelOutcome;
use agentx_core::store::Batch;
use agentx_core::store::Beginning;
use agentx_core::store::Entry;
use agentx_core::store::PromptEntry;
use agentx_core::store::Storing;
use agentx_core::store::TurnEntry;
use agentx_core::time::WallTime;
use std::sync::Arc;

fn stored() -> Config {
    Config {
        store: Some(Storing {
            binding: kit().binding.clone(),
            epoch: WallTime(1),
            beginning: Beginning::New,
        }),
        ..config()
    }
}

fn batch(first: u64, entries: Vec<Entry>) -> Request {
    Request::Store(Batch {
        session_id: "s".into(),
        first,
        opening: None,
        entries: entries.into(),
        time: WallTime(1),
    })
}

fn prompt_entry() -> Entry {
    Entry::Prompt(PromptEntry {
        time_ms: 1,
        uuid: uuid(1).into(),
        content: vec!["go".to_string()],
    })
}

fn turn_entry() -> Entry {
    Entry::Turn(TurnEntry {
        time_ms: 1,
        prompt_uuid: uuid(1).into(),
        stop_reason: agentx_core::schema::outbound::ResultStop::EndTurn,
        is_error: false,
        num_turns: 1,
        usage: agentx_core::model::Usage::ZERO,
        dropped_calls: Vec::new(),
    })
}

// covers: DEC-32
#[test]
fn promises_that_the_store_does_not_hold_are_seen() {
    let told = |play: fn(&mut Stage)| {
        let mut stage = Stage::with(stored());
        stage.prompt(1, "next").running();
        play(&mut stage);
        (stage.verdict(), stage.told())
    };
    fn kept(stage: &mut Stage, id: u64, first: u64, entry: Entry) {
        stage.starts(id, batch(first, vec![entry.clone()]));
        stage.see(&Event::Stored(&[entry]));
        stage.ends(id, Answer::Stored(Verdict::Passed));
    }
    assert_eq!(
        told(|s| {
            s.starts(1, model_request());
        })
        .0,
        Err("DEC-32")
    );
    let sound: fn(&mut Stage) = |s| {
        kept(s, 1, 0, prompt_entry());
        s.starts(2, model_request())
            .ends(2, Answer::Model(ModelOutcome::Finished));
        kept(s, 3, 1, turn_entry());
        s.success(1).idle();
        s.see(&Event::Crashed { kept: 2 });
    };
    assert_eq!(told(sound), (Ok(()), String::new()));
    let early: fn(&mut Stage) = |s| {
        kept(s, 1, 0, prompt_entry());
        s.success(1);
    };
    assert_eq!(told(early).0, Err("DEC-32"));
    let gap: fn(&mut Stage) = |s| kept(s, 1, 1, prompt_entry());
    assert_eq!(told(gap).0, Err("DEC-32"));
    let lost: fn(&mut Stage) = |s| {
        kept(s, 1, 0, prompt_entry());
        s.see(&Event::Crashed { kept: 0 });
    };
    assert_eq!(told(lost).0, Err("DEC-32"));
    let unseen: fn(&mut Stage) = |s| {
        s.runs(1, "t", "{}");
    };
    assert!(told(unseen).0.is_err());
}

// covers: DEC-32, DEC-44
#[test]
fn what_was_stored_and_is_not_read_back_or_runs_again_is_seen() {
    let resumed = || {
        let mut stage = Stage::with(stored());
        stage.see(&Event::Stored(&[prompt_entry(), turn_entry()]));
        stage.see(&Event::Crashed { kept: 2 });
        if let Some(storing) = &mut stage.config.store {
            storing.beginning = Beginning::Resumed(2);
        }
        stage.begin();
        stage
    };
    let said = |text: &str| Arc::new(Message::User(vec![text.to_string()]));
    let asks = |history| {
        let mut stage = resumed();
        stage.starts(1, super::model_request_of(history));
        stage.verdict()
    };
    assert_eq!(asks(vec![said("go"), said("on")]), Ok(()));
    assert_eq!(asks(vec![said("on")]), Err("DEC-32"));
    let mut stage = resumed();
    stage.prompt(1, "next").running().cancelled(1);
    assert_eq!(stage.verdict(), Err("DEC-44"), "it ran before");
}
