//! The provider that a process has selected.

use crate::adapter::Adapter;
use crate::call::Call;
use crate::chat::{Chat, OutputLimit};
use crate::http::{AuthSlot, BaseUrl, HttpRequest};
use crate::limits::{DEFAULT_TOKENS, MESSAGES_TOKENS};
use crate::messages::{Messages, TokenBound};
use crate::registry::{Api, Entry, ProviderType, RegistryError, Route, ScriptSource};
use crate::scripted::Scripted;
use agentx_core::model::ModelRequest;
use agentx_core::time::WallTime;
use std::sync::Arc;

/// A selected provider, ready for requests. Holds no key.
#[derive(Debug)]
pub struct Provider {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Http(Arc<dyn Adapter>),
    Scripted(Scripted),
}

impl Provider {
    /// Makes the provider of an entry. `script` is the text of the file that
    /// [`Entry::script_file`] names, where it names one.
    ///
    /// # Errors
    ///
    /// A type or API that this build does not have, or a script that is not
    /// one; names the entry.
    pub fn build(entry: &Entry, script: Option<&str>) -> Result<Self, RegistryError> {
        let refuse =
            |what: String| RegistryError(format!("auth.json: id {:?}: {what}", &*entry.id));
        let own = entry.provider_type.as_str();
        let kind = match &entry.route {
            Route::Openai { base, api } => match api {
                Api::ChatCompletions => Kind::Http(Arc::new(chat(entry, base))),
                Api::Responses => {
                    return Err(refuse(format!(
                        "{own}.api: this build has no responses API yet"
                    )));
                }
            },
            Route::Anthropic { base } => Kind::Http(Arc::new(messages(entry, base))),
            Route::Azure => {
                return Err(refuse(format!(
                    "type: this build has no {own} provider yet"
                )));
            }
            Route::Scripted(ScriptSource::Prompt) => Kind::Scripted(Scripted::Prompt),
            Route::Scripted(ScriptSource::File(_)) => {
                let text = script
                    .ok_or_else(|| refuse("scripted.script: the file was not read".into()))?;
                let script = Scripted::from_file(text);
                Kind::Scripted(script.map_err(|fault| refuse(format!("scripted.script: {fault}")))?)
            }
        };
        Ok(Self { kind })
    }

    /// Starts a request. The machine does nothing before its first input.
    ///
    /// `seed` feeds the spread of waits between attempts. `epoch` is the wall
    /// time at [`Instant::ZERO`](agentx_core::time::Instant::ZERO), needed for
    /// a `Retry-After` that is a date. Takes `&mut self` because a script file
    /// moves on with each request.
    pub fn begin(&mut self, request: ModelRequest, seed: u64, epoch: WallTime) -> Call {
        match &mut self.kind {
            Kind::Http(adapter) => Call::over_http(Arc::clone(adapter), request, seed, epoch),
            Kind::Scripted(scripted) => Call::scripted(scripted.answer(&request)),
        }
    }
}

fn chat(entry: &Entry, base: &BaseUrl) -> Chat {
    let member = match entry.provider_type {
        ProviderType::Openai => "max_completion_tokens",
        _ => "max_tokens",
    };
    let untold_from = (!entry.limits.max_output_declared).then_some(DEFAULT_TOKENS);
    Chat::new(
        template(entry, base, "/chat/completions", BEARER),
        Arc::clone(&entry.model),
        OutputLimit {
            member,
            untold_from,
        },
    )
}

fn messages(entry: &Entry, base: &BaseUrl) -> Messages {
    let slot = AuthSlot {
        header: "x-api-key",
        prefix: "",
    };
    let mut template = template(entry, base, "/v1/messages", slot);
    let version = ("anthropic-version".to_owned(), "2023-06-01".to_owned());
    template.headers.push(version);
    let bound = if entry.limits.max_output_declared {
        TokenBound::Declared
    } else {
        TokenBound::Default {
            from: DEFAULT_TOKENS,
            told: MESSAGES_TOKENS,
        }
    };
    Messages::new(template, Arc::clone(&entry.model), bound)
}

const BEARER: AuthSlot = AuthSlot {
    header: "authorization",
    prefix: "Bearer ",
};

fn template(entry: &Entry, base: &BaseUrl, route: &str, slot: AuthSlot) -> HttpRequest {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    HttpRequest {
        method: "POST",
        scheme: base.scheme,
        host: base.host.clone(),
        port: base.port,
        path_and_query: format!("{}{route}", base.path),
        headers: vec![
            header("accept", "text/event-stream"),
            header("content-type", "application/json"),
            header("user-agent", concat!("agentx/", env!("CARGO_PKG_VERSION"))),
        ],
        auth: entry.api_key.as_ref().map(|_| slot),
        body: Arc::default(),
        ca_file: entry.ca_file.clone(),
    }
}
