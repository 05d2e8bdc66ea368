//! Finds the kind of a typing error. The kind is evidence, because people make some kinds of
//! errors more often than others.

/// The kind of a typing error in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slip {
    /// Two neighbouring letters were swapped.
    Swapped,
    /// A letter was doubled, or a double letter was typed once.
    Doubled,
    /// A letter was left out.
    Missing,
    /// A letter that does not belong to the word was added.
    Added,
    /// A letter was replaced by the letter of a neighbouring key.
    Near,
    /// The first letter is wrong.
    First,
    Other,
}

/// Returns the kind of typing error that turns `meant` into `typed`.
pub(super) fn slip(typed: &str, meant: &str) -> Slip {
    let (typed, meant): (Vec<char>, Vec<char>) = (typed.chars().collect(), meant.chars().collect());
    let same = typed.iter().zip(&meant).take_while(|(a, b)| a == b).count();
    if same == 0 {
        return Slip::First;
    }
    if typed.len() == meant.len() {
        let (a, b) = (&typed[same..], &meant[same..]);
        return match (a, b) {
            ([a, c, ..], [b, d, ..]) if a == d && b == c => Slip::Swapped,
            ([a, ..], [b, ..]) if are_near(*a, *b) => Slip::Near,
            _ => Slip::Other,
        };
    }
    let longer = if typed.len() > meant.len() { &typed } else { &meant };
    if longer.get(same) == longer.get(same - 1) {
        Slip::Doubled
    } else if typed.len() > meant.len() {
        Slip::Added
    } else {
        Slip::Missing
    }
}

/// Whether two keys are neighbours on a QWERTY keyboard.
fn are_near(a: char, b: char) -> bool {
    const ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
    let place =
        |key: char| ROWS.iter().enumerate().find_map(|(row, keys)| Some((row, keys.find(key)?)));
    match (place(a), place(b)) {
        (Some(a), Some(b)) => a.0.abs_diff(b.0) <= 1 && a.1.abs_diff(b.1) <= 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_known_by_what_it_leaves() {
        for (typed, meant, kind) in [
            ("qiull", "quill", Slip::Swapped),
            ("quilll", "quill", Slip::Doubled),
            ("quil", "quill", Slip::Doubled),
            ("qill", "quill", Slip::Missing),
            ("quxill", "quill", Slip::Added),
            ("quikl", "quill", Slip::Near),
            ("quazl", "quizl", Slip::Other),
            ("puill", "quill", Slip::First),
        ] {
            assert_eq!(slip(typed, meant), kind, "{typed}");
        }
    }
}
