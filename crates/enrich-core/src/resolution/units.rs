//! Recognises the units (departments and branches) and subsidiaries of a company by their names and
//! domains. This is used if no source gives their parent company.

use enrich_text::{CompanyName, NameForm};

use super::claims::RecordClaims;
use crate::subject::Company;

/// Whether a company's name and main domain show that it is a unit or a subsidiary of `parent`.
///
/// This is so in two cases:
///
/// - Both have the same main domain. The unit's name begins with all words of the parent's name
///   and has further words: `Quill Web Services` and `Quill`.
/// - The unit's main domain is below the parent's main domain. The unit's name contains all words
///   of the parent's name, one after another, and further words: `Press of Quill University` and
///   `Quill University`.
///
/// Returns `false` if both names can be those of one company: `Quill Group` and `Quill`.
pub fn is_unit_of(unit: &Company, parent: &Company) -> bool {
    let (Some(host), Some(above)) = (unit.domain(), parent.domain()) else { return false };
    let is_below =
        host.strip_suffix(above).is_some_and(|labels| labels.ends_with('.') && labels.len() > 1);
    if host != above && !is_below {
        return false;
    }
    let (Some(words), Some(of_parent)) = (words(&unit.name), words(&parent.name)) else {
        return false;
    };
    let has_all = match is_below {
        true => words.windows(of_parent.len()).any(|some| some == of_parent),
        false => words.starts_with(&of_parent),
    };
    has_all
        && words.len() > of_parent.len()
        && !RecordClaims::of_company(&named(unit))
            .is_nearly_named(&RecordClaims::of_company(&named(parent)))
}

/// Finds the parent of a unit (a department or branch) among `at_host`, the companies that have the
/// unit's host. These rules apply one after the other:
///
/// 1. The parent is a company for which [`is_unit_of`] returns `true`.
/// 2. Of several companies, those with the most words in their names remain.
/// 3. If these are several, companies with a `(` in their names are left out: `Quill (Portugal)`.
///
/// Returns `None` if no company or more than one remains.
pub fn parent_among<'a>(unit: &Company, at_host: &'a [Company]) -> Option<&'a Company> {
    let length = |company: &Company| words(&company.name).map_or(0, |words| words.len());
    let mut parents: Vec<&Company> =
        at_host.iter().filter(|company| is_unit_of(unit, company)).collect();
    let most = parents.iter().map(|company| length(company)).max()?;
    parents.retain(|company| length(company) == most);
    if parents.len() > 1 {
        parents.retain(|company| !company.name.contains('('));
    }
    match parents.as_slice() {
        [parent] => Some(parent),
        _ => None,
    }
}

/// Returns the words of a name, each in the form that is compared with other words (its root):
/// `university` for `universitat`. Returns `None` if the name has no words.
fn words(name: &str) -> Option<Vec<String>> {
    let form = NameForm::of(&CompanyName::parse(name).ok()?);
    let words: Vec<String> = form.words.into_iter().map(|word| word.root).collect();
    (!words.is_empty()).then_some(words)
}

/// Returns `company` with only its own name. Its aliases are left out, because an alias of a unit
/// is often the name of the parent. With this alias, unit and parent would look like one company.
fn named(company: &Company) -> Company {
    Company::named(company.id, company.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Site, SubjectId};

    fn company((name, domain): (&str, &str)) -> Company {
        let sites = vec![Site { domain: domain.to_owned(), country: None }];
        Company { sites, ..Company::named(SubjectId(1), name.to_owned()) }
    }

    #[test]
    fn a_unit_has_the_name_and_the_domain_of_its_parent_and_more() {
        let quill = ("Quill", "quill.example");
        let university = ("Quill University", "quill.example");
        for (unit, parent, is_unit) in [
            (("Quill Web Services", "quill.example"), quill, true),
            (("Quill Web Services, Inc.", "web.quill.example"), quill, true),
            (("Press of Quill University", "press.quill.example"), university, true),
            (("Feather by Quill", "feather.quill.example"), quill, true),
            // In the next row, both companies have the same domain, but the unit's name does not
            // begin with the parent's name.
            (("Feather by Quill", "quill.example"), quill, false),
            (("Quill", "eu.quill.example"), quill, false),
            (("Quill Group", "quill.example"), quill, false),
            (("Quill (Portugal)", "pt.quill.example"), quill, false),
            (("Ink", "ink.quill.example"), quill, false),
            (("Quillwork Films", "quill.example"), quill, false),
            (("Quill Films", "myquill.example"), quill, false),
            (("Quill Films", "films.example"), quill, false),
            (quill, ("Quill Films", "quill.example"), false),
        ] {
            assert_eq!(
                is_unit_of(&company(unit), &company(parent)),
                is_unit,
                "{unit:?} {parent:?}"
            );
        }
        let named = |name| company((name, "quill.example"));
        let unit = company(("Quill Pens Web Services", "quill.example"));
        for (at_host, parent) in [
            (&["Quill", "Quill Pens", "Ink"][..], Some("Quill Pens")),
            (&["Quill (France)", "Quill", "Quill (Spain)"], Some("Quill")),
            (&["Quill (France)"], Some("Quill (France)")),
            (&["Quill (France)", "Quill (Spain)"], None),
            (&["Quill", "QUILL"], None),
            (&["Ink"], None),
        ] {
            let at_host: Vec<Company> = at_host.iter().map(|name| named(name)).collect();
            let found = parent_among(&unit, &at_host).map(|company| company.name.as_str());
            assert_eq!(found, parent, "{at_host:?}");
        }
        let without = Company::named(SubjectId(2), "Quill Films".to_owned());
        assert!(!is_unit_of(&without, &company(quill)));
    }
}
