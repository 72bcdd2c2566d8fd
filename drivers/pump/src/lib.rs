//! The runtime-free half of every AgentX driver.
