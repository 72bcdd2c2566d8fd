//! Whom we trust, and the one place that chooses the crypto provider.

use super::fault::TlsFault;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest `ca_file`, in bytes.
pub const MAX_CA_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The client configurations of this process, one per `ca_file`, each loaded
/// when it is first asked for. Sharing them lets sessions resume.
#[derive(Debug)]
pub struct TrustStore {
    /// Folders of the system's roots.
    system: Vec<PathBuf>,
    loaded: Mutex<Loaded>,
}

impl Default for TrustStore {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug, Default)]
struct Loaded {
    system: Option<RootCertStore>,
    configs: BTreeMap<Option<PathBuf>, Arc<ClientConfig>>,
}

impl TrustStore {
    /// A store that has loaded nothing yet.
    #[must_use]
    pub fn new() -> Self {
        let folders = openssl_probe::candidate_cert_dirs();
        Self::beside(folders.map(Path::to_path_buf).collect())
    }

    /// The same for a system whose roots lie in these folders. They are looked
    /// into where the environment names roots of its own.
    #[must_use]
    pub fn beside(system: Vec<PathBuf>) -> Self {
        let loaded = Mutex::default();
        Self { system, loaded }
    }

    /// The configuration that trusts the system's roots, those that
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR` name, and those in `ca_file`. Reads files the first time, so call it where blocking is
    /// allowed. A failure is not remembered.
    ///
    /// # Errors
    ///
    /// [`TlsFault::CaFile`] when the file gives no certificate, and
    /// [`TlsFault::NoRoots`] when there is no root at all; a system store that
    /// is readable in part is used for that part.
    pub fn config(&self, ca_file: Option<&Path>) -> Result<Arc<ClientConfig>, TlsFault> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let key = ca_file.map(Path::to_path_buf);
        if let Some(config) = loaded.configs.get(&key) {
            return Ok(Arc::clone(config));
        }
        let own = ca_file.map(read_ca_file).transpose()?;
        let system = loaded
            .system
            .get_or_insert_with(|| system_roots(&self.system));
        let mut roots = system.clone();
        if let Some(certificates) = own {
            let (added, _) = roots.add_parsable_certificates(certificates);
            if added == 0 {
                return Err(TlsFault::CaFile);
            }
        }
        if system.is_empty() {
            // Look again next time: the store may have been filled by then.
            loaded.system = None;
        }
        let config = client_config(roots)?;
        loaded.configs.insert(key, Arc::clone(&config));
        Ok(config)
    }
}

/// A client that trusts `roots` and offers HTTP/1.1 alone.
///
/// The only place that names the provider: a process default would be
/// ambiguous as soon as another crate of a host brings a second one.
///
/// # Errors
///
/// [`TlsFault::NoRoots`] without any root.
pub fn client_config(roots: RootCertStore) -> Result<Arc<ClientConfig>, TlsFault> {
    if roots.is_empty() {
        return Err(TlsFault::NoRoots);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsFault::from(&error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Whether a `ca_file` can be used, before anything depends on it.
///
/// # Errors
///
/// What is wrong with it, in words that follow its name.
pub fn check_ca_file(path: &Path) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    let about = fs::metadata(path).map_err(told)?;
    if !about.is_file() {
        return Err("not a regular file".to_owned());
    }
    if about.len() > MAX_CA_FILE_BYTES {
        return Err(format!("over {MAX_CA_FILE_BYTES} bytes"));
    }
    File::open(path).map_err(told)?;
    let certificates = read_ca_file(path).unwrap_or_default();
    let (usable, _) = RootCertStore::empty().add_parsable_certificates(certificates);
    if usable == 0 {
        return Err("no certificate in PEM form".to_owned());
    }
    Ok(())
}

/// Roots of the system and of the environment. The library takes the latter
/// for the whole, so the folders of the system come beside them.
fn system_roots(folders: &[PathBuf]) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let named = |variable| std::env::var_os(variable).is_some();
    if named("SSL_CERT_FILE") || named("SSL_CERT_DIR") {
        for folder in folders {
            let found = rustls_native_certs::load_certs_from_paths(None, Some(folder));
            roots.add_parsable_certificates(found.certs);
        }
    }
    roots
}

fn read_ca_file(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFault> {
    let fault = |_| TlsFault::CaFile;
    // Looked at before it is opened: opening a pipe would wait for a writer.
    let about = fs::metadata(path).map_err(fault)?;
    if !about.is_file() || about.len() > MAX_CA_FILE_BYTES {
        return Err(TlsFault::CaFile);
    }
    let mut text = Vec::new();
    File::open(path)
        .map_err(fault)?
        .take(MAX_CA_FILE_BYTES)
        .read_to_end(&mut text)
        .map_err(fault)?;
    CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|_| TlsFault::CaFile)
}
