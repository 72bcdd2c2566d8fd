//! The host clients of the three drivers: the same tests for each of them.

mod drivers;
mod endings;
mod examples;
mod faults;
mod turns;

use crate::support::{DUPLEX, World};
use agentx_pump::host::{
    Agent, BoxFuture, Call, CanUseTool, Decision, Ended, Error, Failure, HookCallback, HookOn,
    McpMessage, Prompt, RawJson, Record,
};
use std::sync::Arc;

/// A callback in a form that suits every driver.
type Callback<Q, A> = Arc<dyn Fn(Q) -> BoxFuture<Result<A, Failure>> + Send + Sync>;

/// What the host of a test answers.
#[derive(Clone, Default)]
struct Answers {
    permit: Option<Callback<CanUseTool, Decision>>,
    hook: Option<(HookOn, Callback<HookCallback, RawJson>)>,
    server: Option<(&'static str, Callback<McpMessage, Option<RawJson>>)>,
}

impl Answers {
    /// Decides so about every call.
    fn deciding<A>(decide: impl Fn(CanUseTool) -> A + Send + Sync + 'static) -> Self
    where
        A: Future<Output = Result<Decision, Failure>> + Send + 'static,
    {
        Self {
            permit: Some(callback(decide)),
            ..Self::default()
        }
    }
}

fn callback<Q, A, R>(callback: impl Fn(Q) -> A + Send + Sync + 'static) -> Callback<Q, R>
where
    A: Future<Output = Result<R, Failure>> + Send + 'static,
{
    Arc::new(move |question| Box::pin(callback(question)))
}

/// The client of a driver, as one that blocks.
trait Client: Sized {
    fn start(agent: Agent, answers: Answers) -> Result<Self, Error>;
    fn initialize(&self) -> Result<RawJson, Error>;
    fn send(&self, prompt: Prompt) -> Result<Arc<str>, Error>;
    fn interrupt(&self) -> Result<(), Error>;
    fn call(&self, call: Call) -> Result<Option<RawJson>, Error>;
    fn next(&self) -> Option<Result<Record, Error>>;
    fn close(&self);
    fn wait(&self) -> Ended;
    fn end(&self) -> Ended;
    fn kill(&self) -> Ended;
    fn id(&self) -> u32;

    fn prompt(&self, text: &str) -> Arc<str> {
        self.send(Prompt::text(text)).unwrap()
    }

    /// The text of the result of this prompt, or its errors.
    fn result(&self, prompt: &str) -> String {
        let (_, result) = self.records_until_result(prompt);
        result
    }

    /// The records up to the result of this prompt, and what it says.
    fn records_until_result(&self, prompt: &str) -> (Vec<Record>, String) {
        use agentx_core::schema::outbound::ResultRecord;
        let mut seen = Vec::new();
        loop {
            let record = self.next().expect("the agent ended").unwrap();
            if let Some(result) = record.result_of(prompt) {
                let said = match result {
                    ResultRecord::Success(result) => result.result.clone(),
                    ResultRecord::Error(result) => result.errors.join("\n"),
                };
                return (seen, said);
            }
            seen.push(record);
        }
    }
}

/// Instantiates tests, each a function of one client, for every driver.
macro_rules! for_each_driver {
    ($(#[test] fn $name:ident();)+) => {
        for_each_driver!(@ on_tokio Tokio $($name,)+);
        for_each_driver!(@ on_async_std AsyncStd $($name,)+);
        for_each_driver!(@ blocking Blocking $($name,)+);
    };
    (@ $module:ident $client:ident $($name:ident,)+) => {
        mod $module {
            $(
                #[test]
                fn $name() {
                    super::$name::<crate::clients::drivers::$client>();
                }
            )+
        }
    };
}
use for_each_driver;

/// The binary in this world, with these options beside those of a session over
/// pipes.
fn agent(world: &World, options: &[&str]) -> Agent {
    Agent::new(env!("CARGO_BIN_EXE_agentx"))
        .args(DUPLEX)
        .args(options)
        .env_clear()
        .env("AGENTX_HOME", world.home())
        .env("TMPDIR", world.temporary())
        .cwd(world.work())
}

/// A program of the shell in place of an agent.
fn shell(script: &str) -> Agent {
    Agent::new("/bin/sh").args(["-c", script])
}

fn json(value: &serde_json::Value) -> RawJson {
    RawJson::parse(&value.to_string()).unwrap()
}

fn value(json: &RawJson) -> serde_json::Value {
    serde_json::from_str(json.as_str()).unwrap()
}
