//! The tokio driver of AgentX.
