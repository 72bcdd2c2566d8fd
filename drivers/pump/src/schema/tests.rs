use super::*;
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use serde_json::json;

fn schema(schema: &Value) -> OutputSchema {
    let text = schema.to_string();
    OutputSchema::parse(text.as_bytes(), &Limits::DEFAULT).unwrap()
}

fn faults(of: &Value, value: &Value) -> Vec<String> {
    let validation = Validation {
        schema: schema(of),
        value: RawJson::parse(&value.to_string()).unwrap(),
    };
    match Schemas::default().validate(&validation) {
        Validity::Fits => Vec::new(),
        Validity::Breaks(faults) => faults,
        Validity::Unknown => panic!("{of} cannot be used"),
    }
}

fn refused(text: &Value) -> String {
    check(&schema(text)).expect_err("the schema is refused")
}

// covers: DEC-42
#[test]
fn a_fault_says_what_and_where_and_quotes_no_value() {
    let of = json!({"type": "object", "properties": {"a": {"type": "array",
        "items": {"type": "integer", "minimum": 3}}, "b": {}}, "required": ["a", "b"],
        "additionalProperties": false});
    assert_eq!(
        faults(&of, &json!({"a": [1, "word-of-the-model"], "c": 2})),
        [
            "\"b\" is a required property",
            "at /a/0: the value is less than the minimum of 3",
            "at /a/1: the value is not of type \"integer\"",
            "Additional properties are not allowed ('c' was unexpected)",
        ]
    );
    assert_eq!(
        faults(&of, &json!({"a": [3], "b": null})),
        Vec::<String>::new()
    );
    let of = json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"required": ["k"]}]}}});
    let [fault] = &faults(&of, &json!({"a": {"z": 1}}))[..] else {
        panic!("one fault");
    };
    assert!(
        fault.contains("not of type \"string\"; at /a: \"k\" is a required"),
        "{fault}"
    );
}

// covers: RT-SCHM-004
#[test]
fn a_schema_that_cannot_be_used_is_refused_and_says_where() {
    for (text, fault) in [
        (
            json!({"properties": {"a": {"type": "objekt"}}}),
            "at /properties/a/type: \"objekt\"",
        ),
        (
            json!({"$defs": {"a": {"minimum": "x"}}}),
            "at /$defs/a/minimum",
        ),
        (
            json!({"properties": {"a": {"pattern": "("}}}),
            "at /properties/a/pattern",
        ),
        (json!({"$ref": "#/$defs/none"}), "/$defs/none"),
        (
            json!({"$schema": "https://example.org/mine"}),
            "https://example.org/mine",
        ),
        (json!({"allOf": [{"$ref": "other.json"}]}), "other.json"),
    ] {
        let told = refused(&text);
        assert!(told.contains(fault), "{text}: {told}");
    }
}

// covers: RT-SCHM-004
#[test]
fn each_draft_is_applied_as_declared() {
    let of = |draft: &str| json!({"$schema": draft, "properties": {"a": {"minimum": 1, "exclusiveMinimum": true}}});
    assert_eq!(
        faults(
            &of("http://json-schema.org/draft-04/schema#"),
            &json!({"a": 1})
        )
        .len(),
        1
    );
    for draft in [
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        assert!(refused(&of(draft)).contains("/properties/a/exclusiveMinimum"));
        let of = json!({"$schema": draft, "properties": {"a": {"const": 1}}});
        assert_eq!(faults(&of, &json!({"a": 2})).len(), 1, "{draft}");
    }
    // Without one: 2020-12, whose tuples are `prefixItems`.
    let of = json!({"properties": {"a": {"prefixItems": [{"type": "string"}]}}});
    assert_eq!(faults(&of, &json!({"a": [1]})).len(), 1);
}

