//! Requests we sent to the peer and still wait for (WIRE-006 to 009).
//!
//! ```text
//! register -> pending -> resolve (an answer came)        -> closed
//!                     -> abort   (interrupt, EOF, latch) -> closed
//! ```
//!
//! A request is registered before its envelope can drain, because only
//! [`Correlator::register`] makes a [`RequestId`]. It leaves exactly once. An
//! answer that finds nothing pending is late (we closed that request), a
//! duplicate (its tool call is resolved) or an orphan.

use crate::mark::{Marks, mark};
use crate::plant::{Planted, planted};
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Proof that a request is registered (WIRE-006). Only a correlator makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// The id as it stands on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id, for the envelope that carries it.
    #[must_use]
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

/// One request that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending<W> {
    /// Its id on the wire; alone selects the waiter (WIRE-PERM-010).
    pub id: RequestId,
    /// The tool call it is about, if any.
    pub tool_use_id: Option<Arc<str>>,
    /// Who waits.
    pub waiter: W,
}

/// What becomes of success answers that match nothing pending (WIRE-PERM-072, DEC-49).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrphanPolicy {
    /// They are ignored.
    #[default]
    Ignore,
    /// Each unresolved tool call may be admitted once.
    AdmitOnce,
}

/// What an answer is that matches nothing pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmatched {
    /// We closed that request before; the answer is known to be late (WIRE-007).
    Late,
    /// Its tool call is resolved already (WIRE-PERM-071).
    Duplicate,
    /// Nobody knows it, and it is ignored.
    Orphan,
    /// The embedder may act on it, this once.
    Admitted,
}

/// Pending requests in registration order, and the memory of closed ones.
#[derive(Clone, Debug)]
pub struct Correlator<W> {
    pending: VecDeque<Pending<W>>,
    /// What is remembered of closed requests, once there was one.
    memory: Option<Box<Memory>>,
    resolved_limit: usize,
    orphans: OrphanPolicy,
    marks: Marks,
    planted: Planted,
}

/// Closed requests, resolved tool calls, and those of orphans that were admitted.
#[derive(Clone, Debug)]
struct Memory {
    closed: Recent,
    resolved: Recent,
    admitted: Recent,
}

impl<W> Correlator<W> {
    /// An empty correlator that remembers `resolved_limit` closed requests and
    /// as many resolved tool calls (WIRE-PERM-071).
    #[must_use]
    pub const fn new(resolved_limit: usize, orphans: OrphanPolicy) -> Self {
        Self {
            pending: VecDeque::new(),
            memory: None,
            resolved_limit,
            orphans,
            marks: Marks::NONE,
            planted: Planted::NONE,
        }
    }

    /// The same with a fault planted, if one is.
    pub(crate) fn with(self, planted: Planted) -> Self {
        Self { planted, ..self }
    }

    /// The requirement marks that were reached.
    #[must_use]
    pub const fn marks(&self) -> Marks {
        self.marks
    }

    /// Registers a waiter under a fresh `id`, before its envelope is written.
    pub fn register(&mut self, id: String, tool_use_id: Option<Arc<str>>, waiter: W) -> RequestId {
        let id = RequestId(id.into());
        mark!(self.marks, WIRE_006);
        self.pending.push_back(Pending {
            id: id.clone(),
            tool_use_id,
            waiter,
        });
        id
    }

    /// Takes the waiter that `id` selects; its tool call counts as resolved.
    pub fn resolve(&mut self, id: &str) -> Option<Pending<W>> {
        let at = self
            .pending
            .iter()
            .position(|pending| pending.id.as_str() == id)?;
        let at = if planted!(self.planted, WirePerm010) {
            0
        } else {
            at
        };
        mark!(self.marks, WIRE_PERM_010);
        let pending = self.pending.remove(at)?;
        self.close(&pending);
        Some(pending)
    }

    /// Takes the waiter of a request that needs no answer any more (WIRE-007).
    pub fn abort(&mut self, id: &RequestId) -> Option<Pending<W>> {
        let is_it = |pending: &Pending<W>| pending.id == *id;
        let pending = self.pending.remove(self.pending.iter().position(is_it)?)?;
        self.abandon(&pending);
        Some(pending)
    }

    /// Takes every waiter, in registration order (WIRE-008, WIRE-011).
    pub fn abort_all(&mut self) -> Vec<Pending<W>> {
        let all: Vec<_> = self.pending.drain(..).collect();
        for pending in &all {
            self.abandon(pending);
        }
        all
    }

