//! What a stored session is bound to (WIRE-025).

use super::{Api, Entry, Route, ScriptSource};
use crate::http::{BaseUrl, Scheme};
use agentx_core::store::Binding;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;

/// Stands for the script of an entry that takes it from its prompts. No file
/// can have that name.
const FROM_PROMPT: &str = "";

impl Entry {
    /// What a session that this entry answers is bound to: the entry's id, type
    /// and model, and a digest of where its requests go. No key is part of it,
    /// so a new key keeps sessions (configuration, "`auth.json`").
    #[must_use]
    pub fn binding(&self) -> Binding {
        let mut digest = Sha256::new();
        for (n, part) in self.route_parts().iter().enumerate() {
            if n > 0 {
                digest.update([0]);
            }
            digest.update(part.as_bytes());
        }
        let mut route = String::with_capacity(64);
        for byte in digest.finalize() {
            // Writing to a String cannot fail.
            let _ = write!(route, "{byte:02x}");
        }
        Binding {
            provider: Arc::clone(&self.id),
            kind: self.provider_type.as_str().into(),
            model: Arc::clone(&self.model),
            route: route.into(),
        }
    }

    /// Type, URL, model, deployment, and API version or API; what an entry does
    /// not have is empty. A scripted entry has its script instead.
    fn route_parts(&self) -> Vec<String> {
        let kind = self.provider_type.as_str().to_owned();
        let model = self.model.to_string();
        let (url, deployment, api) = match &self.route {
            Route::Scripted(source) => {
                let script = match source {
                    ScriptSource::File(name) => name,
                    ScriptSource::Prompt => FROM_PROMPT,
                };
                return vec![kind, model, script.to_owned()];
            }
            Route::Openai { base, api } => {
                let api = match api {
                    Api::Responses => "responses",
                    Api::ChatCompletions => "chat_completions",
                };
                (spelled(base), String::new(), api.to_owned())
            }
            Route::Anthropic { base } => (spelled(base), String::new(), String::new()),
            Route::Azure {
                resource,
                deployment,
                api_version,
            } => (
                spelled(resource),
                deployment.to_string(),
                api_version.to_string(),
            ),
        };
        vec![kind, url, model, deployment, api]
    }
}

/// A URL as every spelling of it is written here.
fn spelled(url: &BaseUrl) -> String {
    let scheme = match url.scheme {
        Scheme::Https => "https",
        Scheme::Http => "http",
    };
    format!("{scheme}://{}:{}{}", url.host, url.port, url.path)
}
