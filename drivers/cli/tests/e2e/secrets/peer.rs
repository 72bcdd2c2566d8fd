//! A server that means no good, on loopback.

use crate::server::{Request, read_request};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Serves each connection on a thread of its own until it is dropped.
pub(crate) struct Peer {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peer {
    /// Answers each request with these pieces, then closes.
    pub(crate) fn answering(
        answer: impl Fn(&Request) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self::start(move |mut socket| {
            let request = read_request(&socket);
            for piece in answer(&request) {
                // The other side may have heard enough.
                if socket.write_all(piece.as_bytes()).is_err() {
                    break;
                }
            }
        })
    }

    /// Shakes hands with this certificate, and says no more.
    pub(crate) fn secure(config: Arc<ServerConfig>) -> Self {
        Self::start(move |mut socket| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut channel = StreamOwned::new(connection, &mut socket);
            drop(channel.conn.complete_io(&mut channel.sock));
        })
    }

    fn start(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let serve = Arc::new(serve);
        let thread = thread::spawn(move || {
            let mut peers = Vec::new();
            loop {
                let (socket, _) = listener.accept().unwrap();
                if ended.load(Ordering::SeqCst) {
                    break;
                }
                let serve = Arc::clone(&serve);
                peers.push(thread::spawn(move || serve(socket)));
            }
            for peer in peers {
                peer.join().unwrap();
            }
        });
        Self {
            address,
            over,
            thread: Some(thread),
        }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking());
    }
}
