//! Benchmarks of AgentX.
