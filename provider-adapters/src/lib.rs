//! Model API adapters of AgentX, without IO.
