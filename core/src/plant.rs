//! Planted faults: bugs that are put in on purpose, to see them found.
//!
//! A simulation that finds nothing may have nothing to find, or may look past it.
//! So each requirement below has a bug of the kind that a programmer makes, at the
//! line that decides it: `if planted!(self.planted, Wire011) { … }`. It is compiled
//! in only under `--cfg agentx_planted`, where `Limits::planted` chooses one fault
//! at run time. Without it the condition is the constant `false`, [`Planted`] has no
//! size, and no fault is in the binary (`tests/planted.py` proves that).

#[cfg(agentx_planted)]
pub use list::Plant;

/// The fault that is planted, if one is. Without `--cfg agentx_planted` there is
/// none, and this has no size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planted {
    #[cfg(agentx_planted)]
    fault: Option<Plant>,
}

impl Planted {
    /// No fault.
    pub const NONE: Self = Self {
        #[cfg(agentx_planted)]
        fault: None,
    };

    /// This fault.
    #[cfg(agentx_planted)]
    #[must_use]
    pub const fn of(fault: Plant) -> Self {
        Self { fault: Some(fault) }
    }

    /// Which fault.
    #[cfg(agentx_planted)]
    #[must_use]
    pub const fn fault(self) -> Option<Plant> {
        self.fault
    }

    #[cfg(agentx_planted)]
    pub(crate) fn is(self, fault: Plant) -> bool {
        self.fault == Some(fault)
    }

    /// Whether one is planted: never.
    #[cfg(not(agentx_planted))]
    #[inline(always)]
    pub(crate) const fn never(self) -> bool {
        false
    }
}

/// Whether this fault is planted: `planted!(self.planted, Wire011)`.
#[cfg(agentx_planted)]
macro_rules! planted {
    ($planted:expr, $name:ident) => {
        $planted.is($crate::plant::Plant::$name)
    };
}

/// Whether this fault is planted: the constant `false`.
#[cfg(not(agentx_planted))]
macro_rules! planted {
    ($planted:expr, $name:ident) => {
        $planted.never()
    };
}

pub(crate) use planted;

#[cfg(agentx_planted)]
mod list {
    /// Declares the faults: name, requirement, and what is broken.
    macro_rules! plants {
        ($($name:ident, $id:literal, $breaks:literal;)*) => {
            /// A planted fault.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
            pub enum Plant {
                $(#[doc = $id] #[doc = ": "] #[doc = $breaks] $name,)*
            }

            impl Plant {
                /// Every fault, in the order of their declaration.
                pub const ALL: &[Self] = &[$(Self::$name,)*];

                /// Its name, as it is chosen by.
                #[must_use]
                pub const fn name(self) -> &'static str {
                    match self {
                        $(Self::$name => stringify!($name),)*
                    }
                }

                /// The id of the requirement that it breaks.
                #[must_use]
                pub const fn requirement(self) -> &'static str {
                    match self {
                        $(Self::$name => $id,)*
                    }
                }

                /// What it breaks, in a sentence without its full stop.
                #[must_use]
                pub const fn breaks(self) -> &'static str {
                    match self {
                        $(Self::$name => $breaks,)*
                    }
                }

                /// The fault of this name.
                #[must_use]
                pub fn named(name: &str) -> Option<Self> {
                    Self::ALL.iter().copied().find(|plant| plant.name() == name)
                }
            }

