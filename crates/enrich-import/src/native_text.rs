//! Writes the fields of a CSV row as JSON in Enrich's own import format.

use enrich_mapping::{Field, RecordType};
use serde_json::{Map, Value, json};

use crate::raw::{Fields, Item, csv_site};

/// Returns the record of a CSV row as JSON in Enrich's own import format.
pub(crate) fn native_text(kind: RecordType, fields: &Fields<'_>) -> String {
    let mut record = Map::new();
    record.insert(Field::Type.name().to_owned(), kind.as_str().into());
    let own = Field::native().filter(|field| *field != Field::Type && field.belongs_to(kind));
    for field in own {
        let value = match field {
            Field::Ids => ids(fields),
            _ if is_list(kind, field) => list(field, fields),
            _ => one(field, fields),
        };
        if let Some(value) = value {
            record.insert(field.name().to_owned(), value);
        }
    }
    Value::Object(record).to_string()
}

/// Whether records of a kind can have several values of a field.
fn is_list(kind: RecordType, field: Field) -> bool {
    match field {
        Field::Aliases | Field::Domains | Field::Emails | Field::Phones => true,
        Field::Country
        | Field::LinkedIn
        | Field::Facebook
        | Field::Instagram
        | Field::Twitter
        | Field::Youtube => kind == RecordType::Company,
        _ => false,
    }
}

fn list(field: Field, fields: &Fields<'_>) -> Option<Value> {
    let items = fields.get(field)?.list();
    let mut values: Vec<Value> = items
        .into_iter()
        .filter_map(Item::text)
        .map(|text| match csv_site(&text) {
            (domain, Some(country)) if field == Field::Domains => {
                json!({"domain": domain, "country": country})
            }
            _ => text.as_ref().into(),
        })
        .collect();
    let is_plural =
        matches!(field, Field::Aliases | Field::Domains | Field::Emails | Field::Phones);
    match values.len() {
        0 => None,
        1 if !is_plural => values.pop(),
        _ => Some(Value::Array(values)),
    }
}

fn one(field: Field, fields: &Fields<'_>) -> Option<Value> {
    let text = fields.get(field)?.one().ok()??.text()?;
    match text.parse::<u8>() {
        Ok(number) if field == Field::Confidence => Some(number.into()),
        _ => Some(text.as_ref().into()),
    }
}

/// Returns a company's ids, grouped by scheme (the register or data set that gives the id, such as
/// `lei`). The ids come from two kinds of columns. The column `ids` contains ids as `scheme:id`. A
/// column with the name of a scheme, such as `lei`, contains ids without the scheme.
fn ids(fields: &Fields<'_>) -> Option<Value> {
    let listed = fields.get(Field::Ids).map(|given| given.list()).unwrap_or_default();
    let listed = listed.into_iter().filter_map(Item::text).filter_map(|text| {
        let (scheme, id) = text.split_once(':')?;
        Some((scheme.trim().to_owned(), id.trim().to_owned()))
    });
    let by_column = fields.ids_by_column();
    let by_column =
        by_column.filter_map(|(scheme, item)| Some((scheme.to_owned(), item.text()?.into_owned())));
    let mut schemes = Map::new();
    for (scheme, id) in listed.chain(by_column) {
        let ids = schemes.entry(scheme).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(ids) = ids {
            ids.push(id.into());
        }
    }
    (!schemes.is_empty()).then_some(Value::Object(schemes))
}
