//! Classifies how two names differ.

use enrich_core::matching::DirectoryRarity;
use enrich_text::{
    Agreement, CompanyName, Country, NameForm, NameWord, Similarity, country_of_word, similar,
};

/// How two names differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// The names have different legal forms.
    LegalForm,
    /// The names have different countries, or different words in parentheses. The names probably
    /// mean sister companies, such as `Vosslund (France)` and `Vosslund (Germany)`.
    Place,
    /// The names have different numbers or years.
    Series,
    /// The names are written differently: upper and lower case, accents, spaces.
    Writing,
    /// The names differ in words that count as equal, such as translations, or in filler words.
    Equivalent,
    /// One name is an abbreviation of the other.
    Initials,
    /// The names are written in different scripts.
    Script,
    /// The names differ only in misspelt words.
    Slip,
    /// One name has additional words.
    More,
    /// Each name has words that the other lacks.
    Words,
}

impl Reason {
    /// Returns the reason why two names differ. If several reasons apply, the order of the checks
    /// below decides.
    pub(crate) fn of(asked: &CompanyName, held: &CompanyName) -> Self {
        let (left, right) = (NameForm::of_typed(asked), NameForm::of(held));
        if is_latin(asked) != is_latin(held) {
            return Self::Script;
        }
        if asked.squashed() == held.squashed() && left.aside == right.aside {
            let is_form = asked.stripped() != asked.folded() || held.stripped() != held.folded();
            let differs = asked.folded().replace(' ', "") != held.folded().replace(' ', "");
            return if is_form && differs { Self::LegalForm } else { Self::Writing };
        }
        if left.aside != right.aside {
            return Self::Place;
        }
        let is_short = |one: &NameForm, other: &NameForm| {
            one.words.len() == 1 && [&other.initials, &other.all_initials].contains(&&one.squashed)
        };
        if is_short(&left, &right) || is_short(&right, &left) {
            return Self::Initials;
        }
        let similarity = similar(&left, &right, &DirectoryRarity::among(0));
        let has = |how: &[Agreement]| similarity.agreed.iter().any(|one| how.contains(&one.how));
        let is_slip = has(&[Agreement::Misspelt]);
        let is_short = has(&[Agreement::Abbreviated, Agreement::Initial]);
        let [only_left, only_right] = apart(&left, &right, &similarity);
        let differing = || only_left.iter().chain(&only_right);
        match (only_left.is_empty(), only_right.is_empty()) {
            (true, true) if is_slip => Self::Slip,
            (true, true) if is_short => Self::Initials,
            (true, true) => Self::Equivalent,
            _ if differing().all(|word| counts(word)) => Self::Series,
            _ if differing().all(|word| is_place(word) || counts(word)) => Self::Place,
            (true, false) | (false, true) => Self::More,
            (false, false) => Self::Words,
        }
    }

    /// Whether Enrich may disagree with the label of a pair whose names differ for this reason. A
    /// label says whether both names mean the same registered company. Enrich looks for the
    /// website that belongs to a name, and two registered companies may have the same website.
    pub(crate) fn is_policy(self) -> bool {
        matches!(self, Self::LegalForm | Self::Place | Self::Series)
    }

    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::LegalForm => "the legal form alone",
            Self::Place => "the country, or what stands in parentheses: sister companies",
            Self::Series => "a number: one of a series",
            Self::Writing => "the way of writing alone",
            Self::Equivalent => "words that count as one or say nothing",
            Self::Initials => "an abbreviation",
            Self::Script => "another script",
            Self::Slip => "misspelt words alone",
            Self::More => "words that one has more",
            Self::Words => "other words",
        }
    }
}

/// Returns the words that only one of the names has. Numbers that differ only at their end (`VII`,
/// `VIII`) count as different words.
fn apart<'a>(
    left: &'a NameForm,
    right: &'a NameForm,
    similarity: &Similarity,
) -> [Vec<&'a NameWord>; 2] {
    let only = |form: &'a NameForm, at: &[(usize, f64)]| -> Vec<&'a NameWord> {
        at.iter().filter_map(|(at, _)| form.words.get(*at)).collect()
    };
    let mut apart = [only(left, &similarity.only_left), only(right, &similarity.only_right)];
    for agreed in &similarity.agreed {
        let pair = (left.words.get(agreed.left), right.words.get(agreed.right));
        let is_same = matches!(agreed.how, Agreement::Same | Agreement::Equivalent);
        if let (Some(one), Some(other)) = pair
            && !is_same
            && counts(one)
            && counts(other)
        {
            apart[0].push(one);
            apart[1].push(other);
        }
    }
    apart
}

/// Whether all letters of a name are Latin: up to U+024F, the end of the block Latin Extended-B.
fn is_latin(name: &CompanyName) -> bool {
    name.display().chars().all(|sign| !sign.is_alphabetic() || sign <= '\u{24f}')
}

fn is_place(word: &NameWord) -> bool {
    const SHORT: [&str; 4] = ["uk", "us", "usa", "uae"];
    country_of_word(word).is_some()
        || SHORT.contains(&word.text.as_str())
        || (word.text.len() > 3 && Country::parse(&word.text).is_ok())
}

/// Whether a word is a number in Roman numerals, or contains digits.
fn counts(word: &NameWord) -> bool {
    let is_roman = !word.text.is_empty() && word.text.bytes().all(|byte| b"ivxl".contains(&byte));
    is_roman || word.text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_first_that_holds() {
        let reasons = [
            ("Vosslund AG", "Vosslund GmbH", Reason::LegalForm),
            ("Vosslund AG", "Vosslund", Reason::LegalForm),
            ("Voss-Lund", "VOSS LUND", Reason::Writing),
            ("Vosslund (France) SA", "Vosslund (Germany) GmbH", Reason::Place),
            ("Vosslund France", "Vosslund Chile", Reason::Place),
            ("Vosslund UK Ltd", "Vosslund Chad Ltd", Reason::Place),
            ("University of Vosslund", "Universität Vosslund", Reason::Equivalent),
            ("Vosslund Fund VII", "Vosslund Fund VIII", Reason::Series),
            ("Vosslund Trust 2004-1", "Vosslund Trust 2004-2", Reason::Series),
            ("VTH", "Vosslund Turbine Holding", Reason::Initials),
            ("Восслунд", "Vosslund", Reason::Script),
            ("Voslund Turbines", "Vosslund Turbines", Reason::Slip),
            ("Vosslund Turbines", "Vosslund", Reason::More),
            ("Vosslund Turbines", "Vosslund Quills", Reason::Words),
        ];
        for (one, other, reason) in reasons {
            let read = |name| CompanyName::parse(name).unwrap();
            assert_eq!(Reason::of(&read(one), &read(other)), reason, "{one} | {other}");
            assert!(!reason.sentence().is_empty());
        }
    }
}
