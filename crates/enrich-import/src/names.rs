//! Normalises column names for comparison.

/// Returns the letters and digits of a column's name in lower case, so that `E-Mail`, `e mail` and
/// `email` are equal.
pub fn plain_name(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_blanks_and_punctuation_are_left_out() {
        assert_eq!(plain_name(" Company-Name (EN) "), "companynameen");
        assert_eq!(plain_name("Straße_1"), "straße1");
        assert_eq!(plain_name("--"), "");
    }
}
