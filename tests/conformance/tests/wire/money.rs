//! What a turn costs when its provider does not say, and what a budget makes of it.

use agentx_conformance::session::{Bench, brief, config, uuid};
use agentx_core::agent::{Config, Provider};
use agentx_core::agent_loop::Pricing;
use agentx_core::effect::Answer;
use agentx_core::model::{Delta, ErrorCategory, ModelFailure, ModelOutcome, StopReason, Usage};
use serde_json::{Value, json};

const USAGE: Usage = Usage {
    input_tokens: 10,
    ..Usage::ZERO
};

/// A dollar a million tokens, and `budget` in 10^-12 dollars.
fn priced(budget: Option<u128>) -> Config {
    Config {
        max_budget: budget,
        provider: Provider {
            pricing: Some(Pricing {
                input: 1_000_000,
                output: 1_000_000,
                cache_read: 0,
                cache_write: 0,
            }),
            ..config().provider
        },
        ..config()
    }
}

fn done(b: &mut Bench, outcome: ModelOutcome) {
    let (id, _) = b.model();
    b.done(id, Answer::Model(outcome));
}

fn failed(category: ErrorCategory, status: Option<u16>) -> ModelOutcome {
    ModelOutcome::Failed(ModelFailure {
        category,
        status,
        message: "no".to_string(),
    })
}

fn result(b: &mut Bench) -> Value {
    let found = b
        .records()
        .into_iter()
        .find(|record| record["type"] == "result");
    found.expect("a result")
}

fn cost(result: &Value) -> &Value {
    assert_eq!(
        result["total_cost_usd"], result["modelUsage"]["test-model"]["costUSD"],
        "{result}"
    );
    &result["total_cost_usd"]
}

// covers: WIRE-012
#[test]
fn a_turn_whose_tokens_are_not_reported_has_an_unknown_cost() {
    let text = || Delta::Text("x".to_string());
    let stop = || Delta::Stop(StopReason::EndTurn);
    let cut = || failed(ErrorCategory::ServerError, None);
    for (deltas, outcome) in [
        (vec![text(), stop()], ModelOutcome::Finished),
        (
            vec![Delta::Usage(USAGE), text(), Delta::UsageUnknown, stop()],
            ModelOutcome::Finished,
        ),
        (vec![text()], cut()),
        (vec![Delta::Usage(USAGE), text()], cut()),
        (vec![], cut()),
    ] {
        let mut b = Bench::new(priced(None));
        b.prompt(1, "go");
        deltas.into_iter().for_each(|delta| b.delta(delta));
        done(&mut b, outcome);
        assert_eq!(*cost(&result(&mut b)), Value::Null);
        // It is the cost of that prompt alone.
        b.prompt(2, "again");
        b.says("x");
        assert_eq!(*cost(&result(&mut b)), json!(0.000_015));
    }
}

// covers: WIRE-012
#[test]
fn an_interrupted_answer_has_an_unknown_cost_and_a_refused_request_none() {
    let mut b = Bench::new(priced(None));
    b.prompt(1, "go");
    b.delta(Delta::Usage(USAGE));
    b.control("c", "interrupt");
    assert_eq!(*cost(&result(&mut b)), Value::Null);
    b.prompt(2, "again");
    done(&mut b, failed(ErrorCategory::RateLimit, Some(429)));
    assert_eq!(*cost(&result(&mut b)), json!(0));
}

// covers: DEC-40, WIRE-012
#[test]
fn a_budget_counts_what_was_not_reported_by_an_estimate() {
    // The tools of the request, its prompt "go", and the answer "x".
    let tools = config().tools.iter().fold(0, |sum, tool| {
        sum + tool.name.len() + tool.description.len() + tool.input_schema.as_str().len()
    });
    let estimate = (tools + 3) as u128 * 1_000_000;
    for (budget, spent) in [(estimate, true), (estimate + 1, false)] {
        let mut b = Bench::new(priced(Some(budget)));
        b.prompt(1, "go");
        b.delta(Delta::Text("x".to_string()));
        b.delta(Delta::Stop(StopReason::EndTurn));
        done(&mut b, ModelOutcome::Finished);
        b.prompt(2, "more");
        let briefs: Vec<_> = b.records().iter().map(brief).collect();
        let ends = briefs
            .iter()
            .filter(|brief| *brief == "result error_max_budget_usd");
        assert_eq!(ends.count(), if spent { 2 } else { 0 }, "{briefs:?}");
    }
}

// covers: DEC-40
#[test]
fn a_budget_that_an_estimate_spent_says_so() {
    let mut b = Bench::new(priced(Some(1)));
    b.prompt(1, "go");
    b.delta(Delta::Text("abc".to_string()));
    done(&mut b, failed(ErrorCategory::ServerError, None));
    assert_eq!(result(&mut b)["stop_reason"], "provider_error");
    b.prompt(2, "more");
    let refused = result(&mut b);
    assert_eq!(
        (
            &refused["subtype"],
            &refused["errors"],
            &refused["prompt_uuid"]
        ),
        (
            &json!("error_max_budget_usd"),
            &json!([
                "the budget of this process is spent: by an estimate, since tokens were not reported"
            ]),
            &json!(uuid(2))
        )
    );
}
