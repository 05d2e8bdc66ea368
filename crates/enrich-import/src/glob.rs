//! Patterns of file names: `*` stands for any text, `?` for one character. Case doesn't matter.

/// Whether a path fits a pattern. A pattern without `/` is compared only with the file name, which
/// is the last part of the path.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    let name = if pattern.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    matches(&letters(pattern), &letters(name))
}

/// Compares a name with a pattern. The time is at most proportional to the product of both lengths.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut here) = (0, 0);
    // The `*` that was reached last: its position in the pattern, and the position in the name at
    // which the text that it stands for ends.
    let mut star: Option<(usize, usize)> = None;
    while here < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(letter) if *letter == '?' || name.get(here) == Some(letter) => {
                at += 1;
                here += 1;
            }
            _ => {
                let Some((begin, end)) = star else { return false };
                star = Some((begin, end + 1));
                (at, here) = (begin + 1, end + 1);
            }
        }
    }
    pattern.iter().skip(at).all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text_and_a_question_mark_for_one_letter() {
        for (pattern, path, expected) in [
            ("*ror-data.json", "v2.9/v2.9-2026-01-01-ROR-data.json", true),
            ("*ror-data.json", "v2.9-ror-data_schema.json", false),
            ("data/*.csv", "data/a.csv", true),
            ("data/*.csv", "other/a.csv", false),
            ("CIK??????????.json", "CIK0001318605.json", true),
            ("CIK??????????.json", "CIK0001318605-submissions-001.json", false),
            ("*", "", true),
            ("", "a", false),
            ("*a*b*c", "xxaxxbxxbxc", true),
            ("*a*b*c", "xxaxxbxxbx", false),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn many_stars_take_no_long_time() {
        let name = "a".repeat(10_000);
        assert!(!fits(&format!("{}b", "*a".repeat(30)), &name));
    }
}
