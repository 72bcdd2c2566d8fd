//! Schemas of structured output, as they become the input of a tool.

use agentx_core::limits::Limits;
use agentx_core::structured::{OutputSchema, TOOL};
use serde_json::Value;

/// The text of a schema. One that is taken is an object, and so is what the
/// model is offered, with nothing but a `type` more.
pub fn target(data: &[u8]) {
    let Ok(schema) = OutputSchema::parse(data, &Limits::DEFAULT) else {
        return;
    };
    assert!(schema.as_raw().is_object());
    let again = OutputSchema::parse(schema.as_raw().as_str().as_bytes(), &Limits::DEFAULT);
    assert_eq!(again.as_ref(), Ok(&schema));
    let tool = schema.tool();
    assert_eq!(&*tool.name, TOOL);
    let read = |text: &str| serde_json::from_str::<Value>(text);
    // serde_json has bounds of its own, for numbers.
    let (Ok(mut given), Ok(offered)) = (
        read(schema.as_raw().as_str()),
        read(tool.input_schema.as_str()),
    ) else {
        return;
    };
    assert_eq!(offered["type"], "object");
    if let Some(given) = given.as_object_mut() {
        given.insert("type".into(), "object".into());
    }
    assert_eq!(given, offered);
}
