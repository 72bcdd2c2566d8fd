//! Requirement marks: which deciding lines of a machine ran.
//!
//! A line that decides a requirement is marked `mark!(self.marks, WIRE_011)`. That
//! sets a bit in a set that belongs to the machine; there are no globals. A parent
//! gives the union of its own marks and those of its children, so a simulation can
//! tell which requirements its worlds reached.
//!
//! Without the feature `marks` a set has no size, a mark is nothing, and no line is
//! marked. Requirements that types or the grammar of a record decide have no single
//! line here and no mark; tests of the schema hold them.

/// Whose line decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The agent's session.
    Agent,
    /// Open requests and the memory of closed ones.
    Correlate,
    /// Bytes to records and records to bytes.
    Link,
    /// The host's session.
    Host,
}

impl Owner {
    /// All owners.
    pub const ALL: [Self; 4] = [Self::Agent, Self::Correlate, Self::Link, Self::Host];

    /// The owner in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Correlate => "correlate",
            Self::Link => "link",
            Self::Host => "host",
        }
    }
}

/// Declares the marks: one list of names, ids and owners.
macro_rules! marks {
    ($($owner:ident { $($name:ident = $id:literal,)* })*) => {
        /// A marked line, by the requirement that it decides.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(non_camel_case_types, reason = "marks are named as requirements are")]
        pub enum Mark {
            $($(#[doc = $id] $name,)*)*
        }

        impl Mark {
            /// Every mark, in the order of their declaration.
            pub const ALL: &[Self] = &[$($(Self::$name,)*)*];

            /// The id of the requirement, such as `WIRE-011`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $($(Self::$name => $id,)*)*
                }
            }

            /// Whose line it is.
            #[must_use]
            pub const fn owner(self) -> Owner {
                match self {
                    $($(Self::$name => Owner::$owner,)*)*
                }
            }
        }
    };
}

marks! {
    Link {
        WIRE_003 = "WIRE-003",
        WIRE_013 = "WIRE-013",
        WIRE_014 = "WIRE-014",
        WIRE_EOF_001 = "WIRE-EOF-001",
        DEC_04 = "DEC-04",
        DEC_34 = "DEC-34",
    }
    Correlate {
        WIRE_006 = "WIRE-006",
        WIRE_007 = "WIRE-007",
        WIRE_PERM_010 = "WIRE-PERM-010",
        WIRE_PERM_070 = "WIRE-PERM-070",
        WIRE_PERM_071 = "WIRE-PERM-071",
        WIRE_PERM_072 = "WIRE-PERM-072",
    }
    Agent {
        WIRE_001 = "WIRE-001",
        WIRE_002 = "WIRE-002",
        WIRE_004 = "WIRE-004",
        WIRE_008 = "WIRE-008",
        WIRE_009 = "WIRE-009",
        WIRE_010 = "WIRE-010",
        WIRE_011 = "WIRE-011",
        WIRE_012 = "WIRE-012",
        WIRE_015 = "WIRE-015",
        WIRE_019 = "WIRE-019",
        WIRE_020 = "WIRE-020",
        WIRE_021 = "WIRE-021",
        WIRE_023 = "WIRE-023",
        WIRE_024 = "WIRE-024",
        WIRE_025 = "WIRE-025",
        WIRE_PERM_001 = "WIRE-PERM-001",
        WIRE_PERM_002 = "WIRE-PERM-002",
        WIRE_PERM_003 = "WIRE-PERM-003",
        WIRE_PERM_004 = "WIRE-PERM-004",
        WIRE_PERM_020 = "WIRE-PERM-020",
        WIRE_PERM_022 = "WIRE-PERM-022",
        WIRE_PERM_023 = "WIRE-PERM-023",
        WIRE_PERM_030 = "WIRE-PERM-030",
        WIRE_PERM_040 = "WIRE-PERM-040",
        WIRE_PERM_041 = "WIRE-PERM-041",
        WIRE_PERM_042 = "WIRE-PERM-042",
        WIRE_PERM_044 = "WIRE-PERM-044",
        WIRE_PERM_051 = "WIRE-PERM-051",
        WIRE_PERM_060 = "WIRE-PERM-060",
        WIRE_PERM_073 = "WIRE-PERM-073",
        WIRE_PERM_080 = "WIRE-PERM-080",
        DEC_07 = "DEC-07",
        DEC_10 = "DEC-10",
        DEC_11 = "DEC-11",
        DEC_12 = "DEC-12",
        DEC_14 = "DEC-14",
        DEC_15 = "DEC-15",
        DEC_19 = "DEC-19",
        DEC_20 = "DEC-20",
        DEC_21 = "DEC-21",
        DEC_22 = "DEC-22",
        DEC_25 = "DEC-25",
        DEC_31 = "DEC-31",
        DEC_32 = "DEC-32",
        DEC_33 = "DEC-33",
        DEC_36 = "DEC-36",
        DEC_37 = "DEC-37",
        DEC_38 = "DEC-38",
        DEC_41 = "DEC-41",
        DEC_44 = "DEC-44",
        DEC_45 = "DEC-45",
        DEC_48 = "DEC-48",
        DEC_49 = "DEC-49",
        DEC_50 = "DEC-50",
    }
    Host {
        HOST_WIRE_001 = "WIRE-001",
        HOST_WIRE_007 = "WIRE-007",
        HOST_WIRE_008 = "WIRE-008",
        HOST_WIRE_EOF_001 = "WIRE-EOF-001",
        HOST_WIRE_PERM_002 = "WIRE-PERM-002",
        HOST_WIRE_PERM_010 = "WIRE-PERM-010",
        HOST_WIRE_PERM_070 = "WIRE-PERM-070",
        HOST_DEC_21 = "DEC-21",
    }
}

