//! Compares the words of the requested name with the words of a candidate's name.

use enrich_text::{
    Agreed, Agreement, CompanyName, Contrast, NameForm, NameWord, Rarity, Side, Similarity, dice,
    oddity, similar,
};

use super::MOST_RARITY;
use super::asked::AskedName;
use super::evidence::{Evidence, Feature};
use super::slip::{Slip, slip};

/// Which of two names has words that the other name lacks: the requested name, the candidate's
/// name, both or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// No words of the two names agree.
    Nothing,
    /// All words of both names agree.
    All,
    /// Only the requested name has additional words, and all of them are general words, such as
    /// `university`, or places.
    MoreGeneral,
    /// Only the requested name has additional words, and at least one of them is neither a general
    /// word nor a place.
    More,
    /// Only the candidate's name has additional words, and all of them are general words, such as
    /// `university`, or places.
    LessGeneral,
    /// Only the candidate's name has additional words, and at least one of them is neither a
    /// general word nor a place.
    Less,
    /// Some words agree, and each name has additional words. All additional words are general
    /// words, such as `university`, or places.
    BothGeneral,
    /// Some words agree, and each name has additional words. At least one additional word is
    /// neither a general word nor a place.
    Both,
}

/// The comparison of the requested name with one name of the candidate.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) evidence: Evidence,
    pub(super) shape: Shape,
    /// Whether all agreeing words agree as whole words. `false` if a word is only an abbreviation or
    /// an initial of the word with which it agrees.
    pub(super) is_firm: bool,
    /// Whether the names are equal, apart from legal forms, spaces, and the order and language of
    /// the words.
    pub(super) is_same: bool,
    /// Whether the names are equal only if the order and the language of the words are ignored.
    pub(super) is_sorted: bool,
    /// The candidate's name without legal forms and spaces.
    pub(super) squashed: String,
    pub(super) is_alias: bool,
    /// Whether all additional words of the requested name are an addition, such as a place, at
    /// its end or in parentheses. `false` if there are no additional words, or if only general
    /// words, such as `university`, and places agree.
    pub(super) is_addition: bool,
    /// How well the names fit each other; a higher value is better. Of several names of a
    /// candidate, the one with the highest value is used.
    pub(super) fit: f64,
}

/// Sums of the rarities of words, in nats. The words are those that the requested name and the
/// candidate's name have in common, or those that only one of them has.
struct Sums {
    /// The total rarity of the words that agree. A word that agrees only in part, such as an
    /// abbreviation, adds only a part of its rarity.
    agreed: f64,
    /// The total rarity of the words that agree, without general words, such as `university`, and
    /// places. A word that agrees only in part adds only a part of its rarity.
    specific: f64,
    /// The total rarity of the words that agree. A word that agrees only in part, such as an
    /// abbreviation, adds its whole rarity here.
    full: f64,
    /// The total rarity of the words that the requested name has and the candidate's name lacks.
    only_asked: f64,
    /// The total rarity of the words that the candidate's name has and the requested name lacks.
    only_held: f64,
    /// The rarity of the rarest word that the requested name has and the candidate's name lacks.
    /// General words, such as `university`, and places do not count.
    specific_asked: f64,
    specific_held: f64,
}

