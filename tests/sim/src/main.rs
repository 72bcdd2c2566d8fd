//! Runs worlds from seeds and tells what became of them.

use agentx_sim::tape::Tape;
use agentx_sim::world::run;

fn main() {
    let count: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(100);
    let (mut steps, mut records, mut bad) = (0, 0, 0);
    let mut faults = agentx_sim::fault::FaultCounts::default();
    let mut census = Census::default();
    let t = std::time::Instant::now();
    for seed in 0..count {
        let outcome = run(Tape::of_seed(seed), &mut census);
        steps += outcome.steps;
        records += outcome.records;
        faults.add(&outcome.faults);
        if let Some(v) = outcome.violation {
            bad += 1;
            if bad < 12 {
                println!(
                    "seed {seed}: {} steps {}: {v}",
                    outcome.processes, outcome.steps
                );
            }
        }
    }
    println!("{count} {steps} {records} bad {bad} {:?}", t.elapsed());
    for (f, n) in faults.iter() {
        print!("{} {n}, ", f.as_str());
    }
    println!();
    for (w, n) in &census.0 {
        println!("{n:8} {w}");
    }
}

#[derive(Default)]
struct Census(std::collections::BTreeMap<String, u64>);
impl agentx_sim::event::Watch for Census {
    fn see(
        &mut self,
        _: agentx_core::time::Instant,
        e: &agentx_sim::event::Event<'_>,
    ) -> Result<(), agentx_sim::event::Violation> {
        use agentx_core::agent::Output;
        let word = match e {
            agentx_sim::event::Event::AgentOutput(Output::Transmit(r)) => {
                let t = String::from_utf8_lossy(r.as_bytes()).into_owned();
                let mut w: Vec<&str> = t.split('"').collect();
                w.truncate(12);
                let a = w.get(3).copied().unwrap_or("");
                let b = match a {
                    "system" | "result" => w.get(7).copied().unwrap_or("").to_string(),
                    "control_request" => {
                        if t.contains("can_use_tool") {
                            "can_use".into()
                        } else if t.contains("hook_callback") {
                            "hook".into()
                        } else {
                            "mcp".to_string()
                        }
                    }
                    "user" => {
                        if t.contains("isReplay") {
                            "replay".to_string()
                        } else {
                            "result".into()
                        }
                    }
                    "assistant" => {
                        if t.contains("tool_use\"") {
                            "tool_use".to_string()
                        } else {
                            "text".to_string()
                        }
                    }
                    _ => String::new(),
                };
                if a == "result" {
                    let e = t
                        .find("\"errors\":")
                        .map(|i| t[i..].chars().take(60).collect::<String>())
                        .unwrap_or_default();
                    let st = t
                        .find("stop_reason")
                        .map(|i| t[i..].chars().take(30).collect::<String>())
                        .unwrap_or_default();
                    format!("T {a} {b} {st} {e}")
                } else if b == "result" {
                    let i = t.find("\"content\":[").unwrap_or(0);
                    let c = t[i..]
                        .find("\"content\":\"")
                        .map(|j| t[i + j..].chars().take(60).collect::<String>())
                        .unwrap_or_default();
                    format!("T tool_result {c}")
                } else {
                    format!("T {a} {b}")
                }
            }
            agentx_sim::event::Event::AgentOutput(Output::Start(_, r)) => {
                let d = format!("{r:?}");
                format!("S {}", d.split(['(', ' ', '{']).next().unwrap())
            }
            agentx_sim::event::Event::AgentOutput(Output::Exit(s)) => format!("X {s}"),
            agentx_sim::event::Event::AgentOutput(Output::Diagnostic(d)) => {
                format!("D {}", d.text.chars().take(50).collect::<String>())
            }
            agentx_sim::event::Event::AgentInput(i) => {
                let d = format!("{i:?}");
                format!("I {}", d.split(['(', ' ', '{']).next().unwrap())
            }
            _ => return Ok(()),
        };
        *self.0.entry(word).or_default() += 1;
        Ok(())
    }
}
