//! How much of two names matches: the total rarity of the words that match, and of the words that
//! only one of the names has.

use enrich_text::{Agreed, Agreement, NameForm, NameWord, Similarity};

/// Which of two names has words that the other name lacks: the requested name, the candidate's
/// name, both or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// No words of the requested name and the candidate's name match.
    Nothing,
    /// All words of the requested name match words of the candidate's name, and the candidate's
    /// name has no other words.
    All,
    /// Only the requested name has additional words, and all of them are general words, such as
    /// `university`, or places.
    MoreGeneral,
    /// Only the requested name has additional words, and at least one of them is neither a general
    /// word, such as `university`, nor a place.
    More,
    /// Only the candidate's name has additional words, and all of them are general words, such as
    /// `university`, or places.
    LessGeneral,
    /// Only the candidate's name has additional words, and at least one of them is neither a
    /// general word, such as `university`, nor a place.
    Less,
    /// Some words of the two names match, and each name has additional words. All additional words
    /// are general words, such as `university`, or places.
    BothGeneral,
    /// Some words of the two names match, and each name has additional words. At least one
    /// additional word is neither a general word, such as `university`, nor a place.
    Both,
}

/// Sums of the rarities of words, in nats. The words are those that the requested name and the
/// candidate's name have in common, or those that only one of them has.
pub(super) struct Sums {
    /// The total rarity of the words that match in the two names. A word that matches only in part,
    /// such as an abbreviation, adds only a part of its rarity.
    pub(super) agreed: f64,
    /// The total rarity of the words that match in the two names. General words, such as
    /// `university`, and places are left out. A word that matches only in part adds only a part of
    /// its rarity.
    pub(super) specific: f64,
    /// The total rarity of the words that match in the two names. A word that matches only in part,
    /// such as an abbreviation, adds its whole rarity here.
    pub(super) full: f64,
    /// The total rarity of the words that the requested name has and the candidate's name lacks.
    pub(super) only_asked: f64,
    /// The total rarity of the words that the candidate's name has and the requested name lacks.
    pub(super) only_held: f64,
    /// The rarity of the rarest word that the requested name has and the candidate's name lacks.
    /// General words, such as `university`, and places do not count.
    pub(super) specific_asked: f64,
    pub(super) specific_held: f64,
}

impl Sums {
    pub(super) fn of(likeness: &Similarity, asked: &NameForm, held: &NameForm) -> Self {
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

    /// Returns the sums for two names that are equal without spaces, such as `Quill Pens` and
    /// `Quillpens`. All their words count as matching. Because the words differ, the total rarity
    /// of all words can differ between the two names. `all` is the higher total, in nats.
    pub(super) fn of_equal(all: f64) -> Self {
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

    pub(super) fn shape(&self, likeness: &Similarity) -> Shape {
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

/// Returns what a pair of matching words adds to the sums, in nats: the rarity of the word, or a
/// share of this rarity if the two words do not match exactly.
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
