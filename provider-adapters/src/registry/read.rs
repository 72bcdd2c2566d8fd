//! From the bytes of `auth.json` to entries.

use super::{
    Api, Entry, Pricing, ProviderType, RegistryError, Route, Routing, ScriptSource, Secret,
    TokenLimits,
};
use super::{pricing, rules};
use crate::http::{BaseUrl, azure};
use crate::limits::{
    API_VERSION_BYTES, DECLARED_TOKENS, DEFAULT_TOKENS, FILE_NAME_BYTES, NAME_BYTES, PATH_BYTES,
    REGISTRY_BYTES, REGISTRY_ENTRIES, URL_BYTES,
};
use agentx_core::json::closed::{self, Fault, Fields};
use agentx_core::json::{ScanLimits, Scanner, Value};
use std::sync::Arc;

/// Efforts that can be declared.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Bytes of an id that a fault shows; no vendor's key is that short.
const SHOWN_ID_BYTES: usize = 24;

const OPENAI_BASE: &str = "https://api.openai.com/v1";

/// Without the version path, as every `base_url` of this type.
const ANTHROPIC_BASE: &str = "https://api.anthropic.com";

pub(super) fn entries(bytes: &[u8]) -> Result<Vec<Entry>, RegistryError> {
    let refuse = |fault: &dyn std::fmt::Display| RegistryError(format!("auth.json: {fault}"));
    if bytes.len() > REGISTRY_BYTES {
        return Err(refuse(&format_args!("over {REGISTRY_BYTES} bytes")));
    }
    let mut scanner = Scanner::new();
    let root = scanner
        .scan(bytes, &ScanLimits::DEFAULT)
        .map_err(|error| refuse(&error))?;
    read_root(root).map_err(|fault| refuse(&fault))
}

fn read_root(root: Value<'_>) -> Result<Vec<Entry>, Fault> {
    if root.has_unpaired_surrogate() {
        return Err(Fault::new("", "an unpaired surrogate escape"));
    }
    let fields = Fields::open(root, String::new(), &["version", "providers"])?;
    if fields.need("version")?.as_number() != Some("2") {
        return Err(fields.fault("version", "the number 2 is expected"));
    }
    fields.need("providers")?;
    let items = fields.array("providers")?;
    if items.is_empty() || items.len() > REGISTRY_ENTRIES {
        return Err(fields.fault(
            "providers",
            format_args!("1 to {REGISTRY_ENTRIES} entries are expected"),
        ));
    }
    let mut entries: Vec<Entry> = Vec::with_capacity(items.len());
    for (value, place) in items {
        let entry = read_entry(value, &place)?;
        if entries.iter().any(|other| other.id == entry.id) {
            return Err(Fault::new(
                &format!("{place}.id"),
                "another entry has the same id",
            ));
        }
        if entry.default && entries.iter().any(|other| other.default) {
            return Err(Fault::new(
                &format!("{place}.default"),
                "another entry is the default",
            ));
        }
        entries.push(entry);
    }
    if let [only] = entries.as_mut_slice() {
        only.default = true;
    }
    Ok(entries)
}

fn read_entry(value: Value<'_>, place: &str) -> Result<Entry, Fault> {
    let object = value
        .as_object()
        .ok_or_else(|| Fault::new(place, "an object is expected"))?;
    let member = |name: &str| format!("{place}.{name}");
    let need = |name: &str| {
        let value = object
            .get(name)
            .ok_or_else(|| Fault::new(&member(name), "missing"))?;
        closed::text(value, &member(name))
    };
    let id = need("id")?;
    rules::check_id(&id).map_err(|what| Fault::new(&member("id"), what))?;
    // A key in the place of the id may be as long as this, and is not shown.
    let place = if id.len() <= SHOWN_ID_BYTES {
        format!("{place} (id {id:?})")
    } else {
        place.to_owned()
    };
    let word = need("type")?;
    let known = ProviderType::ALL
        .into_iter()
        .find(|kind| kind.as_str() == word);
    let provider_type = known.ok_or_else(|| {
        let words = ProviderType::ALL.map(ProviderType::as_str).join(", ");
        Fault::new(
            &format!("{place}: type"),
            format_args!("expected one of {words}"),
        )
    })?;
    let own = provider_type.as_str();
    let members = [
        "id",
        "type",
        "default",
        "capabilities",
        "ca_file",
        "media",
        "pricing",
        "limits",
        own,
    ];
    let fields = Fields::open(value, place, &members)?;
    fields.need(own)?;
    let (efforts, default_effort) = read_efforts(&fields)?;
    let target = read_target(&fields, provider_type)?;
    Ok(Entry {
        id: id.into(),
        provider_type,
        model: target.model.into(),
        efforts,
        default_effort,
        default: fields.flag("default")?,
        media: fields.flag("media")?,
        pricing: read_pricing(&fields)?,
        limits: read_limits(&fields)?,
        ca_file: read_ca_file(&fields)?,
        api_key: target.key,
        route: target.route,
        routing: target.routing,
    })
}

