//! Environment updates (DEC-22).

use super::{Inbound, ParseContext};
use crate::json::{Object, Value};
use crate::schema::declare::{Member, Shape, Spelling};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::ops::{Deref, DerefMut};

/// Variables for tool children, by name (DEC-22).
///
/// A value may be a secret of the host, so printing shows the names alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl From<BTreeMap<String, String>> for Environment {
    fn from(variables: BTreeMap<String, String>) -> Self {
        Self(variables)
    }
}

impl Deref for Environment {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Environment {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl IntoIterator for Environment {
    type Item = (String, String);
    type IntoIter = alloc::collections::btree_map::IntoIter<String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Variables that steer where code, programs, certificates or connections of a
/// child come from. Compared in upper case.
const REFUSED_NAMES: [&str; 22] = [
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "FTP_PROXY",
    "GCONV_PATH",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_NO_VERIFY",
    "GLIBC_TUNABLES",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "NO_PROXY",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "PATH",
    "PYTHONHTTPSVERIFY",
    "REQUESTS_CA_BUNDLE",
    "SSLKEYLOGFILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// Families of such variables.
const REFUSED_PREFIXES: [&str; 3] = ["AGENTX_", "DYLD_", "LD_"];

/// The variables, under their name or its alias.
const VARIABLES: Member = Member::aliased(
    "variables",
    "environment_variables",
    Shape::Named(Spelling::VariableName, &Shape::Spelled(Spelling::NoNul)),
);

/// An environment update, as schemas tell it. Which names are refused, and how
/// much is too much, stands beside it (DEC-22).
pub(super) const SHAPE: Shape = Shape::Open(&Shape::Object(&[
    Member::constant("type", "\"update_environment_variables\""),
    VARIABLES,
]));

pub(super) fn parse(record: Object<'_>, context: &ParseContext<'_>) -> Inbound {
    match read(record, context) {
        Ok(variables) => Inbound::UpdateEnvironment(variables),
        Err(reason) => Inbound::EnvironmentRefused { reason },
    }
}

fn read(record: Object<'_>, context: &ParseContext<'_>) -> Result<Environment, String> {
    let limits = context.limits;
    let named = VARIABLES.of(record);
    let named = named.ok_or("environment update: missing variables")?;
    let named = named
        .as_object()
        .ok_or("environment update: variables must be an object")?;
    if named.len() > limits.environment_entries {
        let limit = limits.environment_entries;
        return Err(format!("environment update: more than {limit} variables"));
    }
    let mut variables = Environment::default();
    let mut bytes = 0_usize;
    for (name, value) in named {
        let name = name.decode_lossy();
        let value = read_value(&name, value, context)?;
        bytes = bytes.saturating_add(name.len()).saturating_add(value.len());
        variables.insert(name.into_owned(), value);
    }
    if bytes > limits.environment_bytes {
        let limit = limits.environment_bytes;
        return Err(format!("environment update: more than {limit} bytes"));
    }
    Ok(variables)
}

fn read_value(name: &str, value: Value<'_>, context: &ParseContext<'_>) -> Result<String, String> {
    let shown = || context.shown(name);
    if !Spelling::VariableName.fits(name) {
        return Err(format!("environment update: invalid name \"{}\"", shown()));
    }
    if is_refused(name) {
        return Err(format!("environment update: {} may not be set", shown()));
    }
    value
        .as_str()
        .and_then(|value| value.decode().ok())
        .filter(|value| Spelling::NoNul.fits(value))
        .map(|value| value.into_owned())
        .ok_or_else(|| {
            format!(
                "environment update: {} must be a string without NUL",
                shown()
            )
        })
}

fn is_refused(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    REFUSED_NAMES.contains(&&*name) || REFUSED_PREFIXES.iter().any(|p| name.starts_with(p))
}
