//! What `docs/compat.md` says of clients is held by drivers and tests that are
//! there.

use crate::complain;
use agentx_conformance::{compat, tree};

#[test]
fn facts_about_clients_are_held_by_what_they_name() {
    let files = tree::files(&tree::root()).unwrap();
    complain(&compat::audit(&files));
}
