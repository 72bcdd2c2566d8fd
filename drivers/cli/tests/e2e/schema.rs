//! `agentx schema`: what the wire carries, with nothing configured.

use crate::support::{bare, finish};
use serde_json::Value;

fn schema(arguments: &[&str]) -> Value {
    let said = finish(bare(arguments), "");
    assert_eq!((said.status, said.stderr.as_str()), (Some(0), ""));
    assert_eq!(said.stdout.lines().count(), 1);
    assert!(said.stdout.ends_with('\n'));
    serde_json::from_str(&said.stdout).unwrap()
}

// covers: DEC-47
#[test]
fn all_records_stand_in_one_document() {
    let all = schema(&["schema"]);
    assert_eq!(
        all["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let definitions = all["$defs"].as_object().unwrap();
    for direction in ["host_to_agent", "agent_to_host"] {
        let records = definitions[direction]["anyOf"].as_array().unwrap();
        for record in records {
            let name = record["$ref"].as_str().unwrap();
            let name = name.strip_prefix("#/$defs/").unwrap();
            assert!(definitions.contains_key(name), "{name}");
        }
    }
    let mut one = schema(&["schema", "agent.result"]);
    let members = one.as_object_mut().unwrap();
    assert_eq!(members.remove("$schema").as_ref(), all.get("$schema"));
    assert_eq!(members.remove("title").unwrap(), "agent.result");
    assert_eq!(one, definitions["agent.result"]);
    assert_eq!(schema(&["schema", "user"])["title"], "host.user");
}

#[test]
fn an_unknown_record_is_told_what_there_is() {
    for name in ["nothing", "control_request"] {
        let said = finish(bare(&["schema", name]), "");
        assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""));
        let start =
            format!("agentx: error: unknown record \"{name}\": expected one of host.user, ");
        assert!(said.stderr.starts_with(&start), "{}", said.stderr);
        assert!(said.stderr.contains("agent.control_request, "));
    }
}
