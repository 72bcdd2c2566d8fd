//! Tests of `AgentX`.
