//! Which roots are trusted, and when that is an error.

use crate::session::{Authority, Cuts, Session, VERSIONS, secure_post};
use agentx_pump::tls::{MAX_CA_FILE_BYTES, TlsFault, TrustStore, client_config};
use rustls::RootCertStore;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Marks a copy of this test program that was started with `SSL_CERT_FILE`.
const CHILD: &str = "AGENTX_PUMP_TRUST_CHILD";

fn in_file(text: impl AsRef<[u8]>) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    file
}

/// Runs `test` again in a process whose system store is `store`.
fn run_with_store(test: &str, store: &Path, kind: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("SSL_CERT_FILE", store)
        .env_remove("SSL_CERT_DIR")
        .env(CHILD, kind)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{kind}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("1 passed"), "{text}");
}

/// A handshake with a server under `authority` and the roots of `ca_file`.
fn reaches(store: &TrustStore, authority: &Authority, ca_file: Option<&Path>) -> bool {
    let client = store.config(ca_file).unwrap();
    let server = authority.server(VERSIONS[1]);
    let mut session = Session::new(secure_post("question"), client, server, Cuts::Whole);
    session.settle();
    !session.asked.is_empty()
}

#[test]
fn the_system_store_follows_the_environment() {
    let system = tempfile::tempdir().unwrap();
    let store = TrustStore::beside(vec![system.path().to_path_buf()]);
    match std::env::var(CHILD).as_deref() {
        Ok("empty") => {
            assert_eq!(store.config(None).err(), Some(TlsFault::NoRoots));
            // The entry's own file is enough, and the failure was not kept.
            let authority = Authority::new();
            let own = in_file(authority.pem());
            assert!(reaches(&store, &authority, Some(own.path())));
            assert_eq!(store.config(None).err(), Some(TlsFault::NoRoots));
            // Nor is it once the store has been filled.
            let system = std::env::var("SSL_CERT_FILE").unwrap();
            fs::write(system, authority.pem()).unwrap();
            assert!(reaches(&store, &authority, None));
        }
        Ok("partly usable") => {
            assert!(store.config(None).is_ok());
            let first = store.config(None).unwrap();
            assert!(
                Arc::ptr_eq(&first, &store.config(None).unwrap()),
                "loaded once"
            );
            let authority = Authority::new();
            assert!(!reaches(&store, &authority, None));
            let own = in_file(authority.pem());
            assert!(reaches(&store, &authority, Some(own.path())));
            assert!(
                !reaches(&store, &authority, None),
                "one entry's roots are its own"
            );
        }
        Ok("beside") => {
            let named = std::env::var("SSL_CERT_FILE").unwrap();
            let (of_system, of_file) = (Authority::new(), Authority::new());
            fs::write(system.path().join("root.pem"), of_system.pem()).unwrap();
            fs::write(named, of_file.pem()).unwrap();
            let own = in_file(Authority::new().pem());
            for ca_file in [None, Some(own.path())] {
                assert!(reaches(&store, &of_system, ca_file), "{ca_file:?}");
                assert!(reaches(&store, &of_file, ca_file), "{ca_file:?}");
            }
            assert!(!reaches(&store, &Authority::new(), None));
        }
        _ => {
            let test = "trust::the_system_store_follows_the_environment";
            run_with_store(test, in_file("").path(), "empty");
            run_with_store(test, in_file("").path(), "beside");
            let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
            let usable = format!("{junk}{}", Authority::new().pem());
            run_with_store(test, in_file(usable).path(), "partly usable");
        }
    }
}

#[test]
fn a_ca_file_without_a_certificate_is_told() {
    let store = TrustStore::new();
    let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let most = usize::try_from(MAX_CA_FILE_BYTES).unwrap();
    let mut too_large = Authority::new().pem().into_bytes();
    too_large.resize(most + 1, b'\n');
    let fits = in_file(&too_large[..most]);
    assert!(store.config(Some(fits.path())).is_ok());
    let broken = "-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n";
    for text in [
        b"".as_slice(),
        b"no pem",
        junk.as_bytes(),
        broken.as_bytes(),
        &too_large,
    ] {
        let file = in_file(text);
        assert_eq!(
            store.config(Some(file.path())).err(),
            Some(TlsFault::CaFile)
        );
    }
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), &folder.path().join("absent")] {
        assert_eq!(store.config(Some(path)).err(), Some(TlsFault::CaFile));
    }
}

#[test]
fn no_root_is_no_configuration() {
    assert_eq!(
        client_config(RootCertStore::empty()).err(),
        Some(TlsFault::NoRoots)
    );
}
