//! Parses a company's ids in registers and data sets.
//!
//! In JSON, `ids` is an object with an id, or a list of ids, for each scheme. In CSV, each known
//! scheme may have a column. In both formats, `ids` may also be a list of texts such as `lei:…`.

use enrich_text::{ExternalId, InvalidExternalId};
use serde_json::value::RawValue;

use crate::limits::MAX_LIST_VALUES;
use crate::object::Object;
use crate::raw::{Item, Raw};
use crate::rejection::BadValue;
use crate::value::{Values, parse_item};
use enrich_mapping::Field;
use enrich_mapping::plain_name;

/// Returns the scheme (the register or data set, such as `lei`) of the ids that a CSV column
/// contains. Returns `None` if the column's name is not a scheme. A scheme of two letters must be
/// written in lower case and without punctuation: `no` is Norway's register, but a column `No.`
/// usually has numbers.
pub(crate) fn scheme_of_column(column: &str) -> Option<&'static str> {
    let plain = plain_name(column);
    let mut known = ExternalId::known_schemes();
    known.find(|scheme| *scheme == column || (scheme.len() > 2 && *scheme == plain))
}

impl Values<'_, '_> {
    /// Returns a company's ids. Ids that can't be read are left out, and counted in the notes as
    /// dropped values.
    pub(crate) fn ids(&mut self) -> Vec<ExternalId> {
        let mut ids = Vec::new();
        let items = self.fields.get(Field::Ids).map(|given| given.list()).unwrap_or_default();
        for item in items {
            match &item {
                Item::Object(object) => self.ids_by_scheme(object, &mut ids),
                item => self.add_id(item, ExternalId::from_text, &mut ids),
            }
        }
        let by_column: Vec<_> = self.fields.ids_by_column().collect();
        for (scheme, item) in by_column {
            self.add_id(&item, |text| ExternalId::parse(scheme, text), &mut ids);
        }
        ids
    }

    /// Adds the ids in an object to `ids`. For each scheme, the object has an id or a list of ids:
    /// `{"ror":"02mhbdp94","wikidata":["Q42","Q43"]}`.
    fn ids_by_scheme(&mut self, object: &RawValue, ids: &mut Vec<ExternalId>) {
        let members = serde_json::from_str(object.get()).map_err(|_| BadValue::NotText);
        let Some(Object(members)) = self.or_note::<Object<&RawValue>>(Field::Ids, members) else {
            return;
        };
        for (scheme, value) in members {
            for item in Raw::Json(value).list() {
                self.add_id(&item, |text| ExternalId::parse(&scheme, text), ids);
            }
        }
    }

    fn add_id(
        &mut self,
        item: &Item<'_>,
        parse: impl Fn(&str) -> Result<ExternalId, InvalidExternalId>,
        ids: &mut Vec<ExternalId>,
    ) {
        let read = match ids.len() < MAX_LIST_VALUES {
            true => parse_item(Field::Ids, item, parse),
            false => Err(BadValue::TooMany),
        };
        ids.extend(self.or_note(Field::Ids, read));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_a_scheme_unless_its_name_may_mean_something_else() {
        for (column, scheme) in [
            ("LEI", "lei"),
            ("Wikidata", "wikidata"),
            ("no", "no"),
            ("Open Corporates", "opencorporates"),
        ] {
            assert_eq!(scheme_of_column(column), Some(scheme), "{column}");
        }
        for column in ["No.", "No", "DE", "ipeds", "", "notes"] {
            assert_eq!(scheme_of_column(column), None, "{column}");
        }
    }
}
