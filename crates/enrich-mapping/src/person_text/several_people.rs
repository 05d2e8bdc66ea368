//! Recognises names of several people in one text: couples, and names after a comma.

use super::{is_department_word, is_whole_name, split_at};

/// Splits a text at the marks between people: semicolons, line breaks and slashes between blanks.
pub(crate) fn split_people(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', '\n']).flat_map(|part| part.split(" / "))
}

/// Whether a name is that of two people: `Ada and Bob Byte`, `Ada Byte & Bob Quill`.
pub(crate) fn names_two(name: &str) -> bool {
    let Some(first) = first_of_couple(name) else { return false };
    match name.strip_prefix(first.as_str()) {
        // Three words: `&`, and the second person's first and last name.
        Some(second) => {
            let words = || second.split_whitespace();
            words().count() > 2 && !words().any(is_department_word)
        }
        // Of `Ada and Bob Byte`, the first person is `Ada Byte`, which is not how the text begins.
        None => true,
    }
}

/// Returns the number of whole names after the first comma of a text: one in `Ada Byte, Bob Quill`.
pub(crate) fn further_names(name: &str) -> usize {
    let is_name =
        |part: &str| is_whole_name(part) && !part.split_whitespace().any(is_department_word);
    let mut parts = name.split(',').map(str::trim);
    match parts.next().is_some_and(is_name) {
        true => parts.filter(|part| is_name(part)).count(),
        false => 0,
    }
}

/// Returns the first person of a couple: `Ada Byte` for `Ada & Bob Byte`, and for `Ada Byte and Bob
/// Quill`. Returns `None` for the name of one person, such as `José Ortega y Gasset`.
pub(crate) fn first_of_couple(text: &str) -> Option<String> {
    /// Words for "and", and whether they are also a part of last names.
    const AND: [(&str, bool); 10] = [
        (" & ", false),
        (" + ", false),
        (" and ", false),
        (" und ", false),
        (" och ", false),
        (" og ", false),
        (" et ", false),
        (" en ", true),
        (" y ", true),
        (" e ", true),
    ];
    AND.into_iter().find_map(|(word, is_of_names)| {
        let (first, second) = split_at(text, word)?;
        if first.contains(' ') {
            return (!is_of_names).then(|| first.to_owned());
        }
        let (_, last) = split_at(second, " ")?;
        Some(format!("{first} {last}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_couple_is_two_people_and_one_with_a_long_name_is_not() {
        for (text, expected) in [
            ("Ada Byte & Bob Quill", true),
            ("Ada and Bob Byte", true),
            ("Ada Byte & Team", false),
            ("Ada Byte und Assistentin", false),
            ("Jos\u{e9} Ortega y Gasset", false),
        ] {
            assert_eq!(names_two(text), expected, "{text}");
        }
    }

    #[test]
    fn whole_names_after_a_comma_are_further_people() {
        for (text, expected) in [
            ("Ada Byte", 0),
            ("Byte, Ada", 0),
            ("Ada Byte, Bob Quill", 1),
            ("Ada Byte, Bob Quill, Cy Nib", 2),
            ("Ada Byte, Sales Director", 0),
        ] {
            assert_eq!(further_names(text), expected, "{text}");
        }
    }
}
