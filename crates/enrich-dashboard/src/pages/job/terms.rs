//! The terms for starting or continuing a list: the ceiling (the most credits that the list may
//! cost), and the API key with which the rows are sent.

use enrich_core::KeyId;

use crate::fault::Fault;
use crate::form::Form;
use crate::page_context::OwnerContext;
use crate::pages::keys::active_keys;

/// An error in the form. The variant decides where the page shows the message.
pub(super) enum Complaint {
    /// A message that is shown at the top of the page.
    Page(String),
    /// A message about the ceiling, which is shown next to the ceiling's form field.
    Ceiling(String),
}

/// The ceiling (the most credits that the list may cost) as the form shows it, with a suggestion.
pub(crate) struct Ceiling {
    /// The text in the ceiling's form field.
    pub(crate) typed: String,
    /// The suggested ceiling. As long as the user does not change the form field, the field shows
    /// the newest suggestion.
    pub(crate) offered: String,
    pub(crate) fault: Option<String>,
}

impl Ceiling {
    /// Returns the ceiling for the form, with `offered` as the new suggestion. If the user has
    /// changed the value in the field, the field keeps this value.
    pub(super) fn of(fields: &Form, offered: String, complaint: Option<&Complaint>) -> Self {
        let typed = fields.text("ceiling");
        let is_kept = fields.has("ceiling") && typed != fields.text("offered");
        let fault = match complaint {
            Some(Complaint::Ceiling(said)) => Some(said.clone()),
            _ if is_kept => read_ceiling(typed).err(),
            _ => None,
        };
        Self { typed: if is_kept { typed.to_owned() } else { offered.clone() }, offered, fault }
    }
}

/// Returns the key and the ceiling that the user selected in the form.
pub(super) async fn chosen(
    context: &OwnerContext<'_>,
) -> Result<Result<(KeyId, Option<u64>), Complaint>, Fault> {
    let wanted = context.form.text("key");
    let keys = active_keys(context).await?;
    let Some(key) = keys.iter().find(|key| key.id.to_string() == wanted) else {
        let said = "Choose an active API key of this account.".to_owned();
        return Ok(Err(Complaint::Page(said)));
    };
    let ceiling = read_ceiling(context.form.text("ceiling")).map_err(Complaint::Ceiling);
    Ok(ceiling.map(|ceiling| (key.id, ceiling)))
}

/// Parses a ceiling, a number of credits in digits. The digits may be in groups of three with one
/// kind of separator, such as `1,500`. The text `1,5` is an error: it must not be read as 15. An
/// empty text means no ceiling.
fn read_ceiling(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let credits = plain_digits(text).and_then(|digits| digits.parse().ok());
    let said = "Enter a whole number of credits, for example 1500 or 1,500, or leave it empty.";
    credits.map(Some).ok_or_else(|| said.to_owned())
}

/// Returns the digits of a whole number without separators; `None` if the text is not a whole
/// number.
fn plain_digits(text: &str) -> Option<String> {
    let separator = text.chars().find(|letter| !letter.is_ascii_digit());
    let Some(separator) = separator else { return Some(text.to_owned()) };
    if ![',', ' ', '\u{a0}', '\u{202f}', '\'', '\u{2019}'].contains(&separator) {
        return None;
    }
    let groups: Vec<&str> = text.split(separator).collect();
    let is_digits = |group: &&str| group.bytes().all(|byte| byte.is_ascii_digit());
    let (first, others) = groups.split_first()?;
    let is_grouped = (1..=3).contains(&first.len())
        && others.iter().all(|group| group.len() == 3)
        && groups.iter().all(is_digits);
    is_grouped.then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_is_digits_or_groups_of_three() {
        for (text, credits) in [
            ("0", 0),
            ("15", 15),
            ("1500", 1_500),
            ("1,500", 1_500),
            ("12 345 678", 12_345_678),
            ("1\u{202f}500", 1_500),
            ("1'500", 1_500),
        ] {
            assert_eq!(read_ceiling(text), Ok(Some(credits)), "{text}");
        }
        assert_eq!(read_ceiling(""), Ok(None));
    }

    #[test]
    fn what_is_no_whole_number_of_credits_is_refused() {
        for text in [
            "1,5",
            "1.5",
            "1.500",
            ",500",
            "1,",
            "1500,000",
            "1,50,000",
            "1,500 000",
            "1,,000",
            "-1",
            "+1",
            "1e3",
            "all",
            "99999999999999999999",
            "１５",
        ] {
            assert!(read_ceiling(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_typed_is_kept_and_what_was_offered_follows_the_estimate() {
        let ceiling = |query: &str| {
            let fields = Form::read(query.as_bytes());
            Ceiling::of(&fields, "40".to_owned(), None).typed
        };
        assert_eq!(ceiling(""), "40");
        assert_eq!(ceiling("ceiling=3&offered=3"), "40");
        assert_eq!(ceiling("ceiling=&offered="), "40");
        assert_eq!(ceiling("ceiling=12&offered=3"), "12");
        assert_eq!(ceiling("ceiling=&offered=3"), "");
    }
}
