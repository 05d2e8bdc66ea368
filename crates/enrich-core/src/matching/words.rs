//! Compares the words of the requested name with the words of a candidate's name.

use enrich_text::{
    Agreed, Agreement, CompanyName, Contrast, NameForm, NameWord, Rarity, Side, Similarity, dice,
    is_municipal, oddity, similar,
};

use super::MAX_RARITY;
use super::asked::AskedName;
use super::evidence::Evidence;
use super::feature::Feature;
use super::slip::{Slip, slip};
use super::sums::{Shape, Sums};

/// A word with at least this rarity, in nats, is probably a misspelling: at most one of 60,000
/// names contains the word.
const UNKNOWN: f64 = 11.0;
/// A word with at most this rarity, in nats, is probably spelt as intended: at least one of 30,000
/// names contains the word.
const KNOWN: f64 = 10.3;

/// The comparison of the requested name with one name of the candidate.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) evidence: Evidence,
    pub(super) shape: Shape,
    /// Whether every matching word matches as a whole word. `false` if a word of one name is only
    /// an abbreviation or an initial of a word of the other name.
    pub(super) is_firm: bool,
    /// Whether the requested name and the candidate's name are equal, apart from legal forms,
    /// spaces, and the order and language of the words.
    pub(super) is_same: bool,
    /// Whether the requested name and the candidate's name have the same words, but in another
    /// order or language.
    pub(super) is_sorted: bool,
    /// The compared name of the candidate in plain Latin letters, without legal forms, spaces and
    /// words such as `of`.
    pub(super) squashed: String,
    pub(super) is_alias: bool,
    /// Whether the candidate's name lacks an addition of the requested name, such as a place, but
    /// none of its other words. For example, `Quill London` was requested, and the candidate's name
    /// is `Quill`. The function `is_addition` computes this value, and describes the exceptions.
    pub(super) is_addition: bool,
    /// How well the candidate's name fits the requested name; a higher value is better. Of several
    /// names of a candidate, the one with the highest value is used.
    pub(super) fit: f64,
}

/// In which ways the requested name and a candidate's name are equal.
#[derive(Clone, Copy)]
struct Equality {
    /// The names are equal except for case, accents and punctuation.
    folded: bool,
    /// The names are equal except for case, accents, punctuation, legal forms, and an article at
    /// the beginning or end.
    stripped: bool,
    /// The names are equal except for case, accents, punctuation, legal forms, fillers (words such
    /// as `of`) and spaces.
    squashed: bool,
    /// The names have the same words, in any order and language.
    sorted: bool,
}

impl Equality {
    fn of(asked: &AskedName, name: &CompanyName, held: &NameForm) -> Self {
        let form = &asked.form;
        let is_unglued = form.unglued.contains(&held.squashed);
        let stripped = without_article(asked.name.stripped()) == without_article(name.stripped());
        let squashed = asked.name.squashed() == name.squashed() || form.squashed == held.squashed;
        Self {
            folded: asked.name.folded() == name.folded(),
            stripped: is_unglued || stripped,
            squashed: is_unglued || squashed,
            sorted: form.sorted == held.sorted,
        }
    }

    /// Returns how many of the four fields are `true`.
    fn count(self) -> f64 {
        let all = [self.folded, self.stripped, self.squashed, self.sorted];
        all.into_iter().filter(|is_equal| *is_equal).count() as f64
    }

    fn add_to(self, evidence: &mut Evidence, asked: &NameForm) {
        evidence.flag(Feature::SameFolded, self.folded);
        evidence.flag(Feature::SameStripped, self.stripped);
        evidence.flag(Feature::SameSquashed, self.squashed);
        let letters = (asked.squashed.len() as f64 / 10.0).min(2.0);
        evidence.add(Feature::SameSquashedLong, if self.squashed { letters } else { 0.0 });
        evidence.flag(Feature::SameSorted, self.sorted);
        evidence.flag(Feature::SameSortedOnly, self.sorted && !self.squashed);
    }
}

