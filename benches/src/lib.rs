//! Benchmarks of AgentX beside what a careful user would write without it.
//!
//! Everything is measured in CPU time, of one thread or, for drivers, of all,
//! since wall time says little on a shared machine. `cargo bench -p
//! agentx-benches` has the details of each job; the binaries `ratios` and
//! `drivers` play the jobs in turns and print what `docs/performance.md` records.

pub mod base;
pub mod corpus;
pub mod cpu;
pub mod decode;
pub mod drivers;
pub mod encode;
pub mod output;
pub mod plain;
