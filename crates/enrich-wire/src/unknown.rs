//! Unknown fields are ignored. But if a required field is missing, the message names some unknown
//! fields, because one of them is often a misspelling of the missing field.

use enrich_core::{InvalidFields, KEY_PREFIX};
use strsim::normalized_damerau_levenshtein;

use crate::field::Field;
use crate::input::Fields;

/// Maximum number of bytes in a name that a message repeats to the caller. A longer text is
/// probably no name.
const MAX_NAME_BYTES: usize = 32;
/// Maximum number of unknown fields that a refusal names.
const MAX_NAMED: usize = 3;
/// Two field names are similar if their similarity, from 0 to 1, is at least this number. Then the
/// unknown name is probably a misspelling of the name of the missing field.
const ALIKE: f64 = 0.75;
/// The minimum similarity, from 0 to 1, of two field names if one is the beginning or the end of
/// the other, such as `domain` and `companyDomain`.
const IS_PART: f64 = 0.9;
/// Minimum number of bytes in a name that counts as the beginning or the end of another name. So
/// `domain` counts as the end of `companyDomain`, but `com` does not count as the beginning.
const MIN_PART_BYTES: usize = 4;

/// Adds the names of unknown fields to the messages in `invalid` about missing fields. Values are
/// never added, and a name is added only if [`is_plain`] accepts it.
pub(crate) fn name_unknown(inputs: &[Field], fields: &Fields, invalid: &mut InvalidFields) {
    let mut missing: Vec<&mut (&'static str, String)> =
        invalid.0.iter_mut().filter(|(name, _)| !fields.has(name)).collect();
    if missing.is_empty() {
        return;
    }
    let is_known = |name: &str| inputs.iter().any(|input| input.name == name);
    let unknown = fields.iter().map(|(name, _)| name).filter(|name| !is_known(name));
    let mut hints: Vec<Vec<String>> = vec![Vec::new(); missing.len()];
    for name in unknown.filter(|name| is_plain(name)).take(MAX_NAMED) {
        let scores = missing.iter().map(|(wanted, _)| likeness(name, wanted));
        let (index, score) =
            scores.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        let hint = match missing.get(index) {
            Some((wanted, _)) if score >= ALIKE => {
                format!("unknown field `{name}`; did you mean `{wanted}`?")
            }
            // The unknown field resembles no missing input. So the hint suggests no name, and is
            // added to the message about the first missing input.
            _ => format!("unknown field `{name}`"),
        };
        let index = if score >= ALIKE { index } else { 0 };
        hints.get_mut(index).into_iter().for_each(|hints| hints.push(hint.clone()));
    }
    for ((_, fault), hints) in missing.iter_mut().map(|field| &mut **field).zip(hints) {
        if !hints.is_empty() {
            *fault = format!("{fault} ({})", hints.join(" "));
        }
    }
}

/// Whether a message may repeat a name: it must be a short identifier, and must not look like a
/// key.
fn is_plain(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let is_key = name.contains(KEY_PREFIX) || folded(name) == "apikey";
    begins && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_letter) && !is_key
}

/// Returns how similar two field names are, from 0 to 1. Ignores the difference between upper and
/// lower case, and all characters except letters and digits.
fn likeness(name: &str, wanted: &str) -> f64 {
    let (name, wanted) = (folded(name), folded(wanted));
    let (short, long) = if name.len() < wanted.len() { (&name, &wanted) } else { (&wanted, &name) };
    let is_part = short.len() >= MIN_PART_BYTES
        && (long.starts_with(short.as_str()) || long.ends_with(short.as_str()));
    let alike = normalized_damerau_levenshtein(&name, &wanted);
    if is_part { alike.max(IS_PART) } else { alike }
}

fn folded(name: &str) -> String {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Input, Value};
    use crate::kind::Kind;

    const INPUTS: [Field; 3] = [
        Field::required("companyName", Kind::CompanyName, "company name"),
        Field::required("personName", Kind::PersonName, "person name"),
        Field::LIMIT,
    ];

    /// Parses a request that has only the fields `sent`. Returns the messages about the required
    /// inputs `companyName` and `personName`, if they are missing.
    fn messages(sent: &[&'static str]) -> Vec<String> {
        let mut fields = Fields::default();
        for name in sent {
            fields.insert((*name).into(), Value::Text("a value".into()));
        }
        let mut input = Input::of(&fields);
        let keep = |text: &str| Ok::<_, String>(text.to_owned());
        let _ = (input.required("companyName", keep), input.required("personName", keep));
        let mut invalid = input.invalid();
        name_unknown(&INPUTS, &fields, &mut invalid);
        invalid.0.into_iter().map(|(name, fault)| format!("{name} {fault}")).collect()
    }

    #[test]
    fn an_unknown_field_is_named_at_the_missing_one_it_looks_like() {
        for name in ["company_name", "CompanyName", "company-name", "company", "compnayName"] {
            let wanted = format!(
                "companyName is required (unknown field `{name}`; did you mean `companyName`?)"
            );
            assert_eq!(messages(&[name, "personName"]), [wanted], "{name}");
        }
        let both = messages(&["person_name", "company_name"]);
        assert!(both[0].contains("`company_name`; did you mean `companyName`?"), "{both:?}");
        assert!(both[1].contains("`person_name`; did you mean `personName`?"), "{both:?}");
    }

    #[test]
    fn one_that_looks_like_none_is_named_without_a_guess() {
        assert_eq!(
            messages(&["query", "personName"]),
            ["companyName is required (unknown field `query`)"]
        );
    }

    #[test]
    fn nothing_is_said_of_unknown_fields_where_nothing_is_missing() {
        assert!(messages(&["companyName", "personName", "company_name"]).is_empty());
    }

    #[test]
    fn names_that_may_hold_something_private_are_not_repeated() {
        let key = "enr_live_00000000000000000000000000000000000000";
        let long = "a_name_of_more_than_thirty_two_letters";
        for name in [key, "api_key", "apiKey", "ada@quill.example", "4711", "a b", "", long, "名前"]
        {
            let bare = ["companyName is required", "personName is required"];
            assert_eq!(messages(&[name]), bare, "{name}");
        }
        let many = messages(&["aa", "bb", "cc", "dd"]).concat();
        assert!(many.contains("`cc`") && !many.contains("`dd`"), "{many}");
    }
}
