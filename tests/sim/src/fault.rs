//! What can go wrong in a world. Each run allows some kinds of it, chosen by its
//! tape: a world in which everything goes wrong at once never gets far.

macro_rules! faults {
    ($($name:ident = $word:literal,)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault {
            $(#[doc = $word] $name,)*
        }

        impl Fault {
            /// All kinds.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name),*];

            /// The kind in a word or two.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

faults! {
    Split = "split",
    Coalesce = "coalesce",
    Stall = "stall",
    PartialWrite = "partial write",
    WriteFailure = "write failure",
    Eof = "end of input anywhere",
    LateReply = "late reply",
    DuplicateReply = "duplicate reply",
    OrphanReply = "orphan reply",
    WrongPayload = "wrong payload",
    HostError = "host answers with an error",
    HostSilent = "host never answers",
    ProviderFailure = "provider failure",
    ProviderCut = "provider cut in an answer",
    ProviderHang = "provider hang",
    EarlyTick = "early tick",
    LateTick = "late tick",
    ManyTicks = "many ticks",
    VetRejection = "validator rejection",
    Malformed = "malformed bytes",
    Oversize = "oversize line",
    StoreFailure = "store failure",
    PersistFailure = "settings failure",
    FlushFailure = "flush failure",
    SchemaFailure = "schema failure",
    Crash = "crash",
    SyncLoss = "sync loss",
    HookFailure = "hook failure",
    HookHang = "hook hang",
    ToolFailure = "tool failure",
    ToolHang = "tool hang",
    TaskFailure = "task failure",
    LateAnswer = "answer after a cancellation",
    Credential = "credential in text",
    Signal = "signal",
}

/// Which kinds a run allows, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwarmBits(pub u64);

impl SwarmBits {
    /// No fault.
    pub const NONE: Self = Self(0);

    /// Whether this kind is allowed.
    #[must_use]
    pub const fn has(self, fault: Fault) -> bool {
        self.0 >> (fault as u32) & 1 == 1
    }
}

/// How often each kind of fault has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultCounts([u64; Fault::ALL.len()]);

impl Default for FaultCounts {
    fn default() -> Self {
        Self([0; Fault::ALL.len()])
    }
}

impl FaultCounts {
    /// Counts one.
    pub const fn count(&mut self, fault: Fault) {
        self.0[fault as usize] += 1;
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(&other.0) {
            *sum += more;
        }
    }

    /// How often this kind has happened.
    #[must_use]
    pub const fn of(&self, fault: Fault) -> u64 {
        self.0[fault as usize]
    }

    /// All kinds with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Fault, u64)> + '_ {
        Fault::ALL.into_iter().map(|fault| (fault, self.of(fault)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_bit_and_its_count() {
        let mut counts = FaultCounts::default();
        for (place, fault) in Fault::ALL.into_iter().enumerate() {
            assert_eq!(fault as usize, place);
            let alone = SwarmBits(1 << place);
            let allowed = Fault::ALL.into_iter().filter(|other| alone.has(*other));
            assert_eq!(allowed.collect::<Vec<_>>(), [fault]);
            counts.count(fault);
        }
        counts.add(&counts.clone());
        assert!(counts.iter().all(|(_, count)| count == 2));
        assert!(Fault::ALL.len() <= 40, "a swarm has forty bits");
    }
}