type Efforts = (Vec<Arc<str>>, Option<Arc<str>>);

fn read_efforts(fields: &Fields<'_>) -> Result<Efforts, Fault> {
    let Some(capabilities) = fields.object("capabilities", &["reasoning"])? else {
        return Ok((Vec::new(), None));
    };
    capabilities.need("reasoning")?;
    let Some(reasoning) = capabilities.object("reasoning", &["efforts", "default_effort"])? else {
        return Ok((Vec::new(), None));
    };
    reasoning.need("efforts")?;
    let mut efforts: Vec<Arc<str>> = Vec::new();
    for (value, place) in reasoning.array("efforts")? {
        let word = closed::text(value, &place)?;
        if !EFFORTS.contains(&word.as_str()) {
            return Err(Fault::new(
                &place,
                format_args!("expected one of {}", EFFORTS.join(", ")),
            ));
        }
        if efforts.iter().any(|known| **known == *word) {
            return Err(Fault::new(&place, "the same effort twice"));
        }
        efforts.push(word.into());
    }
    let default = reasoning.text("default_effort")?;
    match (default, efforts.is_empty()) {
        (None, true) => Ok((efforts, None)),
        (Some(word), false) if efforts.iter().any(|known| **known == *word) => {
            Ok((efforts, Some(word.into())))
        }
        (None, false) => Err(reasoning.fault("default_effort", "missing")),
        (Some(_), _) => Err(reasoning.fault("default_effort", "must be one of the efforts")),
    }
}

fn read_pricing(fields: &Fields<'_>) -> Result<Option<Pricing>, Fault> {
    const MEMBERS: [&str; 4] = [
        "input_per_mtok",
        "output_per_mtok",
        "cache_read_per_mtok",
        "cache_write_per_mtok",
    ];
    let Some(prices) = fields.object("pricing", &MEMBERS)? else {
        return Ok(None);
    };
    let optional = |name| {
        let value = prices.get(name);
        let price = value.map(|value| match value.as_number() {
            Some(number) => pricing::per_token(number).map_err(|what| prices.fault(name, what)),
            None => Err(prices.fault(name, "a number is expected")),
        });
        price.transpose()
    };
    let need = |name| optional(name)?.ok_or_else(|| prices.fault(name, "missing"));
    let input = need("input_per_mtok")?;
    Ok(Some(Pricing {
        input,
        output: need("output_per_mtok")?,
        cache_read: optional("cache_read_per_mtok")?.unwrap_or(input),
        cache_write: optional("cache_write_per_mtok")?.unwrap_or(input),
    }))
}

fn read_limits(fields: &Fields<'_>) -> Result<TokenLimits, Fault> {
    let limits = fields.object("limits", &["context_window", "max_output_tokens"])?;
    let read = |name| {
        let tokens = limits
            .as_ref()
            .map(|limits| limits.whole(name))
            .transpose()?
            .flatten();
        match (&limits, tokens) {
            (Some(limits), Some(tokens)) if !(1..=DECLARED_TOKENS).contains(&tokens) => {
                Err(limits.fault(name, format_args!("expected 1 to {DECLARED_TOKENS}")))
            }
            _ => Ok(tokens),
        }
    };
    let max_output = read("max_output_tokens")?;
    Ok(TokenLimits {
        context_window: read("context_window")?.unwrap_or(DEFAULT_TOKENS),
        max_output_tokens: max_output.unwrap_or(DEFAULT_TOKENS),
        max_output_declared: max_output.is_some(),
    })
}

fn read_ca_file(fields: &Fields<'_>) -> Result<Option<String>, Fault> {
    let Some(path) = fields.text("ca_file")? else {
        return Ok(None);
    };
    rules::check_name(&path, PATH_BYTES).map_err(|what| fields.fault("ca_file", what))?;
    if !path.starts_with('/') {
        return Err(fields.fault("ca_file", "an absolute path is expected"));
    }
    Ok(Some(path))
}

/// What stands in the type's own object.
struct Target {
    model: String,
    key: Option<Secret>,
    route: Route,
    routing: Vec<Routing>,
}

