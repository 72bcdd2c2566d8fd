use super::*;
use agentx_pump::dial::NEXT_ADDRESS;
use mio::{Events, Poll};
use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;

const TOKEN: Token = Token(3);

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An address where nobody listens.
fn refusing() -> SocketAddr {
    listener().1
}

/// An address that neither answers nor refuses: its queue is full.
struct Silent {
    address: SocketAddr,
    _kept: (TcpListener, Vec<TcpStream>),
}

impl Silent {
    fn new() -> Self {
        let socket: OwnedFd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        listen(&socket, 0).unwrap();
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().unwrap();
        // One is queued; what comes behind it waits for ever.
        let fill = (0..3).map(|_| TcpStream::connect(address).unwrap());
        let _kept = (listener, fill.collect());
        Self { address, _kept }
    }
}

/// Steps until the attempts have an outcome; the clock stands still.
fn settle(
    connect: &mut Connect,
    poll: &mut Poll,
    now: Instant,
) -> Result<TcpStream, ConnectFailure> {
    let mut events = Events::with_capacity(8);
    loop {
        if let Some(outcome) = connect.step(now, poll.registry(), TOKEN) {
            return outcome;
        }
        poll.poll(&mut events, None).unwrap();
    }
}

#[test]
fn the_next_address_follows_a_refusal_at_once() {
    let (_listener, address) = listener();
    let mut poll = Poll::new().unwrap();
    let now = Instant::now();
    let mut connect = Connect::new(vec![refusing(), address]);
    let socket = settle(&mut connect, &mut poll, now).unwrap();
    assert_eq!(socket.peer_addr().unwrap(), address);
}

#[test]
fn the_next_address_does_not_wait_for_a_silent_one() {
    let silent = Silent::new();
    let (_listener, address) = listener();
    let mut poll = Poll::new().unwrap();
    let now = Instant::now();
    let mut connect = Connect::new(vec![silent.address, address]);
    let registry = poll.registry().try_clone().unwrap();
    assert!(connect.step(now, &registry, TOKEN).is_none());
    assert_eq!(connect.wait(now), Some(NEXT_ADDRESS));
    // The clock has not come so far, whatever wakes us.
    assert!(connect.step(now, &registry, TOKEN).is_none());
    assert_eq!(connect.under_way.len(), 1);
    let then = now + NEXT_ADDRESS;
    assert_eq!(connect.wait(then), Some(Duration::ZERO));
    let socket = settle(&mut connect, &mut poll, then).unwrap();
    assert_eq!(socket.peer_addr().unwrap(), address);
    assert_eq!(connect.wait(then), None, "the last one");
    assert_eq!(connect.under_way.len(), 1, "the silent one goes on");
}

#[test]
fn the_last_failure_is_told_where_no_address_is_left() {
    let mut poll = Poll::new().unwrap();
    let now = Instant::now();
    let mut connect = Connect::new(vec![refusing(), refusing()]);
    let failure = settle(&mut connect, &mut poll, now).map(drop);
    assert_eq!(failure, Err(ConnectFailure::Refused));
    let mut connect = Connect::new(Vec::new());
    let failure = settle(&mut connect, &mut poll, now).map(drop);
    assert_eq!(failure, Err(ConnectFailure::NameNotFound));
}
