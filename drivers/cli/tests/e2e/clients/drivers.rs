//! The clients of the drivers behind one trait.

use super::{Answers, Client};
use agentx_pump::host::{Agent, Call, Callbacks, Ended, Error, Prompt, RawJson, Record, wait};
use std::sync::Arc;

fn callbacks(answers: Answers) -> Callbacks {
    let mut callbacks = Callbacks::new();
    if let Some(permit) = answers.permit {
        callbacks = callbacks.can_use_tool(move |question| permit(question));
    }
    if let Some((on, hook)) = answers.hook {
        callbacks = callbacks.hook(on, move |event| hook(event));
    }
    if let Some((name, serve)) = answers.server {
        callbacks = callbacks.mcp_server(name, move |message| serve(message));
    }
    callbacks
}

/// Implements the trait by methods of the same name; `$run` waits for a future.
macro_rules! client {
    ($client:ty, $run:expr) => {
        fn initialize(&self) -> Result<RawJson, Error> {
            $run(self, self.client.initialize())
        }
        fn send(&self, prompt: Prompt) -> Result<Arc<str>, Error> {
            $run(self, self.client.send(prompt))
        }
        fn interrupt(&self) -> Result<(), Error> {
            $run(self, self.client.interrupt())
        }
        fn call(&self, call: Call) -> Result<Option<RawJson>, Error> {
            $run(self, self.client.call(call))
        }
        fn next(&self) -> Option<Result<Record, Error>> {
            $run(self, self.client.next())
        }
        fn close(&self) {
            self.client.close();
        }
        fn wait(&self) -> Ended {
            $run(self, self.client.wait())
        }
        fn end(&self) -> Ended {
            $run(self, self.client.end())
        }
        fn kill(&self) -> Ended {
            $run(self, self.client.kill())
        }
        fn id(&self) -> u32 {
            self.client.id()
        }
    };
}

/// The client of tokio.
pub(crate) struct Tokio {
    // Dropped before its runtime.
    client: agentx_tokio::host::Client,
    runtime: tokio::runtime::Runtime,
}

impl Client for Tokio {
    fn start(agent: Agent, answers: Answers) -> Result<Self, Error> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).build().unwrap();
        let _inside = runtime.enter();
        let client = agentx_tokio::host::start(agent, callbacks(answers))?;
        drop(_inside);
        Ok(Self { client, runtime })
    }

    client!(Self, |this: &Self, future| this.runtime.block_on(future));
}

/// The client of async-std.
pub(crate) struct AsyncStd {
    client: agentx_async_std::host::Client,
}

impl Client for AsyncStd {
    fn start(agent: Agent, answers: Answers) -> Result<Self, Error> {
        let client = agentx_async_std::host::start(agent, callbacks(answers))?;
        Ok(Self { client })
    }

    client!(Self, |_: &Self, future| agentx_async_std::host::block_on(
        future
    ));
}

/// The client that blocks.
pub(crate) struct Blocking {
    client: agentx_mio::host::Client,
}

impl Client for Blocking {
    fn start(agent: Agent, answers: Answers) -> Result<Self, Error> {
        let mut callbacks = agentx_mio::host::Callbacks::new();
        if let Some(permit) = answers.permit {
            callbacks = callbacks.can_use_tool(move |question| wait(permit(question)));
        }
        if let Some((on, hook)) = answers.hook {
            callbacks = callbacks.hook(on, move |event| wait(hook(event)));
        }
        if let Some((name, serve)) = answers.server {
            callbacks = callbacks.mcp_server(name, move |message| wait(serve(message)));
        }
        let client = agentx_mio::host::start(agent, callbacks)?;
        Ok(Self { client })
    }

    client!(Self, |_: &Self, value| value);
}