// covers: RT-SCHM-005
#[test]
fn references_stay_inside_the_document() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/schema.json", listener.local_addr().unwrap());
    for text in [
        json!({"$ref": url}),
        json!({"$id": url, "properties": {"a": {"$ref": "sibling.json"}}}),
        json!({"properties": {"a": {"$ref": "file:///etc/hostname"}}}),
    ] {
        assert!(refused(&text).contains("Retrieval is disabled"), "{text}");
    }
    let asked = listener.accept().map(|_| ());
    assert_eq!(asked.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);

    let inside = [
        json!({"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}),
        json!({"$defs": {"n": {"$anchor": "here", "type": "integer"}}, "properties": {"a": {"$ref": "#here"}}}),
        json!({"$id": "https://example.org/whole", "$defs": {"n": {"$id": "part", "type": "integer"}},
            "properties": {"a": {"$ref": "part"}}}),
        json!({"$defs": {"n": {"$dynamicAnchor": "here", "type": "integer"}}, "properties": {"a": {"$dynamicRef": "#here"}}}),
    ];
    for of in inside {
        assert_eq!(faults(&of, &json!({"a": "x"})).len(), 1, "{of}");
        assert!(faults(&of, &json!({"a": 1})).is_empty(), "{of}");
    }
}

// covers: RT-SCHM-006, RT-SCHM-013
#[test]
fn examples_are_data_and_formats_assert_nothing() {
    let of = json!({"examples": [{"type": 3}], "default": {"$ref": "#/none"},
        "properties": {"mail": {"format": "email"}}});
    assert!(faults(&of, &json!({"mail": "nobody"})).is_empty());
    let of = json!({"$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"mail": {"format": "email"}}});
    assert!(faults(&of, &json!({"mail": "nobody"})).is_empty());
    // What a reference points to is a schema, wherever it stands.
    assert!(
        !refused(&json!({"default": {"type": 3}, "properties": {"a": {"$ref": "#/default"}}}))
            .is_empty()
    );
}

// covers: RT-SCHM-007
#[test]
fn unions_boolean_schemas_and_conditions_hold() {
    let of = json!({"properties": {"a": {"type": ["string", "null"]}, "no": false, "yes": true},
        "if": {"required": ["b"]}, "then": {"required": ["a"]}});
    assert!(faults(&of, &json!({"a": null, "yes": [1]})).is_empty());
    assert_eq!(faults(&of, &json!({"a": 1})).len(), 1);
    assert_eq!(faults(&of, &json!({"no": 1})).len(), 1);
    assert_eq!(faults(&of, &json!({"b": 1})).len(), 1);
}

// covers: RT-SCHM-008
#[test]
fn patterns_run_in_linear_time_or_are_refused() {
    for pattern in [
        "(a)\\1",
        "^(?=a)",
        "(?<!a)b",
        "((a{1,1000}){1,1000}){1,1000}",
    ] {
        let told = refused(&json!({"properties": {"a": {"pattern": pattern}}}));
        assert!(told.contains("pattern"), "{pattern}: {told}");
    }
    let of = json!({"properties": {"a": {"pattern": "^(a+)+$"}}});
    assert_eq!(
        faults(&of, &json!({"a": "a".repeat(100_000) + "!"})).len(),
        1
    );
}

// covers: RT-SCHM-008
#[test]
fn recursion_ends_and_fits_the_stack() {
    for of in [
        json!({"$ref": "#"}),
        json!({"not": {"$ref": "#"}}),
        json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
            "properties": {"x": {"$ref": "#/$defs/a"}}}),
    ] {
        let _ = faults(&of, &json!({"x": 1}));
    }
    let limits = Limits::DEFAULT;
    let mut deep = json!({});
    for _ in 1..limits.structured_depth {
        deep = json!({"a": deep});
    }
    // As many subschemas as there may be, each inside the one before it. A link
    // takes three nodes.
    for link in ["allOf", "anyOf", "oneOf"] {
        let links = limits.schema_nodes / 3 - 4;
        let reference = |n: usize| json!({"$ref": format!("#/$defs/d{n}")});
        let mut definitions = serde_json::Map::new();
        for n in 0..links {
            definitions.insert(format!("d{n}"), json!({link: [reference(n + 1)]}));
        }
        definitions.insert(
            format!("d{links}"),
            json!({"properties": {"a": reference(0)}}),
        );
        let of = json!({"$defs": definitions, "$ref": "#/$defs/d0"});
        check(&schema(&of)).unwrap();
        let deep = deep.clone();
        let run = move || faults(&of, &deep);
        let run = thread::Builder::new().stack_size(STACK_BYTES).spawn(run);
        assert_eq!(run.unwrap().join().unwrap(), Vec::<String>::new(), "{link}");
    }
}

#[test]
fn a_number_that_no_machine_number_comes_near_is_a_fault() {
    let validation = Validation {
        schema: schema(&json!({})),
        value: RawJson::parse("{\"a\": 1e999}").unwrap(),
    };
    let Validity::Breaks(faults) = Schemas::default().validate(&validation) else {
        panic!("1e999 is out of range");
    };
    assert!(faults[0].contains("number out of range"), "{faults:?}");
}

#[test]
fn the_newest_schema_is_compiled_once() {
    let schemas = Schemas::default();
    let (one, two) = (
        schema(&json!({"title": "one"})),
        schema(&json!({"title": "two"})),
    );
    let first = schemas.validator(&one).unwrap();
    assert!(Arc::ptr_eq(&first, &schemas.validator(&one).unwrap()));
    let second = schemas.validator(&two).unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
    assert!(Arc::ptr_eq(&second, &schemas.validator(&two).unwrap()));
    assert!(
        schemas
            .validator(&schema(&json!({"type": "object", "minProperties": "x"})))
            .is_none()
    );
}
