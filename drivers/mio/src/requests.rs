//! The thread of model requests: one poll, a token for each request, fair turns.
//!
//! One step of a request may decode an event of megabytes, so requests have a
//! thread beside the session's loop (DEC-28).

use crate::exchange::{Around, Exchange, Next, sooner};
use crate::mailbox::{Mailbox, wake};
use agentx_core::effect::EffectId;
use agentx_core::time::Instant;
use agentx_pump::drive::{Drive, READ_BYTES};
use agentx_pump::lookup::{Found, Lookups};
use agentx_pump::model::ModelRun;
use agentx_pump::pump::{News, Post};
use agentx_pump::tls::TrustStore;
use mio::{Events, Poll, Token, Waker};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Events of one poll; what does not fit comes with the next one.
const EVENTS: usize = 256;

/// The token of the waker; those of requests count from zero.
const WAKE: Token = Token(usize::MAX);

/// What the thread is told.
pub(crate) enum Order {
    /// Drive this run; the session's time is this.
    Run(EffectId, Box<ModelRun>, Instant),
    /// Drop the run of this effect.
    Cancel(EffectId),
    /// What the lookup of this number, for this effect, found.
    Found(EffectId, u64, Found),
    /// Drop every run, and end.
    End,
    /// A step as long as a test likes.
    #[cfg(test)]
    Step(Box<dyn FnOnce() + Send>),
}

/// Orders on their way to the thread: queued first, then it is woken, and it takes
/// all of them.
pub(crate) struct Orders {
    /// Absent once the thread is gone.
    queue: Mutex<Option<Vec<Order>>>,
    waker: Arc<Waker>,
    numbers: AtomicU64,
}

impl Orders {
    /// Queues an order; false once nobody takes orders any more.
    pub(crate) fn send(&self, order: Order) -> bool {
        let queued = self.lock().as_mut().map(|queue| queue.push(order));
        if queued.is_some() {
            wake(&self.waker);
        }
        queued.is_some()
    }

    /// A number that nobody else has.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    fn take(&self) -> Vec<Order> {
        self.lock().as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Order>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread, from outside. It ends when this is dropped.
pub(crate) struct Requests {
    orders: Arc<Orders>,
    mailbox: Arc<Mailbox>,
}

impl Requests {
    pub(crate) fn start(trust: Arc<TrustStore>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKE)?);
        let mailbox = Mailbox::new(Arc::clone(&waker));
        let orders = Arc::new(Orders {
            queue: Mutex::new(Some(Vec::new())),
            waker,
            numbers: AtomicU64::new(0),
        });
        let worker = Worker {
            poll,
            orders: Arc::clone(&orders),
            post: mailbox.post(),
            mailbox: Arc::clone(&mailbox),
            lookups: Lookups::new(trust),
            exchanges: VecDeque::new(),
            tokens: 0,
            over: false,
        };
        thread::Builder::new()
            .name("requests".into())
            .spawn(move || worker.work())?;
        Ok(Self { orders, mailbox })
    }

    /// Where the requests tell their news; for those of threads, too.
    pub(crate) fn mailbox(&self) -> Arc<Mailbox> {
        Arc::clone(&self.mailbox)
    }

    /// Drives a run; `now` is the session's time.
    pub(crate) fn run(&self, id: EffectId, run: Box<ModelRun>, now: Instant) {
        if !self.orders.send(Order::Run(id, run, now)) {
            self.mailbox.put(News::ModelLost(id));
        }
    }

    /// Drops the run of this effect.
    pub(crate) fn cancel(&self, id: EffectId) {
        self.orders.send(Order::Cancel(id));
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        self.orders.send(Order::End);
    }
}

/// The thread, from inside.
struct Worker {
    poll: Poll,
    orders: Arc<Orders>,
    post: Post,
    mailbox: Arc<Mailbox>,
    lookups: Lookups,
    exchanges: VecDeque<Exchange>,
    tokens: usize,
    over: bool,
}

impl Worker {
    fn work(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        let mut piece = vec![0; READ_BYTES];
        let mut wait = None;
        loop {
            // Also while something is ready: a long write must not keep an answer
            // from being seen.
            match self.poll.poll(&mut events, wait) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return,
                _ => self.note(&events),
            }
            self.take_orders();
            if self.over {
                return;
            }
            wait = self.turns(&mut piece);
        }
    }

    fn note(&mut self, events: &Events) {
        for event in events {
            let token = event.token();
            let mut exchanges = self.exchanges.iter_mut();
            if let Some(exchange) = exchanges.find(|exchange| exchange.token() == token) {
                // An end or an error is found by trying.
                let over = event.is_error();
                exchange.ready(
                    over || event.is_readable() || event.is_read_closed(),
                    over || event.is_writable() || event.is_write_closed(),
                );
            }
        }
    }

    fn take_orders(&mut self) {
        for order in self.orders.take() {
            match order {
                Order::Run(id, run, now) => {
                    let drive = Drive::begin(*run, id, Arc::clone(&self.post), now);
                    self.exchanges
                        .push_back(Exchange::new(drive, Token(self.tokens)));
                    self.tokens += 1;
                }
                Order::Cancel(id) => self.exchanges.retain(|exchange| exchange.id() != id),
                Order::Found(id, number, found) => {
                    let mut exchanges = self.exchanges.iter_mut();
                    if let Some(exchange) = exchanges.find(|exchange| exchange.id() == id) {
                        exchange.found(number, found);
                    }
                }
                Order::End => self.over = true,
                #[cfg(test)]
                Order::Step(step) => step(),
            }
        }
    }

    /// A turn for each exchange, another one first each time; gives how long all
    /// of them wait.
    fn turns(&mut self, piece: &mut [u8]) -> Option<Duration> {
        let around = Around {
            registry: self.poll.registry(),
            mailbox: &self.mailbox,
            lookups: &self.lookups,
            orders: &self.orders,
        };
        let mut wait = None;
        self.exchanges.retain_mut(|exchange| {
            let next = exchange.turn(around, piece);
            wait = match next {
                Next::Turn => Some(Duration::ZERO),
                Next::Wait(own) => sooner(wait, own),
                Next::Over => wait,
            };
            next != Next::Over
        });
        if !self.exchanges.is_empty() {
            self.exchanges.rotate_left(1);
        }
        wait
    }
}

/// Whatever ended the thread: no run that it was given stays without an end. What
/// it drove is told by each `Drive`.
impl Drop for Worker {
    fn drop(&mut self) {
        let left = self.orders.lock().take().unwrap_or_default();
        for order in left {
            if let Order::Run(id, ..) = order {
                (self.post)(News::ModelLost(id));
            }
        }
    }
}

#[cfg(test)]
mod tests;