            /// The names, in every binary that has the faults, whether it uses them
            /// or not.
            #[used]
            static NAMES: [&str; Plant::ALL.len()] =
                [$(concat!("agentx-planted:", stringify!($name))),*];
        };
    }

    plants! {
        Wire003, "WIRE-003",
            "requests to the host have a fast lane past records that wait";
        Wire004, "WIRE-004",
            "idle is told without waiting for the remote flush";
        Wire004Tasks, "WIRE-004",
            "the result of a turn does not wait for its background tasks";
        Wire006, "WIRE-006",
            "an error answer leaves its waiter registered, for a better answer";
        Wire007, "WIRE-007",
            "an abort cancels a request and forgets to remove its waiter";
        Wire008, "WIRE-008",
            "the end of the input fails the oldest open request and no other";
        Wire010, "WIRE-010",
            "an interrupt is acknowledged only once its turn has settled";
        Wire010Idle, "WIRE-010",
            "an interrupt is not acknowledged when no turn runs";
        Wire011, "WIRE-011",
            "the acknowledgement goes out before the cancellations";
        Wire012, "WIRE-012",
            "a cost that is not known is told as zero";
        Wire013, "WIRE-013",
            "the guard looks at the first half of a record only";
        Wire014, "WIRE-014",
            "a record that repeats a name is left out, and the stream goes on";
        Wire015, "WIRE-015",
            "a record that its validator refused is left out, and the rest goes on";
        Wire020, "WIRE-020",
            "the queue admits one prompt too many";
        Wire020Now, "WIRE-020",
            "an urgent prompt interrupts before the queue has admitted it";
        WireEof001, "WIRE-EOF-001",
            "the end of the input closes requests before its last record is read";
        WirePerm001, "WIRE-PERM-001",
            "a hook that passes counts as decisive";
        WirePerm001Cancel, "WIRE-PERM-001",
            "a question is cancelled at the host even where the host decided it";
        WirePerm002, "WIRE-PERM-002",
            "a hook that fails has no say";
        WirePerm002Host, "WIRE-PERM-002",
            "an error of the host counts as an allow";
        WirePerm010, "WIRE-PERM-010",
            "an answer goes to the oldest request, as if answers came in order";
        WirePerm023, "WIRE-PERM-023",
            "a question goes out before requires_action is told";
        WirePerm030, "WIRE-PERM-030",
            "updates for this session alone are persisted, too";
        WirePerm040, "WIRE-PERM-040",
            "an allow without an input is accepted";
        WirePerm060, "WIRE-PERM-060",
            "a question that failed is closed, and its call never settles";
        WirePerm070, "WIRE-PERM-070",
            "an abort does not remember the call as resolved";
        WirePerm071, "WIRE-PERM-071",
            "the resolved set remembers the request id instead of the tool-use id";
        WirePerm072, "WIRE-PERM-072",
            "an orphan answer is admitted again and again";
        Dec10, "DEC-10",
            "input that cannot be read drops the queued prompts without a result";
        Dec14, "DEC-14",
            "the end of the input drops the prompts that wait";
        Dec15, "DEC-15",
            "prompts run in the order of arrival, whatever their priority";
        Dec26, "DEC-26",
            "calls that change something run side by side";
        Dec32, "DEC-32",
            "a result is written before the store has what led to it";
        Dec32Tool, "DEC-32",
            "a tool starts before the store has the answer that calls it";
        Dec37, "DEC-37",
            "an interrupt cancels the newest request first";
        Dec44, "DEC-44",
            "a prompt with a uuid that was seen before runs again";
        Dec50, "DEC-50",
            "an answer is echoed behind what it causes";
        Dec27, "DEC-27",
            "the books of a prompt go on with the next one";
        Dec32Lost, "DEC-32",
            "entries that could not be stored are forgotten";
        Dec36, "DEC-36",
            "the bound of unsent output is not looked at";
        Dec48, "DEC-48",
            "a request is given up behind its time, not at it";
        WirePerm041, "WIRE-PERM-041",
            "an input that a hook has rewritten stands above the one that the host allows";
        HostWire007, "WIRE-007",
            "a call of the host that is timed out waits on for a better answer";
        HostWire008, "WIRE-008",
            "the end of the agent closes every call of the host but the newest";
        HostWire015, "WIRE-015",
            "the host writes on behind the end of the agent's input";
        HostWireEof001, "WIRE-EOF-001",
            "the host drops the last record of the agent if no newline ends it";
        HostWirePerm002, "WIRE-PERM-002",
            "the host answers a request that failed with a bare success";
        HostWirePerm070, "WIRE-PERM-070",
            "an answer of the host to a request that the agent took back is written";
        HostDec21, "DEC-21",
            "the exit of the host does not name the prompts without a result";
    }
}
