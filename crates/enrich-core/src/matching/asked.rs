//! The requested company name, prepared for comparison.

use enrich_text::{
    CompanyName, Country, Domain, NameForm, Region, Side, additions, countries_of_letters,
    country_of_word, is_addition, region, without_inner_legal_form,
};

/// A requested company name, with the data by which it is compared with the names of candidates.
#[derive(Clone, Debug)]
pub struct AskedName {
    /// The requested name, with these changes:
    ///
    /// - The domain replaces a URL: `https://quill.example/` becomes `quill.example`.
    /// - The number of a branch is removed: `Quill Pens #1234` becomes `Quill Pens`.
    /// - A legal form before an addition, such as a place, is removed: `Quill GmbH Berlin` becomes
    ///   `Quill Berlin`.
    pub name: CompanyName,
    /// The name, split into words, in the forms in which words are compared.
    pub form: NameForm,
    /// The country that was requested together with the name; `None` for any country.
    pub country: Option<Country>,
    /// For each word of the name, its side in a contrast: `north` and `south` are the two sides
    /// of one contrast. `None` if the word is not part of a contrast.
    pub(super) sides: Vec<Option<Side>>,
    /// Whether the name looks like an acronym: it is one short word in capitals.
    pub(super) is_acronym: bool,
    /// The forms of the name without spaces: with and without fillers (words such as `of`), and
    /// with and without legal forms.
    pub(super) squashed: Vec<String>,
    /// The domain, if the name has the form of a domain, such as `Booking.com`.
    pub(super) domain: Option<Domain>,
    /// The state or province at the end of the name, in parentheses or after a comma: Wisconsin
    /// in `Jackson, WI`.
    pub(super) region: Option<Region>,
    /// The countries that the name contains, each with the index of the word that names it. The
    /// index is `None` for a country in parentheses.
    pub(super) countries: Vec<(Option<usize>, Country)>,
    /// The countries in which the letters of the name are used, such as Georgia for `ჭილყვი`; empty
    /// if many countries use these letters.
    pub(super) letter_countries: Vec<Country>,
    /// The index of the first word of the addition at the end of the name: 1 for `Quill Berlin`. An
    /// addition, such as a place or `HQ`, does not change which company is meant. If there is no
    /// addition, this is the number of words.
    pub(super) addition: usize,
    /// Whether the text in parentheses after the name is an addition, such as a place.
    pub(super) is_aside_addition: bool,
}

impl AskedName {
    /// Prepares a name that was requested together with `country`; `None` means any country.
    pub fn of_country(name: &CompanyName, country: Option<Country>) -> Self {
        Self { country, ..Self::new(name) }
    }

    /// Prepares a name that was requested without a country.
    pub fn new(name: &CompanyName) -> Self {
        let other = domain_of_url(name).or_else(|| without_branch_number(name));
        let name = other.as_ref().unwrap_or(name);
        let display = name.display();
        let shorter = if display.ends_with(')') { None } else { without_inner_legal_form(name) };
        let name = shorter.as_ref().unwrap_or(name);
        let form = NameForm::of_typed(name);
        let mut squashed = vec![
            name.squashed().to_owned(),
            form.squashed.clone(),
            form.all_squashed.clone(),
            name.folded().replace(' ', ""),
        ];
        squashed.sort_unstable();
        squashed.dedup();
        let domain = Domain::parse(display).ok().filter(|_| !display.contains([' ', '/', '@']));
        let in_words = form.words.iter().enumerate();
        let mut countries: Vec<(Option<usize>, Country)> =
            in_words.filter_map(|(at, word)| Some((Some(at), country_of_word(word)?))).collect();
        let aside = form.aside.iter().filter_map(country_of_word).chain(name.country());
        countries.extend(aside.map(|country| (None, country)));
        countries.dedup();
        let aside: Vec<&str> = form.aside.iter().map(|word| word.text.as_str()).collect();
        let behind_comma = display.rsplit_once(',').map(|(_, last)| last);
        let region = region(&aside.join(" ")).or_else(|| region(behind_comma?));
        Self {
            addition: form.words.len() - additions(&form.words),
            is_aside_addition: is_addition(&form.aside),
            sides: form.words.iter().map(Side::of).collect(),
            is_acronym: is_acronym(display, &form),
            name: name.clone(),
            form,
            country: None,
            squashed,
            domain,
            region,
            countries,
            letter_countries: countries_of_letters(display),
        }
    }
}

/// Returns the domain of a URL that was given as a name, such as `https://quill.example/` or
/// `www.quill.example`. Returns `None` for any other name. Also returns `None` for a URL with a
/// path, because its domain may belong to a social network on which the company only has a page.
fn domain_of_url(name: &CompanyName) -> Option<CompanyName> {
    let text = name.display();
    let without = |beginning: &str| {
        let begins = text.get(..beginning.len())?;
        begins.eq_ignore_ascii_case(beginning).then(|| &text[beginning.len()..])
    };
    let scheme = without("https://").or_else(|| without("http://"));
    let host = scheme.or_else(|| without("www.").map(|_| text))?;
    if host.trim_end_matches('/').contains('/') {
        return None;
    }
    CompanyName::parse(Domain::parse(text).ok()?.as_str()).ok()
}

/// Returns a name without the number of a branch at its end: `Quill Pens` for `Quill Pens #1234`.
/// Returns `None` if there is no such number. A number of one or two digits is not removed, because
/// it may be a part of the name: `Quill Lodge #12`.
fn without_branch_number(name: &CompanyName) -> Option<CompanyName> {
    let (named, number) = name.display().rsplit_once('#')?;
    let is_number = number.len() > 2 && number.bytes().all(|sign| sign.is_ascii_digit());
    CompanyName::parse(named).ok().filter(|_| is_number && named.ends_with(' '))
}

fn is_acronym(display: &str, form: &NameForm) -> bool {
    let letters = || display.chars().filter(|sign| sign.is_alphabetic());
    form.words.len() == 1
        && (2..=8).contains(&form.acronym.chars().count())
        && letters().count() >= 2
        && letters().all(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_its_domain_and_the_number_of_a_branch_is_left_out() {
        for (name, asked) in [
            ("https://quill.example/", "quill.example"),
            ("https://pages.example/quill", "https://pages.example/quill"),
            ("Quill Pens #1234", "Quill Pens"),
            ("Quill Lodge #12", "Quill Lodge #12"),
            ("Quill #100 Pens", "Quill #100 Pens"),
            ("Studio#5", "Studio#5"),
            ("WWW.Quill.example", "quill.example"),
            ("Quill", "Quill"),
            ("www. Quill", "www. Quill"),
        ] {
            let name = CompanyName::parse(name).unwrap();
            assert_eq!(AskedName::new(&name).name.display(), asked);
        }
    }
}
