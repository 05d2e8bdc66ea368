//! The path to the records in a JSON text.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The object's member with this name.
    Member(String),
    /// Each member of an object, or each element of an array.
    Each,
}

/// The path to the records: a JSON pointer (RFC 6901) in which `*` stands for each member of an
/// object and each element of an array, as in `/records/*`. The empty path stands for the whole
/// text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path(pub(super) Vec<Step>);

impl Path {
    pub(super) fn parse(text: &str) -> Self {
        let steps = text.strip_prefix('/').unwrap_or(text).split('/').map(|name| match name {
            "*" => Step::Each,
            name => Step::Member(name.replace("~1", "/").replace("~0", "~")),
        });
        Self(if text.is_empty() { Vec::new() } else { steps.collect() })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Member(name) => write!(f, "/{}", name.replace('~', "~0").replace('/', "~1")),
            Step::Each => f.write_str("/*"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_as_it_is_written() {
        for text in ["/records/*", "/results/bindings/*", "/nsi/*/items/*", "/*", "/a~1b", ""] {
            assert_eq!(Path::parse(text).to_string(), text);
        }
        assert_eq!(Path::parse("records/*"), Path::parse("/records/*"));
    }
}