/// Compares the requested name with `name`, a name of the candidate. `held` is `name` in the form
/// for comparison.
///
/// `there` contains the indexes of words of the requested name that mean a country in which the
/// candidate is: `Norway` in `Quill Norway`. If the candidate's name lacks such a word, the word
/// does not count as missing.
pub(super) fn compare(
    asked: &AskedName,
    name: &CompanyName,
    held: &NameForm,
    is_alias: bool,
    there: &[usize],
    rarity: &impl Rarity,
) -> Pair {
    let form = &asked.form;
    let equality = Equality::of(asked, name, held);
    let mut likeness = similar(form, held, rarity);
    likeness
        .only_left
        .retain(|(at, _)| !there.contains(at) && !is_misspelt_filler(&form.words[*at], held));
    let is_joined = equality.squashed && !is_word_by_word(&likeness);
    let sums = if is_joined {
        likeness = Similarity::default();
        let all = |words: &[NameWord]| words.iter().map(|word| rarity.of(word)).sum::<f64>();
        Sums::of_equal(all(&form.words).max(all(&held.words)))
    } else {
        Sums::of(&likeness, form, held)
    };

    let mut evidence = Evidence::default();
    equality.add_to(&mut evidence, form);
    evidence.flag(Feature::SameJoined, is_joined);
    evidence.flag(Feature::Alias, is_alias);
    let covered = of_sums(&mut evidence, &likeness, &sums);
    evidence
        .flag(Feature::FirstAsked, likeness.agreed.iter().any(|one| one.left == 0 && is_firm(one)));
    evidence
        .flag(Feature::FirstHeld, likeness.agreed.iter().any(|one| one.right == 0 && is_firm(one)));
    let jaro = strsim::jaro_winkler(&form.squashed, &held.squashed);
    evidence.add(Feature::Jaro, jaro);
    evidence.add(Feature::JaroHigh, (jaro - 0.9).max(0.0) * 10.0);
    evidence.add(Feature::Dice, dice(&form.squashed, &held.squashed));
    let is_initials = of_initials(&mut evidence, form, held);
    of_legal_forms(&mut evidence, form, held);
    let shape = sums.shape(&likeness);
    let is_same = equality.folded || equality.stripped || equality.squashed;
    of_slips(&mut evidence, &likeness, (form, held), !is_same, shape, rarity);
    if !is_same {
        of_contrasts(&mut evidence, &likeness, asked, held);
    }
    evidence.flag(Feature::OnlyMunicipality, is_only_municipality(&likeness, form, held));
    add_parenthetical_evidence(&mut evidence, form, held);
    let is_addition = is_addition(asked, held, &likeness, &sums);

    let more = if is_initials { 0.5 } else { 0.0 } - if is_alias { 0.01 } else { 0.0 };
    let fit = equality.count() + 2.0 * covered + jaro + more;
    let (is_sorted, is_same) = (equality.sorted && !is_same, is_same || equality.sorted);
    let name = name.display().to_owned();
    let squashed = held.squashed.clone();
    let is_firm = likeness.agreed.iter().all(is_firm);
    Pair {
        name,
        evidence,
        shape,
        is_firm,
        is_same,
        is_sorted,
        squashed,
        is_alias,
        is_addition,
        fit,
    }
}

/// Returns a number from 0 to 1 that says how common the misspelt word of the requested name is in
/// other names. It is 0 if the rarity of the word is at least [`UNKNOWN`], and 1 if the rarity is
/// at most [`KNOWN`]. It is also 0 if no word is misspelt.
pub(super) fn slip_known(evidence: &Evidence) -> f64 {
    let rarity = MAX_RARITY - 10.0 * evidence.of(Feature::SlipKnown);
    ((UNKNOWN - rarity) / (UNKNOWN - KNOWN)).clamp(0.0, 1.0)
}

/// Whether the candidate's name lacks an addition of the requested name, such as a place, but none
/// of its other words. For example, `Quill London` was requested, and the candidate's name is
/// `Quill`. The addition is at the end of the requested name, or in parentheses.
///
/// In two cases, the result is `false` even if only an addition is lacking:
///
/// - All words that the two names have in common are general words, such as `university`, or
///   places.
/// - Only the requested name has the word `of`, and the candidate's name has no general word. For
///   example, `Quill of London` is a name of its own, and not `Quill` with a place.
fn is_addition(asked: &AskedName, held: &NameForm, likeness: &Similarity, sums: &Sums) -> bool {
    let is_in_addition = likeness.only_left.iter().all(|(at, _)| *at >= asked.addition);
    let is_any = !likeness.only_left.is_empty() || asked.is_aside_addition;
    let is_aside = asked.form.aside.is_empty() || asked.is_aside_addition;
    let has_of = |form: &NameForm| form.fillers.iter().any(|filler| filler == "of");
    let is_general = held.words.iter().any(|word| word.is_general);
    let is_own_name = has_of(&asked.form) && !has_of(held) && !is_general;
    is_any && is_in_addition && is_aside && !is_own_name && sums.specific > 0.0
}

