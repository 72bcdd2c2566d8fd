//! Servers that cannot be reached or trusted.

use super::peer::{Peer, certificate};
use super::vault::{DIALECTS, KINDS, Places, Vault, id};
use crate::support::{Signal, user};
use std::net::TcpListener;

// covers: DEC-30
#[test]
fn no_server_that_cannot_be_trusted_makes_us_tell_where_it_is() {
    // A route of an entry of every vault.
    let subject = Vault::offline().entries[0]["azure_openai"]["deployment"].clone();
    let (unknown, _) = certificate(subject.as_str().unwrap());
    let (misnamed, pem) = certificate(subject.as_str().unwrap());
    let peers = [Peer::secure(unknown), Peer::secure(misnamed)];
    let origins = peers.each_ref();
    let vault = Vault::new(&Places {
        origins: origins
            .map(|peer| format!("https://{}", peer.address()))
            .to_vec(),
        trusted: Some((1, pem)),
    });
    for (group, fault) in ["is not trusted", "is for another host"]
        .into_iter()
        .enumerate()
    {
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
    // This is found out before any dialect matters.
    for kind in [0, 3] {
        let path = vault.entries[kind]["ca_file"].as_str().unwrap();
        for text in [Some("no certificate"), None] {
            match text {
                Some(text) => std::fs::write(path, text).unwrap(),
                None => std::fs::remove_file(path).unwrap(),
            }
            let outcome = vault.run(&["-p", "--provider", &id(kind), "x"], "");
            assert_eq!(outcome.status, Some(2), "{}", outcome.stderr);
            assert!(outcome.stderr.contains("ca_file: "), "{}", outcome.stderr);
            vault.judge(&id(kind), &outcome);
        }
    }
}

// covers: DEC-30
#[test]
fn no_server_that_is_not_there_makes_us_tell_where_it_should_be() {
    // Nobody listens on a port that was just given back.
    let bound = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = bound.local_addr().unwrap();
    drop(bound);
    let vault = Vault::new(&Places {
        origins: vec![format!("http://{address}")],
        trusted: None,
    });
    // The second group has names that do not exist.
    for group in [0, 1] {
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
