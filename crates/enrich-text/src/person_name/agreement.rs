//! Decides whether two names can be names of the same person, and how they differ.

use super::keys::MAX_FAMILY_PARTS;
use super::reading::is_initial;
use super::spelling::{consonants, spelling};
use super::{PersonName, given_names};

/// How two names differ, if they can be names of the same person. For equal names, all fields are
/// `false`.
///
/// Values are ordered by their fields: a difference in an earlier field is larger. If two names can
/// be read in several ways, the way with the smallest differences counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameDifferences {
    /// One of the names has the family name before the given name: `Lovelace Ada`.
    pub order: bool,
    /// In one of the names, the first given name is only an initial: `J. Smith`.
    pub initial: bool,
    /// One name is in Latin letters, and the other in a script that writes few vowels. Their
    /// consonants are equal: `الرشيد`, `Al-Rashid`.
    pub script: bool,
    /// One name has only a part of the family name of the other name: `García` instead of `García
    /// Márquez`.
    pub family_part: bool,
    /// The first given name of one name is a common short form of the first given name of the
    /// other: `Bob` for `Robert`.
    pub short_form: bool,
    /// Only one name has a suffix: `Smith jr`.
    pub name_suffix: bool,
    /// One name has middle names that the other lacks, or that the other has only as initials or
    /// short forms: `Ada Maria Byte`, `Ada M. Byte`.
    pub middle_name: bool,
    /// Only one name has a particle of the family name: `van der Berg`, `Berg`.
    pub particle: bool,
    /// A part of a name is spelt or transliterated differently in the other name, or several parts
    /// are written as one word: `Müller` and `Mueller`, `Sergey` and `Sergej`, `van der Berg` and
    /// `Vanderberg`.
    pub spelling: bool,
}

/// How two family names agree.
struct Families {
    differences: NameDifferences,
    /// Whether the family names have a part in common, such as `garcia`. If the given names agree
    /// too, the two names share a look-up key, such as `ana|garcia`. Then a look-up of one name
    /// finds the other.
    share_a_part: bool,
    /// Whether the whole family names agree. They agree in two cases:
    ///
    /// - They are equal when each is written as one word: `van der Berg` and `Vanderberg`.
    /// - Only one of them is in Latin letters, and both have the same consonants.
    ///
    /// If the first letters of the given names agree too, a look-up of one name finds the other.
    share_the_whole: bool,
}

/// How the first given names of two people agree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Givens {
    Same,
    Spelling,
    ShortForm,
    Initial,
    Script,
    /// The given names are equal if each is written as one word: `Jean-Luc`, `Jeanluc`.
    Joined,
}

impl PersonName {
    /// Returns how this name and `other` differ. Returns `None` if they cannot be names of the same
    /// person. They belong to two people in each of these cases:
    ///
    /// - The given names differ, and neither is a short form of the other.
    /// - The family names differ.
    /// - The middle names contradict each other.
    /// - The suffixes differ.
    ///
    /// If a person is stored under the other name, a look-up by the [keys to look
    /// up](Self::keys_to_look_up) of this name finds the person. There is one exception: the stored
    /// name is in the wrong order or wrongly split, and the names also differ in another way. Then
    /// the look-up may miss the person.
    pub fn agreement(&self, other: &Self) -> Option<NameDifferences> {
        match (self.in_one_piece(), other.in_one_piece()) {
            (Some(mine), Some(theirs)) => {
                let is_same = mine.iter().any(|name| theirs.contains(name));
                return is_same.then(NameDifferences::default);
            }
            (None, None) => {}
            _ => return None,
        }
        let readings =
            [self.as_read(other), self.as_read_doubly(other), other.as_read_doubly(self)];
        if let Some(mut least) = readings.into_iter().flatten().min() {
            if self.given.iter().chain(&self.family).eq(other.given.iter().chain(&other.family)) {
                // Both names consist of the same words in the same order. The family name may only
                // begin at different words. This alone causes the differences `family_part` and
                // `particle`, so these two do not count.
                least.family_part = false;
                least.particle = false;
            }
            return Some(least);
        }
        let (mine, theirs) = (self.in_other_orders(), other.in_other_orders());
        let mine = mine.iter().filter_map(|name| name.as_read(other));
        let theirs = theirs.iter().filter_map(|name| name.as_read(self));
        // If one name has the family name first, the family names must agree completely, not only
        // in a part.
        let least = mine.chain(theirs).filter(|found| !found.family_part).min()?;
        Some(NameDifferences { order: true, ..least })
    }