/// Adds the features that depend on how rare the words are that match, and how rare the words are
/// that only one name has. Returns the harmonic mean of two shares: how much of the requested name
/// matches, and how much of the candidate's name matches.
fn of_sums(evidence: &mut Evidence, likeness: &Similarity, sums: &Sums) -> f64 {
    let share = |rest: f64| if sums.agreed > 0.0 { sums.agreed / (sums.full + rest) } else { 0.0 };
    let (asked, held) = (share(sums.only_asked), share(sums.only_held));
    let covered = if asked + held > 0.0 { 2.0 * asked * held / (asked + held) } else { 0.0 };
    evidence.add(Feature::AskedCovered, asked);
    evidence.add(Feature::HeldCovered, held);
    evidence.add(Feature::CoveredOverHalf, (covered - 0.5).max(0.0));
    let most = likeness.only_left.iter().map(|(_, rarity)| *rarity).fold(0.0, f64::max);
    evidence.add(Feature::AskedMissingMost, most / 10.0);
    evidence.add(Feature::AskedMissing, (sums.only_asked / 10.0).min(3.0));
    evidence.add(Feature::HeldMissing, (sums.only_held / 10.0).min(3.0));
    evidence.add(Feature::Agreed, (sums.agreed / 10.0).min(3.0));
    evidence.add(Feature::AgreedSome, (sums.agreed / 10.0).min(1.0));
    evidence.add(Feature::AgreedSpecific, (sums.specific / 10.0).min(3.0));
    evidence.add(Feature::AgreedSpecificSome, (sums.specific / 10.0).min(0.8));
    evidence.flag(Feature::NoSpecific, sums.specific == 0.0);
    evidence.add(Feature::AskedMissingSpecific, sums.specific_asked / 10.0);
    evidence.add(Feature::HeldMissingSpecific, sums.specific_held / 10.0);
    let part = |how: Agreement| {
        let part = likeness.agreed.iter().filter(|one| one.how == how).map(|one| one.rarity);
        let part: f64 = part.sum();
        if sums.full > 0.0 { part / sums.full } else { 0.0 }
    };
    evidence.add(Feature::Equivalent, part(Agreement::Equivalent));
    evidence.add(Feature::Misspelt, part(Agreement::Misspelt));
    covered
}

fn of_legal_forms(evidence: &mut Evidence, asked: &NameForm, held: &NameForm) {
    let (forms, theirs) = (&asked.legal_forms, &held.legal_forms);
    let have_forms = !forms.is_empty() && !theirs.is_empty();
    evidence.flag(Feature::FormAgrees, have_forms && forms == theirs);
    evidence.flag(Feature::FormDiffers, have_forms && forms != theirs);
}

fn of_initials(evidence: &mut Evidence, asked: &NameForm, held: &NameForm) -> bool {
    let is = |word: &NameForm, name: &NameForm| {
        let [only] = word.words.as_slice() else { return false };
        let initials = [&name.initials, &name.all_initials];
        let is = initials.contains(&&word.squashed) || initials.contains(&&word.acronym);
        is && only.text.chars().nth(1).is_some() && name.words.len() > 1
    };
    let is_initials = is(asked, held);
    if is_initials {
        evidence.flag(Feature::IsInitials, true);
        let more = (asked.acronym.chars().count() as f64 - 3.0) / 3.0;
        evidence.add(Feature::IsInitialsLong, more);
    }
    evidence.flag(Feature::HasInitials, is(held, asked));
    is_initials
}