/// The marks that a machine has reached.
///
/// Marks change nothing, so sets say nothing of two machines being alike.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    #[cfg(feature = "marks")]
    bits: u128,
}

const _: () = assert!(Mark::ALL.len() <= 128, "a set of marks has 128 bits");

impl Marks {
    /// No mark.
    pub const NONE: Self = Self {
        #[cfg(feature = "marks")]
        bits: 0,
    };

    /// Notes that a marked line ran.
    #[cfg(feature = "marks")]
    pub const fn hit(&mut self, mark: Mark) {
        self.bits |= 1 << mark as u32;
    }

    /// Nothing, without the feature `marks`.
    #[cfg(not(feature = "marks"))]
    #[inline(always)]
    pub const fn hit(&mut self, _mark: Mark) {}

    /// Whether a marked line ran. Never, without the feature `marks`.
    #[must_use]
    pub const fn has(self, mark: Mark) -> bool {
        #[cfg(feature = "marks")]
        return self.bits >> mark as u32 & 1 == 1;
        #[cfg(not(feature = "marks"))]
        {
            let _ = mark;
            false
        }
    }

    /// What either set has.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        #[cfg(feature = "marks")]
        return Self {
            bits: self.bits | other.bits,
        };
        #[cfg(not(feature = "marks"))]
        {
            let _ = other;
            self
        }
    }

    /// Those of one owner alone.
    #[must_use]
    pub fn of(self, owner: Owner) -> Self {
        let mut some = Self::NONE;
        for mark in self.iter().filter(|mark| mark.owner() == owner) {
            some.hit(mark);
        }
        some
    }

    /// The marks in the set, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = Mark> {
        let marks = Mark::ALL.iter().copied();
        marks.filter(move |mark| self.has(*mark))
    }
}

impl core::fmt::Debug for Marks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Marks the line that decides a requirement: `mark!(self.marks, WIRE_011)`.
macro_rules! mark {
    ($marks:expr, $name:ident) => {
        $marks.hit($crate::mark::Mark::$name)
    };
}
pub(crate) use mark;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_set_has_what_was_hit() {
        let (mut first, mut second) = (Marks::NONE, Marks::NONE);
        mark!(first, WIRE_003);
        mark!(second, DEC_50);
        let both = first.union(second);
        if cfg!(feature = "marks") {
            assert!(both.has(Mark::WIRE_003) && both.has(Mark::DEC_50));
            assert_eq!(both.of(Owner::Link), first);
            assert_eq!(both.of(Owner::Agent), second);
            assert_eq!(format!("{both:?}"), "{WIRE_003, DEC_50}");
        } else {
            assert_eq!((both, size_of::<Marks>()), (Marks::NONE, 0));
        }
    }

    #[test]
    fn names_are_ids() {
        for mark in Mark::ALL {
            let tag = match mark.owner() {
                Owner::Host => "HOST_",
                Owner::Agent | Owner::Correlate | Owner::Link => "",
            };
            let id = mark.id().replace('-', "_");
            assert_eq!(format!("{mark:?}"), format!("{tag}{id}"));
        }
    }
}