    /// Reads this name with two family names, compares it with `other`, and returns how they
    /// differ. The last middle name is read as the first family name: `García` in `Gabriel García
    /// Márquez`. Returns `None` if the names belong to two people.
    ///
    /// If `other` has only one of the two family names, it must be the first one, `García`. People
    /// with two family names often use only the first. So the first family name of a `Gabriel
    /// Márquez` is probably `Márquez`, and he does not agree with this reading.
    fn as_read_doubly(&self, other: &Self) -> Option<NameDifferences> {
        let found = self.with_two_family_names()?.as_read(other)?;
        let middle = given_names::root(self.given.last()?);
        (!found.family_part || other.family_parts().contains(&middle)).then_some(found)
    }

    /// Returns how two names differ; `None` if they belong to two people. Reads both names as they
    /// are: does not change the order of the words, or the split into given names and family
    /// names.
    fn as_read(&self, other: &Self) -> Option<NameDifferences> {
        if self == other {
            return Some(NameDifferences::default());
        }
        let givens = self.givens(other)?;
        let families = self.families(other)?;
        // The whole family names must agree in these cases:
        // - A given name is only an initial. Then a part of the family name is not enough evidence.
        // - The given names are in different scripts. Then a part is not enough evidence either.
        // - The given names are equal only if each is written as one word (`Jean-Luc`, `Jeanluc`).
        //   Then the two names share no look-up key with the full given name. A look-up can find
        //   the person only by a key with the first letter and the whole family name.
        let needs_the_whole = matches!(givens, Givens::Initial | Givens::Script | Givens::Joined);
        if needs_the_whole || !families.share_a_part {
            let share_the_whole = families.share_the_whole && self.first_letters_meet(other);
            if !share_the_whole {
                return None;
            }
        }
        let mut differences = families.differences;
        match givens {
            Givens::Same => {}
            Givens::Spelling | Givens::Joined => differences.spelling = true,
            Givens::ShortForm => differences.short_form = true,
            Givens::Initial => differences.initial = true,
            Givens::Script => differences.script = true,
        }
        if givens != Givens::Joined {
            let (mine, theirs) = (self.middle_besides(other), other.middle_besides(self));
            if !can_be_same(&mine, &theirs) {
                return None;
            }
            differences.middle_name = mine != theirs;
        }
        if self.name_suffix != other.name_suffix {
            if self.name_suffix.is_some() && other.name_suffix.is_some() {
                return None;
            }
            differences.name_suffix = true;
        }
        Some(differences)
    }

    fn families(&self, other: &Self) -> Option<Families> {
        let (mine, my_particles) = self.family_and_particles();
        let (theirs, their_particles) = other.family_and_particles();
        if !is_within(&my_particles, &their_particles, is_same_particle)
            && !is_within(&their_particles, &my_particles, is_same_particle)
        {
            return None;
        }
        let (my_wholes, their_wholes) = (self.whole_family(), other.whole_family());
        let have_all = my_particles.len() == their_particles.len();
        let (my_roots, their_roots) = (roots(&mine), roots(&theirs));
        let share_the_whole = my_wholes.iter().any(|whole| their_wholes.contains(whole));
        let are_in_two_scripts = || {
            my_wholes
                .iter()
                .any(|mine| their_wholes.iter().any(|theirs| are_one_in_two_scripts(mine, theirs)))
        };
        let mut differences = NameDifferences::default();
        if my_roots == their_roots {
            differences.particle = !have_all;
            differences.spelling = mine != theirs || (have_all && self.family != other.family);
            return Some(Families { differences, share_a_part: true, share_the_whole });
        }
        if share_the_whole || are_in_two_scripts() {
            differences.spelling = share_the_whole;
            differences.script = !share_the_whole;
            return Some(Families { differences, share_a_part: false, share_the_whole: true });
        }
        let has_a_part = is_part(&my_roots, &their_roots) || is_part(&their_roots, &my_roots);
        differences.particle = !have_all;
        differences.family_part = true;
        has_a_part.then_some(Families { differences, share_a_part: true, share_the_whole })
    }

