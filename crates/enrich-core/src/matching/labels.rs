//! Compares the requested name with the labels of a company's domains. Here, a label is the first
//! label of a domain, without hyphens: `quillpens` of `quill-pens.example`. A label often
//! consists of the whole name without spaces, the first words of the name, its initials, or the
//! beginnings of its words.

use enrich_text::{Domain, NameWord, Rarity};

use super::asked::AskedName;
use crate::subject::Company;

/// Maximum number of words of a name whose beginnings are searched in a domain label. Later words
/// are ignored.
const MAX_WORDS: usize = 16;

/// How well the requested name fits the domain labels of a company, such as `quill` of
/// `quill.example`. If a company has several domains, each field contains the highest value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Labels {
    /// 1 if a domain label (`quill` of `quill.example`), or a whole domain without its dots and
    /// hyphens, equals the requested name without spaces; else 0.
    pub(super) is_name: f64,
    /// For a domain label that consists of the first words of the requested name, such as
    /// `quillpens` for `Quill Pens Paper`: the total rarity of these words, as a share of the total
    /// rarity of all words. 0 if there is no such label.
    pub(super) is_beginning: f64,
    /// For a domain label that contains the requested name, as `quillpens` contains `Quill`: the
    /// length of the name, as a share of the length of the label. 0 if there is no such label.
    pub(super) holds_name: f64,
    /// For a domain label that the requested name contains, as `Quill Pens` contains `quill`: the
    /// length of the label, as a share of the length of the name. 0 if there is no such label.
    pub(super) name_holds: f64,
    /// The similarity of a domain label (`quill` of `quill.example`) and the requested name, from 0
    /// to 1. It is 1 if the two are equal, and 0 if 30 % or more of the letters differ.
    pub(super) like: f64,
    /// 1 if a domain label equals the initials of the requested name, such as `qpi` for
    /// `Quill Pen Ink`; else 0.
    pub(super) is_initials: f64,
    /// For a domain label that consists of beginnings of words of the requested name, such as
    /// `unsoed` for `Universitas Jenderal Soedirman`: the total rarity of these words, as a share
    /// of the total rarity of all words. 0 if there is no such label.
    pub(super) parts: f64,
    /// 1 if a domain label consists of the beginnings of all words of the requested name, such as
    /// `quipen` for `Quill Pens`; else 0.
    pub(super) parts_full: f64,
    /// For a domain label that equals a word of the requested name: how rare this word is. The
    /// value is the rarity of the word in nats, divided by 10. 0 if there is no such label.
    pub(super) word_is: f64,
    /// For a domain label that begins with a word of the requested name, as `quillworks` begins
    /// with `Quill`: the length of the word, as a share of the length of the label. 0 if there is
    /// no such label.
    pub(super) begins: f64,
    /// Whether at least one domain of the company is a host below a registrable domain, such as
    /// `shop.quill.example`.
    pub(super) is_host: bool,
}

impl Labels {
    pub(super) fn of(asked: &AskedName, company: &Company, rarity: &impl Rarity) -> Self {
        let mut labels = Self::default();
        let rarities: Vec<f64> = asked.form.words.iter().map(|word| rarity.of(word)).collect();
        for site in &company.sites {
            labels.compare(asked, &rarities, &site.domain);
        }
        labels
    }