/// Compares a name of a candidate, whose form is `held`, with the requested name. `there`
/// contains the indexes of the words of the requested name that mean a country in which the
/// candidate is, such as `Norway` in `Quill Norway`. If the candidate's name lacks one of these
/// words, it does not count as missing.
pub(super) fn compare(
    asked: &AskedName,
    name: &CompanyName,
    held: &NameForm,
    is_alias: bool,
    there: &[usize],
    rarity: &impl Rarity,
) -> Pair {
    let form = &asked.form;
    let is_unglued = form.unglued.contains(&held.squashed);
    let is_folded = asked.name.folded() == name.folded();
    let is_stripped =
        is_unglued || without_article(asked.name.stripped()) == without_article(name.stripped());
    let is_squashed =
        is_unglued || asked.name.squashed() == name.squashed() || form.squashed == held.squashed;
    let is_sorted = form.sorted == held.sorted;

    let mut likeness = similar(form, held, rarity);
    likeness
        .only_left
        .retain(|(at, _)| !there.contains(at) && !is_misspelt_filler(&form.words[*at], held));
    let is_joined = is_squashed && !is_word_by_word(&likeness);
    let sums = if is_joined {
        likeness = Similarity::default();
        let all = |words: &[NameWord]| words.iter().map(|word| rarity.of(word)).sum::<f64>();
        Sums::of_equal(all(&form.words).max(all(&held.words)))
    } else {
        Sums::of(&likeness, form, held)
    };

    let mut evidence = Evidence::default();
    evidence.flag(Feature::SameFolded, is_folded);
    evidence.flag(Feature::SameStripped, is_stripped);
    evidence.flag(Feature::SameSquashed, is_squashed);
    let letters = (form.squashed.len() as f64 / 10.0).min(2.0);
    evidence.add(Feature::SameSquashedLong, if is_squashed { letters } else { 0.0 });
    evidence.flag(Feature::SameSorted, is_sorted);
    evidence.flag(Feature::SameSortedOnly, is_sorted && !is_squashed);
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
    let is_same = is_folded || is_stripped || is_squashed;
    of_slips(&mut evidence, &likeness, (form, held), !is_same, shape, rarity);
    if !is_same {
        of_contrasts(&mut evidence, &likeness, asked, held);
    }
    add_parenthetical_evidence(&mut evidence, form, held);
    let is_addition = is_addition(asked, &likeness, &sums);

    let same = [is_folded, is_stripped, is_squashed, is_sorted];
    let same = same.into_iter().filter(|is| *is).count() as f64;
    let initials = if is_initials { 0.5 } else { 0.0 };
    let fit = same + 2.0 * covered + jaro + initials - if is_alias { 0.01 } else { 0.0 };
    let (is_sorted, is_same) = (is_sorted && !is_same, is_same || is_sorted);
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

/// Whether the requested name has additional words, and all of them are an addition, such as a
/// place, at its end or in parentheses. Returns `false` if the two names have only general words,
/// such as `university`, and places in common.
fn is_addition(asked: &AskedName, likeness: &Similarity, sums: &Sums) -> bool {
    let is_in_addition = likeness.only_left.iter().all(|(at, _)| *at >= asked.addition);
    let is_any = !likeness.only_left.is_empty() || asked.is_aside_addition;
    let is_aside = asked.form.aside.is_empty() || asked.is_aside_addition;
    is_any && is_in_addition && is_aside && sums.specific > 0.0
}

/// Adds the features that depend on the rarities of the words that agree and of the words that
/// are missing. Returns the harmonic mean of two shares: how much of the requested name agrees,
/// and how much of the candidate's name agrees.
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
    let known = MOST_RARITY - rarity.of(&asked.words[first.left]);
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

fn add_parenthetical_evidence(evidence: &mut Evidence, asked: &NameForm, held: &NameForm) {
    let aside: Vec<&NameWord> = asked.aside.iter().filter(|word| !word.is_filler).collect();
    // Initials of the name in parentheses, as in `Quill Pen Ink (QPI)`, are no evidence.
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

impl Sums {
    fn of(likeness: &Similarity, asked: &NameForm, held: &NameForm) -> Self {
        let sum = |only: &[(usize, f64)]| only.iter().map(|(_, rarity)| rarity).sum();
        let specific_of = |only: &[(usize, f64)], words: &[NameWord]| {
            let only = only.iter().filter(|(at, _)| !words[*at].is_general);
            only.map(|(_, rarity)| *rarity).fold(0.0, f64::max)
        };
        let specific = likeness.agreed.iter().filter(|one| !asked.words[one.left].is_general);
        Self {
            agreed: likeness.agreed.iter().map(worth).sum(),
            specific: specific.map(worth).sum(),
            full: likeness.agreed.iter().map(|one| one.rarity).sum(),
            only_asked: sum(&likeness.only_left),
            only_held: sum(&likeness.only_right),
            specific_asked: specific_of(&likeness.only_left, &asked.words),
            specific_held: specific_of(&likeness.only_right, &held.words),
        }
    }

    /// Returns the sums for two names that are equal apart from spaces. `all` is the total rarity
    /// of all words of a name, in nats.
    fn of_equal(all: f64) -> Self {
        Self {
            agreed: all,
            specific: all,
            full: all,
            only_asked: 0.0,
            only_held: 0.0,
            specific_asked: 0.0,
            specific_held: 0.0,
        }
    }

    fn shape(&self, likeness: &Similarity) -> Shape {
        let (is_asked_general, is_held_general) =
            (self.specific_asked == 0.0, self.specific_held == 0.0);
        match (likeness.only_left.is_empty(), likeness.only_right.is_empty()) {
            _ if self.agreed == 0.0 => Shape::Nothing,
            (true, true) => Shape::All,
            (false, true) if is_asked_general => Shape::MoreGeneral,
            (false, true) => Shape::More,
            (true, false) if is_held_general => Shape::LessGeneral,
            (true, false) => Shape::Less,
            (false, false) if is_asked_general && is_held_general => Shape::BothGeneral,
            (false, false) => Shape::Both,
        }
    }
}

/// Returns what two agreeing words add to the sums, in nats: their rarity, or only a part of it
/// if the words agree only in part.
fn worth(one: &Agreed) -> f64 {
    let share = match one.how {
        Agreement::Same => 1.0,
        Agreement::Equivalent | Agreement::Joined => 0.95,
        Agreement::Misspelt => 0.85,
        Agreement::Abbreviated => 0.5,
        Agreement::Initial => 0.2,
    };
    share * one.rarity
}

/// Whether two words agree as whole words: neither is only an abbreviation or an initial of the
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
