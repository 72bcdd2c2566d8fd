//! `agentx --list-providers`: what there is to choose from, before any session
//! (WIRE-026). Nothing is selected, built or asked here.

use crate::compose::described;
use crate::home::Home;
use crate::options::ListFormat;
use crate::refusal::Refusal;
use crate::session;
use agentx_core::guard::Guard;
use agentx_core::schema::declare::Json as _;
use agentx_core::schema::payload::DiscoveryDocument;
use agentx_providers::registry::{Descriptor, Registry};

/// The whole text that goes to stdout, its newline included.
///
/// # Errors
///
/// Whatever is wrong with the home folder or the registry, and a key or a
/// routing value that the text would hold.
pub(crate) fn text(format: ListFormat) -> Result<String, Refusal> {
    let home = Home::open(&session::home_path()?)?;
    let (bytes, facts) = home.registry()?;
    let registry = Registry::parse(&bytes, &facts)?;
    let text = match format {
        ListFormat::Text => table(&registry.catalog()),
        ListFormat::Json => document(&registry)?,
    };
    check(&registry, &text)?;
    Ok(text)
}

fn document(registry: &Registry) -> Result<String, Refusal> {
    let providers = registry.catalog().into_iter();
    let providers = providers
        .map(|public| described(public, false))
        .collect::<Result<_, Refusal>>()?;
    let document = DiscoveryDocument::new(providers)
        .to_raw()
        .map_err(Refusal::new)?;
    Ok(format!("{}\n", document.as_str()))
}

/// A line for each provider: id, type, model, and what else is declared.
fn table(catalogue: &[Descriptor]) -> String {
    let width = |of: fn(&Descriptor) -> &str| {
        let widths = catalogue.iter().map(|entry| of(entry).chars().count());
        widths.max().unwrap_or_default()
    };
    let (ids, types) = (width(|entry| &entry.id), width(|entry| entry.provider_type));
    let lines = catalogue.iter().map(|entry| {
        let mut line = format!(
            "{:ids$}  {:types$}  {}",
            &*entry.id, entry.provider_type, &*entry.model
        );
        if entry.default {
            line.push_str("  [default]");
        }
        if let Some(default) = &entry.default_effort {
            line.push_str(&format!(
                "  [effort: {}; default {default}]",
                entry.efforts.join(", ")
            ));
        }
        line.push('\n');
        line
    });
    lines.collect()
}

/// Holds the exact text against every key and route of the registry, before a
/// byte of it is written (DEC-30).
fn check(registry: &Registry, text: &str) -> Result<(), Refusal> {
    registry.check_public(text)?;
    let routes = registry.routing_values().map(str::to_owned);
    let guard = Guard::new(registry.key_spellings().chain(routes)).map_err(Refusal::new)?;
    guard.check(text.as_bytes()).map_err(Refusal::new)
}
