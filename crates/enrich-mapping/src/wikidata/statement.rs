//! Selects the statements of an entity that are valid now. Statements with Wikidata's preferred
//! rank come first.

use serde_json::{Map, Value};

/// The value of a statement, with the statement's qualifiers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) value: &'a Value,
    all: &'a Value,
}

impl<'a> Statement<'a> {
    /// Returns the values of the qualifier with this property.
    pub(crate) fn qualifiers(&self, property: &str) -> Vec<&'a Value> {
        let snaks = self.snaks(property);
        snaks.iter().filter_map(|snak| snak.get("datavalue")?.get("value")).collect()
    }

    fn snaks(&self, property: &str) -> &'a [Value] {
        let qualifiers = self.all.get("qualifiers").and_then(|all| all.get(property));
        qualifiers.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Whether the statement has an end time (P582), even if the time itself is unknown.
    fn has_ended(&self) -> bool {
        !self.snaks("P582").is_empty()
    }

    fn is_preferred(&self) -> bool {
        self.all.get("rank").and_then(Value::as_str) == Some("preferred")
    }
}

/// Returns the statements of a property that have a value and are not deprecated; preferred ones
/// come first. Leaves out statements that have ended. If all have ended, returns all of them.
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

/// Whether the entity has a statement of this property that is not deprecated. The value may be
/// unknown (`somevalue`), but a statement that there is no value (`novalue`) does not count.
pub(crate) fn is_said(claims: &Map<String, Value>, property: &str) -> bool {
    let all = claims.get(property).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    all.iter().any(|statement| {
        let text = |pointer| statement.pointer(pointer).and_then(Value::as_str);
        text("/rank") != Some("deprecated") && text("/mainsnak/snaktype") != Some("novalue")
    })
}

/// Returns the id of the item that a value refers to. The id is in `id`, or in old dumps in
/// `numeric-id`.
pub(crate) fn item(value: &Value) -> Option<String> {
    if let Some(id) = value.get("id").and_then(Value::as_str) {
        return Some(id.to_owned());
    }
    value.get("numeric-id").and_then(Value::as_u64).map(|number| format!("Q{number}"))
}
