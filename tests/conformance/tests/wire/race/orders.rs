//! What can happen to questions, and in which orders.

/// What can happen to the question about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happens {
    HostAllows,
    HostDenies,
    /// The host says once more what it said first.
    HostAgain,
    HookAllows,
    HookDenies,
    HookPasses,
    HookFails,
    Interrupt,
    End,
}

use Happens::{
    End, HookAllows, HookDenies, HookFails, HookPasses, HostAgain, HostAllows, HostDenies,
    Interrupt,
};

impl Happens {
    const ALL: [Self; 9] = [
        HostAllows, HostDenies, HostAgain, HookAllows, HookDenies, HookPasses, HookFails,
        Interrupt, End,
    ];

    pub(super) const fn is_hook(self) -> bool {
        matches!(self, HookAllows | HookDenies | HookPasses | HookFails)
    }

    /// Whether it happens to the session, not to one call.
    const fn is_common(self) -> bool {
        matches!(self, Interrupt | End)
    }
}

/// What happens to which call. What is common to all stands at the first.
pub(super) type Step = (usize, Happens);

/// Whether this can happen behind that: nothing of the host behind the end of its
/// input, no repetition of what was not said.
pub(super) fn can_follow(prefix: &[Happens], event: Happens) -> bool {
    let said = |known| prefix.contains(&known);
    !said(event)
        && (event.is_hook() || !said(End))
        && (event != HostAgain || said(HostAllows) || said(HostDenies))
}

/// Every order of every subset of what can happen to one call.
pub(super) fn of_one_call(prefix: &mut Vec<Happens>, each: &mut impl FnMut(&[Happens])) {
    each(prefix);
    for event in Happens::ALL {
        if can_follow(prefix, event) {
            prefix.push(event);
            of_one_call(prefix, each);
            prefix.pop();
        }
    }
}

/// Three events of one call. Hooks end in the order in which they stand.
pub(super) type Triple = [Happens; 3];

/// Every order of three events of one call.
pub(super) fn triples() -> Vec<Triple> {
    let mut all = Vec::new();
    of_one_call(&mut Vec::new(), &mut |order| {
        if let [a, b, c] = *order
            && !order.iter().any(|event| event.is_common())
        {
            all.push([a, b, c]);
        }
    });
    all
}

/// All ways to mix three events of the first call with three of the second:
/// whether each is the second's.
pub(super) fn mixes() -> Vec<[bool; 6]> {
    let mix = |bits: u32| core::array::from_fn(|at| bits >> at & 1 == 1);
    let halves = (0_u32..64).filter(|bits| bits.count_ones() == 3);
    halves.map(mix).collect()
}

/// Every mix of two orders of three events each: alone, with the end of the input
/// wherever it can stand, and with an interrupt everywhere.
pub(super) fn of_two_calls(each: &mut impl FnMut(&[Step])) {
    let (triples, mixes) = (triples(), mixes());
    for first in &triples {
        for second in &triples {
            for mix in &mixes {
                let mut of = [first.iter(), second.iter()];
                let mut steps: Vec<Step> = Vec::with_capacity(7);
                for second in mix.iter().copied().map(usize::from) {
                    steps.extend(of[second].next().map(|event| (second, *event)));
                }
                each(&steps);
                for at in 0..=steps.len() {
                    steps.insert(at, (0, Interrupt));
                    each(&steps);
                    steps[at].1 = End;
                    if steps[at + 1..].iter().all(|(_, event)| event.is_hook()) {
                        each(&steps);
                    }
                    steps.remove(at);
                }
            }
        }
    }
}
