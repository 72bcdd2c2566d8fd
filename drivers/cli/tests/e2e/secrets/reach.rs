//! Servers that cannot be reached or trusted.

use super::peer::Peer;
use super::vault::{DIALECTS, KINDS, Places, Vault, id};
use crate::support::{Signal, user};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, DnType, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

/// A server certificate for nobody whose subject says `subject`, trusted by those
/// that trust the file at `path`.
fn certificate(subject: &str, path: &Path) -> Arc<ServerConfig> {
    let mut params = CertificateParams::new(["elsewhere.invalid".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, subject);
    params
        .distinguished_name
        .push(DnType::OrganizationName, subject);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let text = STANDARD.encode(certificate.der());
    let pem = format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n");
    std::fs::write(path, pem).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        );
    Arc::new(config.unwrap())
}

// covers: DEC-30
#[test]
fn no_server_that_cannot_be_trusted_makes_us_tell_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("t5wQ8rLx2N.pem");
    // A route of an entry of every vault.
    let subject = Vault::offline().entries[0]["azure_openai"]["deployment"].clone();
    let subject = subject.as_str().unwrap();
    let stranger = Peer::secure(certificate(subject, &folder.path().join("other.pem")));
    let misnamed = Peer::secure(certificate(subject, &trusted));
    let vault = Vault::new(&Places {
        origins: [&stranger, &misnamed, &misnamed]
            .map(|peer| format!("https://{}", peer.address()))
            .to_vec(),
        trusted: Some((vec![0, 1], trusted)),
    });
    let faults = ["is not trusted", "is for another host", "ca_file"];
    for (group, fault) in faults.into_iter().enumerate() {
        for kind in 0..DIALECTS {
            let n = group * KINDS.len() + kind;
            let mut agent = vault.session(n, &[]);
            agent.send(&user("who is there?"));
            let result = agent.until_type("result");
            let error = result["errors"][0].as_str().unwrap();
            assert!(error.contains(fault), "{}: {error}", id(n));
            let outcome = agent.end();
            vault.judge(&id(n), &outcome);
        }
    }
}

// covers: DEC-30
#[test]
fn no_server_that_is_not_there_makes_us_tell_where_it_should_be() {
    // Nobody listens on this port while it is bound.
    let bound = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = bound.local_addr().unwrap();
    drop(bound);
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("t7kMn2Vb4X.pem");
    certificate("nobody", &trusted);
    let vault = Vault::new(&Places {
        origins: vec![format!("http://{address}")],
        trusted: Some((vec![3], trusted)),
    });
    for group in [0, 3] {
        for kind in 0..DIALECTS {
            let n = group * KINDS.len() + kind;
            let mut agent = vault.session(n, &[]);
            agent.send(&user("is anybody there?"));
            agent.until_said("attempt 1 of 4 failed");
            agent.signal(Signal::TERM);
            let outcome = agent.wait();
            assert_eq!(outcome.status, Some(143), "{}", outcome.stderr);
            vault.judge(&id(n), &outcome);
        }
    }
}