    fn compare(&mut self, asked: &AskedName, rarities: &[f64], domain: &str) {
        let Ok(domain) = Domain::parse(domain) else { return };
        self.is_host |= !domain.is_registrable();
        let first = domain.as_str().split('.').next().unwrap_or_default();
        let label = first.replace('-', "");
        if label.len() < 2 || label.starts_with("xn--") {
            return;
        }
        let (words, name) = (&asked.form.words, asked.form.squashed.as_str());
        let total: f64 = rarities.iter().sum();
        let with_ending = domain.as_str().replace(['.', '-'], "");
        let is_name = asked.squashed.iter().any(|name| *name == label || *name == with_ending);
        more(&mut self.is_name, f64::from(u8::from(is_name)));
        let (mut beginning, mut weight) = (String::new(), 0.0);
        for (word, rarity) in words.iter().zip(rarities) {
            beginning.push_str(&word.text);
            weight += rarity;
            if beginning == label {
                more(&mut self.is_beginning, weight / total);
            }
        }
        if name.len() >= 4 && label.contains(name) {
            more(&mut self.holds_name, name.len() as f64 / label.len() as f64);
        }
        if label.len() >= 4 && name.contains(&label) {
            more(&mut self.name_holds, label.len() as f64 / name.len() as f64);
        }
        more(&mut self.like, likeness(&label, name));
        let is_initials = label == asked.form.initials || label == asked.form.all_initials;
        if label.len() >= 3 && words.len() > 1 && is_initials {
            self.is_initials = 1.0;
        }
        if let Some(worth) = parts(words, rarities, &label) {
            more(&mut self.parts, worth / total);
            more(&mut self.parts_full, f64::from(u8::from(worth / total > 0.99)));
        }
        for (word, rarity) in words.iter().zip(rarities) {
            if word.text == label || word.root == label {
                more(&mut self.word_is, rarity / 10.0);
            } else if word.text.len() >= 4 && label.starts_with(&word.text) {
                more(&mut self.begins, word.text.len() as f64 / label.len() as f64);
            }
        }
    }
}

/// Returns the similarity of a domain label and a name, from 0 to 1. It is 1 if the two are equal,
/// and 0 if 30 % or more of the letters differ.
fn likeness(label: &str, name: &str) -> f64 {
    let longer = label.len().max(name.len()) as f64;
    // If the lengths differ by 30 % or more, at least 30 % of the letters differ too. This check is
    // cheaper than calculating the edit distance.
    if label.len().abs_diff(name.len()) as f64 >= 0.3 * longer {
        return 0.0;
    }
    let like = 1.0 - strsim::osa_distance(label, name) as f64 / longer;
    (like - 0.7).max(0.0) / 0.3
}

fn more(held: &mut f64, value: f64) {
    *held = held.max(value);
}

/// Finds words whose beginnings, joined, form the domain label: `un` and `soed` of
/// `universitas jenderal soedirman` form `unsoed`. Returns the total rarity of these words. If
/// several choices of words are possible, returns the highest total; if none is possible, `None`.
fn parts(words: &[NameWord], rarities: &[f64], label: &str) -> Option<f64> {
    let label = label.as_bytes();
    // `most[end]` is the result of this function for the first `end` letters of the label. For `un`
    // of `unsoed`, this is the rarity of `universitas`.
    let mut most: Vec<Option<f64>> = vec![None; label.len() + 1];
    *most.first_mut()? = Some(0.0);
    for (word, rarity) in words.iter().zip(rarities).take(MAX_WORDS) {
        let text = word.text.as_bytes();
        for begin in (0..label.len()).rev() {
            let Some(before) = most[begin] else { continue };
            let worth = before + rarity;
            let same = text.iter().zip(&label[begin..]).take_while(|(a, b)| a == b).count();
            for end in &mut most[begin + 1..=begin + same] {
                if end.is_none_or(|held| worth > held) {
                    *end = Some(worth);
                }
            }
        }
    }
    most[label.len()]
}

#[cfg(test)]
mod tests {
    use enrich_text::name_words;

    use super::*;

    #[test]
    fn a_label_may_be_made_of_beginnings_of_words() {
        let words = name_words("quill ink feather");
        let rarities = [1.0, 2.0, 4.0];
        assert_eq!(parts(&words, &rarities, "qufeat"), Some(5.0));
        assert_eq!(parts(&words, &rarities, "qif"), Some(7.0));
        assert_eq!(parts(&words, &rarities, "fqi"), None);
        assert_eq!(parts(&words, &rarities, "quillx"), None);
    }
}
