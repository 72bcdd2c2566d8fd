//! A server that means no good, on loopback.

use crate::server::{Request, read_request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, DnType, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
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

/// A certificate of another host that signed itself, whose subject says `subject`:
/// what a server needs, and what those need that trust it.
pub(crate) fn certificate(subject: &str) -> (Arc<ServerConfig>, String) {
    let mut params = CertificateParams::new(["elsewhere.invalid".to_owned()]).unwrap();
    for name in [DnType::CommonName, DnType::OrganizationName] {
        params.distinguished_name.push(name, subject);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let text = STANDARD.encode(certificate.der());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        );
    let pem = format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n");
    (Arc::new(config.unwrap()), pem)
}
