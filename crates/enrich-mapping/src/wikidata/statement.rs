//! The statements of an entity that count: current ones, the preferred first.

use serde_json::{Map, Value};

/// A statement's value with its qualifiers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) value: &'a Value,
    all: &'a Value,
}

impl<'a> Statement<'a> {
    /// The values of a qualifier.
    pub(crate) fn qualifiers(&self, property: &str) -> Vec<&'a Value> {
        let snaks = self.snaks(property);
        snaks.iter().filter_map(|snak| snak.get("datavalue")?.get("value")).collect()
    }

    fn snaks(&self, property: &str) -> &'a [Value] {
        let qualifiers = self.all.get("qualifiers").and_then(|all| all.get(property));
        qualifiers.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Whether it has an end time (P582), known or not.
    fn has_ended(&self) -> bool {
        !self.snaks("P582").is_empty()
    }

    fn is_preferred(&self) -> bool {
        self.all.get("rank").and_then(Value::as_str) == Some("preferred")
    }
}

/// The statements of a property that have a value and are not deprecated, the preferred first.
/// Statements that have ended are left out unless there are no others.
pub(crate) fn statements<'a>(claims: &'a Map<String, Value>, property: &str) -> Vec<Statement<'a>> {
    let all = claims.get(property).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let read = |all: &'a Value| {
        let snak = all.get("mainsnak")?;
        let is_value = snak.get("snaktype").and_then(Value::as_str) == Some("value");
        let is_deprecated = all.get("rank").and_then(Value::as_str) == Some("deprecated");
        let value = snak.get("datavalue")?.get("value")?;
        (is_value && !is_deprecated).then_some(Statement { value, all })
    };
    let valid: Vec<Statement<'a>> = all.iter().filter_map(read).collect();
    let current: Vec<Statement<'a>> =
        valid.iter().copied().filter(|statement| !statement.has_ended()).collect();
    let mut chosen = if current.is_empty() { valid } else { current };
    chosen.sort_by_key(|statement| !statement.is_preferred());
    chosen
}

/// The id of the item that a value names: `id`, or `numeric-id` in old dumps.
pub(crate) fn item(value: &Value) -> Option<String> {
    if let Some(id) = value.get("id").and_then(Value::as_str) {
        return Some(id.to_owned());
    }
    value.get("numeric-id").and_then(Value::as_u64).map(|number| format!("Q{number}"))
}
