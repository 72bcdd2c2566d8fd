//! A TLS server in memory and everything between it and an exchange.

use crate::support::{Outcome, Random, post};
use agentx_core::machine::Machine;
use agentx_core::time::Instant;
use agentx_providers::http::{HttpRequest, Scheme};
use agentx_pump::http1::{Exchange, Input, Limits, Output};
use agentx_pump::tls::client_config;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection};
use rustls::{SupportedProtocolVersion, version};
use std::io::{Read, Write};
use std::sync::Arc;

pub(crate) const VERSIONS: [&SupportedProtocolVersion; 2] = [&version::TLS12, &version::TLS13];

/// A certificate authority of one test.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named("the usual authority")
    }

    pub(crate) fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        let text = STANDARD.encode(self.0.der());
        format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
    }

    /// A client that trusts this authority alone.
    pub(crate) fn client(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        client_config(roots).unwrap()
    }

    /// A server for `localhost` and 127.0.0.1 that offers HTTP/1.1.
    pub(crate) fn server(&self, version: &'static SupportedProtocolVersion) -> ServerConnection {
        self.server_with(version, "http/1.1", |_| {})
    }

    /// A server that offers `protocol`, under a certificate as `change` leaves it.
    pub(crate) fn server_with(
        &self,
        version: &'static SupportedProtocolVersion,
        protocol: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> ServerConnection {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        // A server may answer before it has seen the client's end of the handshake.
        config.send_half_rtt_data = true;
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        ServerConnection::new(Arc::new(config)).unwrap()
    }
}

/// A request with a body to `localhost` over TLS.
pub(crate) fn secure_post(body: impl Into<Vec<u8>>) -> HttpRequest {
    HttpRequest {
        scheme: Scheme::Https,
        host: "localhost".to_owned(),
        port: 443,
        ..post(body)
    }
}

/// How bytes are cut on their way.
pub(crate) enum Cuts {
    /// As they were written.
    Whole,
    /// Byte by byte.
    Single,
    /// At random.
    Random(Random),
}

impl Cuts {
    fn next(&mut self, available: usize) -> usize {
        match self {
            Self::Whole => available,
            Self::Single => 1,
            Self::Random(random) => 1 + random.below(available),
        }
    }
}

/// An exchange, a server, and the two streams between them.
pub(crate) struct Session {
    pub(crate) exchange: Exchange,
    pub(crate) outcome: Outcome,
    pub(crate) server: ServerConnection,
    /// Bytes on their way to the exchange.
    pub(crate) to_client: Vec<u8>,
    /// Bytes on their way to the server.
    pub(crate) to_server: Vec<u8>,
    /// What the server has read.
    pub(crate) asked: Vec<u8>,
    /// How the server's side of TLS ended, if it did.
    pub(crate) server_error: Option<rustls::Error>,
    pub(crate) now: Instant,
    pub(crate) cuts: Cuts,
}

impl Session {
    /// A session that is connected, the first bytes on their way.
    pub(crate) fn new(
        request: HttpRequest,
        client: Arc<ClientConfig>,
        server: ServerConnection,
        cuts: Cuts,
    ) -> Self {
        let exchange =
            Exchange::new(Instant::ZERO, request, None, Some(client), &Limits::DEFAULT).unwrap();
        let mut session = Self {
            exchange,
            outcome: Outcome::default(),
            server,
            to_client: Vec::new(),
            to_server: Vec::new(),
            asked: Vec::new(),
            server_error: None,
            now: Instant::ZERO,
            cuts,
        };
        session.input(Input::Connected);
        session
    }

    /// A session in the common case.
    pub(crate) fn usual(
        version: &'static SupportedProtocolVersion,
        body: &str,
        cuts: Cuts,
    ) -> Self {
        let authority = Authority::new();
        let server = authority.server(version);
        Self::new(secure_post(body), authority.client(), server, cuts)
    }

    /// Feeds the exchange and takes what it says.
    #[track_caller]
    pub(crate) fn input(&mut self, input: Input<'_>) {
        self.exchange.handle(self.now, input).unwrap();
        while let Some(output) = self.exchange.poll() {
            if let Output::Write(bytes) = &output {
                self.to_server.extend(bytes);
            }
            self.outcome.note(output);
        }
    }

    /// Delivers what is on its way to the server; the exchange learns of it.
    pub(crate) fn deliver_to_server(&mut self) {
        while !self.to_server.is_empty() {
            let count = self.cuts.next(self.to_server.len());
            let piece: Vec<u8> = self.to_server.drain(..count).collect();
            let mut rest = piece.as_slice();
            while !rest.is_empty() && self.server_error.is_none() {
                self.server.read_tls(&mut rest).unwrap();
                self.server_error = self.server.process_new_packets().err();
                let mut plain = Vec::new();
                // It would block where the plaintext ends.
                let _ = self.server.reader().read_to_end(&mut plain);
                self.asked.extend(plain);
            }
            if !self.exchange.is_over() {
                self.input(Input::Wrote(count));
            }
        }
        self.server_writes();
    }

    /// Puts what the server has to say on its way.
    pub(crate) fn server_writes(&mut self) {
        while self.server.wants_write() {
            self.server.write_tls(&mut self.to_client).unwrap();
        }
    }

    /// Delivers what is on its way to the exchange, until it is over.
    pub(crate) fn deliver_to_client(&mut self) {
        while !self.to_client.is_empty() && !self.exchange.is_over() {
            let count = self.cuts.next(self.to_client.len());
            let piece: Vec<u8> = self.to_client.drain(..count).collect();
            self.input(Input::Bytes(&piece));
        }
    }

    /// Lets bytes flow both ways until none is left.
    pub(crate) fn settle(&mut self) {
        loop {
            self.deliver_to_server();
            if self.to_client.is_empty() || self.exchange.is_over() {
                break;
            }
            self.deliver_to_client();
        }
        self.deliver_to_server();
    }

    /// The server says `plain`; it is encrypted and on its way.
    pub(crate) fn say(&mut self, plain: impl AsRef<[u8]>) {
        self.server.writer().write_all(plain.as_ref()).unwrap();
        self.server_writes();
    }

    /// The server closes the channel in order.
    pub(crate) fn say_goodbye(&mut self) {
        self.server.send_close_notify();
        self.server_writes();
    }
}
