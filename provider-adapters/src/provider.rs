//! The provider that a process has selected.

use crate::adapter::Adapter;
use crate::body::OutputLimit;
use crate::call::Call;
use crate::chat::Chat;
use crate::http::{AuthSlot, BaseUrl, HttpRequest, azure};
use crate::limits::{DEFAULT_TOKENS, MESSAGES_TOKENS};
use crate::messages::{Messages, TokenBound};
use crate::registry::{Api, Entry, ProviderType, RegistryError, Route, ScriptSource};
use crate::responses::Responses;
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
    /// A script that is not one; names the entry.
    pub fn build(entry: &Entry, script: Option<&str>) -> Result<Self, RegistryError> {
        let refuse =
            |what: String| RegistryError(format!("auth.json: id {:?}: {what}", &*entry.id));
        let kind = match &entry.route {
            Route::Openai { base, api } => match api {
                Api::ChatCompletions => Kind::Http(Arc::new(chat(entry, base))),
                Api::Responses => Kind::Http(Arc::new(responses(entry, base))),
            },
            Route::Azure {
                resource,
                deployment,
                api_version,
            } => {
                let target = azure::responses(resource, api_version);
                let template = HttpRequest {
                    auth: key_slot(entry, AZURE_AUTH),
                    ..template(entry, resource, target)
                };
                let model = Arc::clone(deployment);
                Kind::Http(Arc::new(Responses::new(
                    template,
                    model,
                    untold_from(entry),
                )))
            }
            Route::Anthropic { base } => Kind::Http(Arc::new(messages(entry, base))),
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

/// Where the `OpenAI` dialects carry the key.
const BEARER: AuthSlot = AuthSlot {
    header: "authorization",
    prefix: "Bearer ",
};

/// Where Azure does.
const ANTHROPIC_AUTH: AuthSlot = AuthSlot {
    header: "x-api-key",
    prefix: "",
};

const AZURE_AUTH: AuthSlot = AuthSlot {
    header: "api-key",
    prefix: "",
};

fn chat(entry: &Entry, base: &BaseUrl) -> Chat {
    let member = match entry.provider_type {
        ProviderType::Openai => "max_completion_tokens",
        _ => "max_tokens",
    };
    Chat::new(
        template(entry, base, format!("{}/chat/completions", base.path)),
        Arc::clone(&entry.model),
        OutputLimit {
            member,
            untold_from: untold_from(entry),
        },
    )
}

fn responses(entry: &Entry, base: &BaseUrl) -> Responses {
    Responses::new(
        template(entry, base, format!("{}/responses", base.path)),
        Arc::clone(&entry.model),
        untold_from(entry),
    )
}

fn messages(entry: &Entry, base: &BaseUrl) -> Messages {
    let template = template(entry, base, format!("{}/v1/messages", base.path));
    let mut template = HttpRequest {
        auth: key_slot(entry, ANTHROPIC_AUTH),
        ..template
    };
    let version = ("anthropic-version".to_owned(), "2023-06-01".to_owned());
    template.headers.push(version);
    let bound = untold_from(entry).map_or(TokenBound::Declared, |from| TokenBound::Default {
        from,
        told: MESSAGES_TOKENS,
    });
    Messages::new(template, Arc::clone(&entry.model), bound)
}

fn untold_from(entry: &Entry) -> Option<u64> {
    (!entry.limits.max_output_declared).then_some(DEFAULT_TOKENS)
}

/// The slot for the key, if the entry has one.
fn key_slot(entry: &Entry, slot: AuthSlot) -> Option<AuthSlot> {
    entry.api_key.as_ref().map(|_| slot)
}

fn template(entry: &Entry, place: &BaseUrl, path_and_query: String) -> HttpRequest {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    HttpRequest {
        method: "POST",
        scheme: place.scheme,
        host: place.host.clone(),
        port: place.port,
        path_and_query,
        headers: vec![
            header("accept", "text/event-stream"),
            header("content-type", "application/json"),
            header("user-agent", concat!("agentx/", env!("CARGO_PKG_VERSION"))),
        ],
        auth: key_slot(entry, BEARER),
        body: Arc::default(),
        ca_file: entry.ca_file.clone(),
    }
}
