//! Operations on files, played by the test.

use super::Bench;
use agentx_core::checkpoint::{RewindReport, RewindRequest, SeedRequest, Seeding};
use agentx_core::effect::{Answer, EffectId, Request};

impl Bench {
    /// The oldest operation that puts files back.
    #[must_use]
    pub fn rewinding(&self) -> Option<(EffectId, &RewindRequest)> {
        self.open.iter().find_map(|(id, request)| match request {
            Request::Rewind(request) => Some((*id, &**request)),
            _ => None,
        })
    }

    /// That operation ends.
    pub fn rewinds(&mut self, rewound: Result<RewindReport, String>) {
        let id = self.rewinding().map(|(id, _)| id);
        self.tell("files: put back".to_string());
        self.done(id.expect("files are put back"), Answer::Rewound(rewound));
    }

    /// The oldest file that is looked at.
    #[must_use]
    pub fn seeding(&self) -> Option<(EffectId, &SeedRequest)> {
        self.open.iter().find_map(|(id, request)| match request {
            Request::Seed(request) => Some((*id, &**request)),
            _ => None,
        })
    }

    /// It was looked at.
    pub fn seeds(&mut self, seeding: Seeding) {
        let id = self.seeding().map(|(id, _)| id);
        self.tell("file: looked at".to_string());
        self.done(id.expect("a file is looked at"), Answer::Seeded(seeding));
    }
}
