//! Over TLS.

use crate::Request;
use crate::support::{Server, answer, ask, read_request, stream};
use agentx_core::model::ErrorCategory;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A certificate authority of one test.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// Writes its certificate to a file in `folder`.
    pub(crate) fn write_to(&self, folder: &Path) -> PathBuf {
        let text = STANDARD.encode(self.0.der());
        let path = folder.join("ca.pem");
        let pem = format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n");
        std::fs::write(&path, pem).unwrap();
        path
    }

    /// What a server for `localhost` needs.
    fn server(&self) -> Arc<ServerConfig> {
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Arc::new(config)
    }
}

/// Asks a server under `authority` with `ca_file`, where the handshake may fail.
fn ask_secure(
    request: Request,
    authority: &Authority,
    ca_file: Option<&Path>,
    serve: impl FnOnce(StreamOwned<ServerConnection, TcpStream>) + Send + 'static,
) -> crate::support::Told {
    let config = authority.server();
    let server = Server::start([Box::new(move |socket| {
        let connection = ServerConnection::new(config).unwrap();
        serve(StreamOwned::new(connection, socket));
    }) as _]);
    let told = ask(
        request,
        &format!("https://localhost:{}/v1", server.port),
        ca_file,
        "hi",
    );
    server.join();
    told
}

/// See [`crate::tests`].
pub fn an_answer_is_told(request: Request) {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca_file = authority.write_to(folder.path());
    let told = ask_secure(request, &authority, Some(&ca_file), |mut channel| {
        read_request(&mut channel);
        let text = answer(&stream(["good ", "day"]));
        channel.write_all(text.as_bytes()).unwrap();
        channel.conn.send_close_notify();
        // The other side may be gone once it has the whole answer.
        let _ = channel.flush();
    });
    told.finished("good day");
}

/// See [`crate::tests`].
pub fn a_server_that_nobody_we_trust_vouches_for_learns_nothing(request: Request) {
    let folder = tempfile::tempdir().unwrap();
    let other = Authority::new().write_to(folder.path());
    let told = ask_secure(request, &Authority::new(), Some(&other), |mut channel| {
        let handshake = channel.conn.complete_io(&mut channel.sock);
        assert!(handshake.is_err(), "the certificate is refused");
    });
    let failure = told.failure();
    assert_eq!(failure.category, ErrorCategory::Unknown);
    assert!(
        failure.message.contains("certificate"),
        "{}",
        failure.message
    );
    assert_eq!(told.warnings, [""; 0], "and it is not tried again");
}
