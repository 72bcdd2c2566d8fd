//! Blocking, cancellable tool bodies of AgentX.