    fn givens(&self, other: &Self) -> Option<Givens> {
        let (mine, theirs) = (self.first_given(), other.first_given());
        if mine == theirs {
            return Some(if is_initial(mine) { Givens::Initial } else { Givens::Same });
        }
        if spelling(&self.given.concat()) == spelling(&other.given.concat())
            && self.given.len() != other.given.len()
        {
            return Some(Givens::Joined);
        }
        if is_initial(mine) || is_initial(theirs) {
            return is_initial_of(mine, theirs).then_some(Givens::Initial);
        }
        if given_names::root(mine) == given_names::root(theirs) {
            return Some(Givens::Spelling);
        }
        if given_names::is_short_form(mine, theirs) {
            return Some(Givens::ShortForm);
        }
        are_one_in_two_scripts(mine, theirs).then_some(Givens::Script)
    }

    /// Returns the middle names that are not in the family name of `other`. The same word may be a
    /// middle name in one text, and a part of the family name in another: `García` in `Gabriel
    /// García Márquez`.
    fn middle_besides(&self, other: &Self) -> Vec<&str> {
        let middle = self.given.iter().skip(1);
        middle.filter(|name| !other.family.contains(name)).map(String::as_str).collect()
    }
}

fn roots(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| given_names::root(word)).collect()
}

/// Whether all elements of `part` are among the last [`MAX_FAMILY_PARTS`] elements of `whole`, in
/// the same order. Returns `false` if `part` is empty.
fn is_part(part: &[String], whole: &[String]) -> bool {
    let last = whole.len().saturating_sub(MAX_FAMILY_PARTS);
    !part.is_empty() && is_within(part, &whole[last..], |one, other| one == other)
}

/// Whether two lists of middle names can belong to the same person. Every name of the shorter list
/// must be in the longer one, in the same order. An initial or a short form of the name is enough.
fn can_be_same(mine: &[&str], theirs: &[&str]) -> bool {
    let (shorter, longer) =
        if mine.len() <= theirs.len() { (mine, theirs) } else { (theirs, mine) };
    is_within(shorter, longer, |one, other| {
        is_initial_of(one, other)
            || given_names::root(one) == given_names::root(other)
            || given_names::is_short_form(one, other)
    })
}

/// Whether all elements of `part` are in `whole`, in the same order. Other elements may be between
/// them.
fn is_within<T>(part: &[T], whole: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|one| whole.any(|other| is_same(one, other)))
}

/// Whether two particles are the same: the Arabic article is written `al`, `el` and `ul`.
fn is_same_particle(one: &&str, other: &&str) -> bool {
    let article = ["al", "el", "ul"];
    one == other || (article.contains(one) && article.contains(other))
}

/// Whether one word is only the first letter of the other.
fn is_initial_of(one: &str, other: &str) -> bool {
    (is_initial(one) && other.starts_with(one)) || (is_initial(other) && one.starts_with(other))
}

/// Whether one of two words is in Latin letters, the other one is in another script, and both have
/// the same consonants. If both words are in the table of given names, returns `false`: for such
/// words, the table decides whether they are the same name.
fn are_one_in_two_scripts(one: &str, other: &str) -> bool {
    one.is_ascii() != other.is_ascii()
        && consonants(one) == consonants(other)
        && !(given_names::is_listed(one) && given_names::is_listed(other))
}