fn of_slips(
    evidence: &mut Evidence,
    likeness: &Similarity,
    (asked, held): (&NameForm, &NameForm),
    differs: bool,
    shape: Shape,
    rarity: &impl Rarity,
) {
    let slips: Vec<&Agreed> =
        likeness.agreed.iter().filter(|one| one.how == Agreement::Misspelt).collect();
    let Some(first) = slips.first().filter(|_| differs) else { return };
    evidence.flag(Feature::Slip, true);
    if shape == Shape::All {
        evidence.flag(Feature::SlipAlone, true);
        let letters = slips.iter().map(|one| asked.words[one.left].text.len()).min().unwrap_or(0);
        evidence.add(Feature::SlipAloneLong, letters.min(12) as f64 / 8.0);
    }
    let (typed, meant) = (&asked.words[first.left].text, &held.words[first.right].text);
    let odd = ((oddity(typed) - oddity(meant)) / 10.0).clamp(-1.0, 1.0);
    evidence.add(Feature::SlipOdd, odd);
    evidence.add(Feature::SlipAloneOdd, if shape == Shape::All { odd } else { 0.0 });
    let known = MAX_RARITY - rarity.of(&asked.words[first.left]);
    evidence.add(Feature::SlipKnown, known.max(0.0) / 10.0);
    let kind = match slip(typed, meant) {
        Slip::Swapped => Feature::SlipSwapped,
        Slip::Doubled => Feature::SlipDoubled,
        Slip::Missing => Feature::SlipMissing,
        Slip::Added => Feature::SlipAdded,
        Slip::Near => Feature::SlipNear,
        Slip::First => Feature::SlipFirst,
        Slip::Other => return,
    };
    evidence.flag(kind, true);
}

fn of_contrasts(
    evidence: &mut Evidence,
    likeness: &Similarity,
    asked: &AskedName,
    held: &NameForm,
) {
    let ours: Vec<Side> =
        likeness.only_left.iter().filter_map(|(at, _)| asked.sides[*at]).collect();
    if ours.is_empty() {
        return;
    }
    let (mut sides, mut kinds) = (false, false);
    for their in likeness.only_right.iter().filter_map(|(at, _)| Side::of(&held.words[*at])) {
        for contrast in ours.iter().filter_map(|our| our.against(their)) {
            match contrast {
                Contrast::Sides => sides = true,
                Contrast::Kinds => kinds = true,
            }
        }
    }
    evidence.flag(Feature::Contrast, sides);
    evidence.flag(Feature::ContrastKind, kinds);
}

/// Whether some words of the two names match, and all other words mean a municipality, such as
/// `city`.
fn is_only_municipality(likeness: &Similarity, asked: &NameForm, held: &NameForm) -> bool {
    let mut asked = likeness.only_left.iter().map(|(at, _)| &asked.words[*at]).peekable();
    let mut held = likeness.only_right.iter().map(|(at, _)| &held.words[*at]).peekable();
    let is_any = asked.peek().is_some() || held.peek().is_some();
    !likeness.agreed.is_empty() && is_any && asked.chain(held).all(is_municipal)
}

fn add_parenthetical_evidence(evidence: &mut Evidence, asked: &NameForm, held: &NameForm) {
    let aside: Vec<&NameWord> = asked.aside.iter().filter(|word| !word.is_filler).collect();
    // If the text in parentheses is only the initials of the name, as in `Quill Pen Ink (QPI)`, it
    // is no evidence.
    let is_initials = matches!(aside.as_slice(), [word]
        if [&asked.initials, &asked.all_initials].contains(&&word.text));
    if is_initials {
        return;
    }
    let theirs = || held.aside.iter().chain(&held.words);
    let agrees = aside.iter().any(|word| theirs().any(|other| other.root == word.root));
    evidence.flag(Feature::Aside, aside.iter().any(|word| !word.is_general));
    evidence.flag(Feature::AsidePlace, aside.iter().any(|word| word.is_general));
    evidence.flag(Feature::AsideAgrees, agrees);
}

/// Whether two words match as whole words: neither is only an abbreviation or an initial of the
/// other.
fn is_firm(one: &Agreed) -> bool {
    !matches!(one.how, Agreement::Abbreviated | Agreement::Initial)
}

fn is_word_by_word(likeness: &Similarity) -> bool {
    likeness.only_left.is_empty()
        && likeness.only_right.is_empty()
        && likeness
            .agreed
            .iter()
            .all(|one| matches!(one.how, Agreement::Same | Agreement::Equivalent))
}

/// Whether a short word of the requested name is a misspelling of a filler of the candidate's
/// name: `if` in `Bank if Quill` is a misspelling of `of`.
fn is_misspelt_filler(word: &NameWord, held: &NameForm) -> bool {
    word.text.len() <= 3
        && held
            .fillers
            .iter()
            .any(|filler| filler.len() > 1 && strsim::osa_distance(filler, &word.text) <= 1)
}

fn without_article(stripped: &str) -> &str {
    stripped.strip_prefix("the ").or_else(|| stripped.strip_suffix(" the")).unwrap_or(stripped)
}
