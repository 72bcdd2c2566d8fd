//! Both ends of the wire, with a pipe each way that cuts where it likes.

use super::HostBench;
use crate::session::Bench;
use agentx_core::agent;
use agentx_core::host::{Config, Input};
use agentx_laws::SplitMix64;

/// An agent and a host. What one writes the other reads in pieces of odd sizes.
pub struct Pair {
    /// The agent.
    pub agent: Bench,
    /// The host.
    pub host: HostBench,
    to_host: usize,
    to_agent: usize,
    ended: bool,
    cuts: SplitMix64,
}

impl Pair {
    /// Both at time zero; `seed` chooses the cuts.
    #[must_use]
    pub fn new(agent: agent::Config, host: Config, seed: u64) -> Self {
        Self {
            agent: Bench::with_init(agent),
            host: HostBench::with(host),
            to_host: 0,
            to_agent: 0,
            ended: false,
            cuts: SplitMix64::new(seed),
        }
    }

    /// Lets both talk until neither has more to say.
    pub fn run(&mut self) {
        while self.host_reads() | self.agent_reads() {}
    }

    fn piece(&mut self, left: usize) -> usize {
        (1 + self.cuts.below(97)).min(left)
    }

    fn host_reads(&mut self) -> bool {
        let left = self.agent.bytes.len() - self.to_host;
        if self.host.exit.is_some() {
            return false;
        }
        if left > 0 {
            let piece = self.piece(left);
            let bytes = self.agent.bytes[self.to_host..self.to_host + piece].to_vec();
            self.to_host += piece;
            self.host.feed(Input::Bytes(&bytes));
            return true;
        }
        let ends = self.agent.exit.is_some();
        if ends {
            self.host.feed(Input::Eof);
        }
        ends
    }

    fn agent_reads(&mut self) -> bool {
        let left = self.host.bytes.len() - self.to_agent;
        if self.agent.exit.is_some() || self.ended {
            return false;
        }
        if left > 0 {
            let piece = self.piece(left);
            let bytes = self.host.bytes[self.to_agent..self.to_agent + piece].to_vec();
            self.to_agent += piece;
            self.agent.feed(agent::Input::Bytes(&bytes));
            return true;
        }
        self.ended = self.host.closed;
        if self.ended {
            self.agent.eof();
        }
        self.ended
    }
}