    /// Judges a success answer that matched nothing, by its payload's `toolUseID`.
    pub fn unmatched(&mut self, id: &str, tool_use_id: Option<&str>) -> Unmatched {
        if self.remembers(|memory| &memory.closed, id) {
            mark!(self.marks, WIRE_007);
            return Unmatched::Late;
        }
        let it_is = match tool_use_id {
            Some(tool) if self.remembers(|memory| &memory.resolved, tool) => Unmatched::Duplicate,
            Some(tool)
                if self.orphans == OrphanPolicy::AdmitOnce
                    && !self.remembers(|memory| &memory.admitted, tool) =>
            {
                mark!(self.marks, WIRE_PERM_072);
                if !planted!(self.planted, WirePerm072) {
                    self.memory().admitted.insert(tool.into());
                }
                Unmatched::Admitted
            }
            _ => Unmatched::Orphan,
        };
        if it_is == Unmatched::Duplicate {
            mark!(self.marks, WIRE_PERM_071);
        }
        it_is
    }

    /// The waiters, in registration order.
    pub fn iter(&self) -> impl Iterator<Item = &Pending<W>> {
        self.pending.iter()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    fn remembers(&self, set: fn(&Memory) -> &Recent, key: &str) -> bool {
        let memory = self.memory.as_deref();
        memory.is_some_and(|memory| set(memory).contains(key))
    }

    fn memory(&mut self) -> &mut Memory {
        let set = Recent::new(self.resolved_limit);
        self.memory.get_or_insert_with(|| {
            Box::new(Memory {
                closed: set.clone(),
                resolved: set.clone(),
                admitted: set,
            })
        })
    }

    fn close(&mut self, pending: &Pending<W>) {
        self.memory().closed.insert(pending.id.0.clone());
        if let Some(tool) = &pending.tool_use_id {
            if planted!(self.planted, WirePerm071) {
                self.memory().resolved.insert(pending.id.shared());
                return;
            }
            self.memory().resolved.insert(tool.clone());
        }
    }

    /// Closes what nobody waits for any more; its call is resolved all the same.
    fn abandon(&mut self, pending: &Pending<W>) {
        if planted!(self.planted, WirePerm070) {
            self.memory().closed.insert(pending.id.0.clone());
            return;
        }
        mark!(self.marks, WIRE_PERM_070);
        self.close(pending);
    }
}

/// A bounded set in insertion order; the oldest leaves first.
#[derive(Clone, Debug)]
pub struct Recent {
    limit: usize,
    order: VecDeque<Arc<str>>,
    set: BTreeSet<Arc<str>>,
}

impl Recent {
    /// An empty set of at most `limit` members.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            order: VecDeque::new(),
            set: BTreeSet::new(),
        }
    }

    /// Whether `key` is remembered.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        self.set.contains(key)
    }

    /// Remembers `key`; false if it was known.
    pub fn insert(&mut self, key: Arc<str>) -> bool {
        if !self.set.insert(key.clone()) {
            return false;
        }
        self.order.push_back(key);
        if self.order.len() > self.limit
            && let Some(oldest) = self.order.pop_front()
        {
            self.set.remove(&oldest);
        }
        true
    }

    /// Forgets `key`.
    pub fn remove(&mut self, key: &str) {
        if self.set.remove(key) {
            self.order.retain(|known| **known != *key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    fn correlator(orphans: OrphanPolicy) -> Correlator<u8> {
        Correlator::new(1_000, orphans)
    }

    // covers: WIRE-006, WIRE-PERM-010
    #[test]
    fn a_waiter_leaves_once_and_by_request_id_alone() {
        let mut c = correlator(OrphanPolicy::Ignore);
        let id = c.register("req_a".to_string(), Some("toolu_1".into()), 1);
        c.register("req_b".to_string(), Some("toolu_1".into()), 2);
        assert_eq!(c.resolve("toolu_1"), None);
        assert_eq!(c.resolve(id.as_str()).map(|p| p.waiter), Some(1));
        assert_eq!(c.resolve(id.as_str()), None);
        assert_eq!(c.abort_all().len(), 1);
        assert!(c.is_empty());
    }

    // covers: WIRE-PERM-071
    #[test]
    fn the_resolved_set_evicts_the_oldest() {
        let mut c = correlator(OrphanPolicy::Ignore);
        for n in 0..1_001 {
            c.register(format!("req_{n}"), Some(format!("toolu_{n}").into()), 0);
        }
        c.abort_all();
        assert_eq!(c.unmatched("req_x", Some("toolu_0")), Unmatched::Orphan);
        assert_eq!(c.unmatched("req_x", Some("toolu_1")), Unmatched::Duplicate);
        assert_eq!(c.unmatched("req_1000", None), Unmatched::Late);
    }

    // covers: WIRE-PERM-072, DEC-49
    #[test]
    fn an_orphan_is_admitted_once_where_the_embedder_asks() {
        let mut c = correlator(OrphanPolicy::AdmitOnce);
        assert_eq!(c.unmatched("req_x", Some("toolu_9")), Unmatched::Admitted);
        assert_eq!(c.unmatched("req_x", Some("toolu_9")), Unmatched::Orphan);
        assert_eq!(c.unmatched("req_x", None), Unmatched::Orphan);
        let mut c = correlator(OrphanPolicy::Ignore);
        assert_eq!(c.unmatched("req_x", Some("toolu_9")), Unmatched::Orphan);
    }
}