fn read_target(fields: &Fields<'_>, provider_type: ProviderType) -> Result<Target, Fault> {
    let members: &[&str] = match provider_type {
        ProviderType::AzureOpenai => &["endpoint", "model", "deployment", "api_key", "api_version"],
        ProviderType::Openai | ProviderType::OpenaiCompatible => {
            &["base_url", "model", "api_key", "api"]
        }
        ProviderType::Anthropic => &["base_url", "model", "api_key"],
        ProviderType::Scripted => &["model", "script", "from_prompt"],
    };
    let name = provider_type.as_str();
    let Some(own) = fields.object(name, members)? else {
        return Err(fields.fault(name, "missing"));
    };
    let mut routing = Vec::new();
    let route = match provider_type {
        ProviderType::AzureOpenai => {
            let endpoint = read_url(&own, "endpoint", true, &mut routing)?
                .ok_or_else(|| own.fault("endpoint", "missing"))?;
            let deployment = checked(&own, "deployment", |text| {
                rules::check_name(text, NAME_BYTES)
            })?;
            let version = checked(&own, "api_version", |text| {
                rules::check_text(text, API_VERSION_BYTES)
            })?;
            let route = Route::Azure {
                resource: azure::resource(endpoint),
                deployment: deployment.as_str().into(),
                api_version: version.as_str().into(),
            };
            for (member, value) in [("deployment", deployment), ("api_version", version)] {
                routing.push(Routing { member, value });
            }
            route
        }
        ProviderType::Openai | ProviderType::OpenaiCompatible => {
            let required = provider_type == ProviderType::OpenaiCompatible;
            let base = match read_url(&own, "base_url", required, &mut routing)? {
                Some(base) => base,
                None => {
                    BaseUrl::parse(OPENAI_BASE).map_err(|fault| own.fault("base_url", fault))?
                }
            };
            Route::Openai {
                base,
                api: read_api(&own)?,
            }
        }
        ProviderType::Anthropic => {
            let base = read_url(&own, "base_url", false, &mut routing)?;
            let base = base.map_or_else(|| BaseUrl::parse(ANTHROPIC_BASE), Ok);
            Route::Anthropic {
                base: base.map_err(|fault| own.fault("base_url", fault))?,
            }
        }
        ProviderType::Scripted => Route::Scripted(read_script(&own)?),
    };
    Ok(Target {
        model: checked(&own, "model", |text| rules::check_name(text, NAME_BYTES))?,
        key: read_key(&own, provider_type)?,
        route,
        routing,
    })
}

fn checked(
    own: &Fields<'_>,
    name: &str,
    check: impl FnOnce(&str) -> Result<(), String>,
) -> Result<String, Fault> {
    let text = own.need_text(name)?;
    check(&text).map_err(|what| own.fault(name, what))?;
    Ok(text)
}

fn read_key(own: &Fields<'_>, provider_type: ProviderType) -> Result<Option<Secret>, Fault> {
    let optional = match provider_type {
        ProviderType::Scripted => return Ok(None),
        ProviderType::OpenaiCompatible => true,
        ProviderType::AzureOpenai | ProviderType::Openai | ProviderType::Anthropic => false,
    };
    if optional && own.get("api_key").is_none() {
        return Ok(None);
    }
    let key = checked(own, "api_key", rules::check_key)?;
    Ok(Some(Secret::new(&key)))
}

fn read_url(
    own: &Fields<'_>,
    member: &'static str,
    required: bool,
    routing: &mut Vec<Routing>,
) -> Result<Option<BaseUrl>, Fault> {
    if !required && own.get(member).is_none() {
        return Ok(None);
    }
    let value = checked(own, member, |text| rules::check_name(text, URL_BYTES))?;
    let url = BaseUrl::parse(&value).map_err(|fault| own.fault(member, fault))?;
    // Servers tell their place with or without a slash at its end.
    let value = value.trim_end_matches('/').to_owned();
    routing.push(Routing { member, value });
    Ok(Some(url))
}

fn read_api(own: &Fields<'_>) -> Result<Api, Fault> {
    match own.need_text("api")?.as_str() {
        "responses" => Ok(Api::Responses),
        "chat_completions" => Ok(Api::ChatCompletions),
        _ => Err(own.fault("api", "expected responses or chat_completions")),
    }
}

fn read_script(own: &Fields<'_>) -> Result<ScriptSource, Fault> {
    let from_prompt = own.flag("from_prompt")?;
    match own.text("script")? {
        Some(name) if own.get("from_prompt").is_none() => {
            rules::check_file_name(&name, FILE_NAME_BYTES)
                .map_err(|what| own.fault("script", what))?;
            Ok(ScriptSource::File(name))
        }
        None if from_prompt => Ok(ScriptSource::Prompt),
        _ => Err(own.own_fault("expected either script, or from_prompt: true")),
    }
}
