//! The simulator: an agent, a host, the pipes between them and the world around
//! both, in virtual time. A tape of bytes supplies every choice, so a run is a
//! pure function of its tape, and a tape that fails is a test.
//!
//! | module | what |
//! |---|---|
//! | [`tape`] | where choices come from: a seed, given bytes, or all of them one after another |
//! | [`fault`] | what can go wrong, and which of it a run allows |
//! | [`oracle`] | what a world is judged by |
//! | [`shrink`] | makes a failing tape small |
//! | [`situation`] | what tapes are kept of |
//! | [`text`] | tapes as text |
//! | [`trace`] | what happened, as text and as a hash |
//! | [`event`] | what happens in a world, and who watches it |
//! | [`plan`], [`kit`] | how a run is set up, and what all runs share |
//! | [`world`] | agent, host, pipes, and everything around them |
//! | [`small`] | a world that is small enough to be seen whole |
//! | [`judge`] | a run under all oracles |
//! | [`runner`] | many runs, and what they come to together |
//! | [`mod@bench`] | how fast runs are |
//! | `planted` | the hunt for faults that are put in on purpose, under `--cfg agentx_planted` |

pub mod bench;
pub mod event;
pub mod fault;
pub mod judge;
pub mod kit;
pub mod oracle;
pub mod pipe;
pub mod plan;
#[cfg(agentx_planted)]
pub mod planted;
pub mod runner;
pub mod shrink;
pub mod situation;
pub mod small;
pub mod tape;
pub mod text;
pub mod trace;
pub mod world;
