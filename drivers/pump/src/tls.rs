//! The byte transformer between a transport and the codec: nothing at all, or
//! a rustls client fed by slices.
//!
//! rustls brings its own randomness and clock, so simulations run over plain
//! text. The crypto provider is chosen in one function of `trust`.

mod fault;
mod transform;
mod trust;

pub use fault::TlsFault;
pub use transform::{Channel, Received, Transform};
pub use trust::{MAX_CA_FILE_BYTES, TrustStore, check_ca_file, client_config};
