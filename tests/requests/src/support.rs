//! A server on a thread, and a request to it.

use crate::Request;
use agentx_core::model::{
    Delta, Message, ModelFailure, ModelOutcome, ModelRequest, StopReason, ToolChoice,
};
use agentx_core::time::WallTime;
use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, Registry};
use agentx_pump::http1::Limits;
use agentx_pump::model::ModelRun;
use agentx_pump::pump::ModelNews;
use agentx_pump::tls::TrustStore;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// The waits between attempts follow from it; these are short.
const SEED: u64 = 244;

/// The stream of an answer that says each of `texts`.
pub(crate) fn stream<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut events = String::new();
    for text in texts {
        events += &format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    }
    events += "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    events
}

/// A whole answer of a stream.
pub(crate) fn answer(stream: &str) -> String {
    let length = stream.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{stream}"
    )
}

/// A server that takes one connection for each of `serve`, in order.
pub(crate) struct Server {
    pub(crate) port: u16,
    thread: JoinHandle<()>,
}

pub(crate) type Serve = Box<dyn FnOnce(TcpStream) + Send>;

impl Server {
    pub(crate) fn start(serve: impl IntoIterator<Item = Serve>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let serve: Vec<Serve> = serve.into_iter().collect();
        let thread = thread::spawn(move || {
            for serve in serve {
                let (socket, _) = listener.accept().unwrap();
                serve(socket);
            }
        });
        Self { port, thread }
    }

    /// A server that reads one request and answers `text` to it.
    pub(crate) fn saying(text: String) -> Self {
        Self::start([saying(text)])
    }

    /// Every connection was taken and served.
    pub(crate) fn join(self) {
        self.thread.join().unwrap();
    }
}

pub(crate) fn saying(text: String) -> Serve {
    Box::new(move |mut socket| {
        read_request(&mut socket);
        socket.write_all(text.as_bytes()).unwrap();
    })
}

/// Reads one whole request.
pub(crate) fn read_request(socket: &mut impl Read) -> String {
    let mut request = Vec::new();
    loop {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        request.push(byte[0]);
        if request.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    let head = String::from_utf8(request).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    socket.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

/// All that came of a request.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// Bytes of the longest delta of text.
    pub(crate) longest: usize,
    pub(crate) stop: Option<StopReason>,
    pub(crate) warnings: Vec<String>,
    pub(crate) end: Option<ModelOutcome>,
}

impl Told {
    #[track_caller]
    pub(crate) fn finished(&self, text: &str) {
        assert_eq!(self.end, Some(ModelOutcome::Finished), "{self:?}");
        assert_eq!(self.stop, Some(StopReason::EndTurn));
        assert_eq!(self.text, text);
    }

    #[track_caller]
    pub(crate) fn failure(&self) -> &ModelFailure {
        match &self.end {
            Some(ModelOutcome::Failed(failure)) => failure,
            other => panic!("{other:?}"),
        }
    }
}

/// Asks the model at `base_url` for an answer to `prompt`.
pub(crate) fn ask(request: Request, base_url: &str, ca_file: Option<&Path>, prompt: &str) -> Told {
    let ca_file = ca_file.map_or_else(String::new, |path| {
        format!(r#""ca_file":"{}","#, path.display())
    });
    let text = format!(
        r#"{{"version":2,"providers":[{{"id":"p",{ca_file}"type":"openai_compatible",
        "openai_compatible":{{"base_url":"{base_url}","model":"m","api_key":"sk-test-0123456789",
        "api":"chat_completions"}}}}]}}"#
    );
    let registry = Registry::parse(text.as_bytes(), &FileFacts::PRIVATE).unwrap();
    let key = registry.credentials().next().cloned();
    let mut provider = Provider::build(registry.select(None).unwrap(), None).unwrap();
    let asked = ModelRequest {
        system: None,
        history: vec![Arc::new(Message::User(vec![prompt.to_owned()]))],
        prompt: 0,
        round: 0,
        tools: [].into(),
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 64,
        effort: None,
    };
    let call = provider.begin(asked, SEED, WallTime(0));
    let run = ModelRun::new(call, key, Limits::DEFAULT);
    let mut told = Told::default();
    request(run, Arc::new(TrustStore::new()), &mut |news| {
        assert!(told.end.is_none(), "{news:?} after the end");
        match news {
            ModelNews::Delta(Delta::Text(text)) => {
                told.longest = told.longest.max(text.len());
                told.text += &text;
            }
            ModelNews::Delta(Delta::Stop(reason)) => told.stop = Some(reason),
            ModelNews::Delta(delta) => panic!("{delta:?}"),
            ModelNews::Warn(line) => told.warnings.push(line),
            ModelNews::Done(outcome) => told.end = Some(outcome),
        }
    })
    .unwrap();
    told
}

/// [`ask`] in plain text on this machine.
pub(crate) fn ask_port(request: Request, port: u16, prompt: &str) -> Told {
    ask(
        request,
        &format!("http://127.0.0.1:{port}/v1"),
        None,
        prompt,
    )
}
