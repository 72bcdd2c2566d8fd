//! Payloads of successful control answers, and the discovery document.

mod catalog;
mod context;
mod files;
mod settings;
#[cfg(test)]
mod tests;

pub use catalog::{
    Account, AgentDescriptor, Command, DiscoveryDocument, Effort, InitializeApplied,
    InitializePayload, InitializeSession, ModelDescriptor, NotOneSelected, ProviderDescriptor,
    ProviderIdentity,
};
pub use context::{
    ContextCategory, ContextUsagePayload, GRID_COLUMNS, GRID_ROWS, GridSquare, McpServerStatus,
    McpServersPayload, McpStatusPayload, McpToolUsage,
};
pub use files::RewindFilesPayload;
pub use settings::{
    AppliedSettings, CancelledPayload, Layer, ModePayload, ReloadPluginsPayload, SettingsPayload,
    SettingsSource,
};
