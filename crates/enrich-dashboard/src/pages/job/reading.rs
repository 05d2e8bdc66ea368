//! How the file of a new list is read: the detected format, and the settings that the user can
//! select instead.

use enrich_bulk::jobs::Sample;
use enrich_bulk::{Delimiter, Format, ReadAs, TextEncoding};

use crate::form::Form;

/// The encodings that can be selected, each as the value and the text of its option.
const ENCODINGS: [(&str, &str); 3] =
    [("utf-8", "UTF-8"), ("utf-16", "UTF-16"), ("windows-1252", "Windows-1252")];

/// How the file of a new list is read, and which settings the user can change.
pub(crate) struct Reading {
    /// A description of the detected layout (format, delimiter and encoding); empty if the list
    /// cannot be read.
    pub(crate) layout: String,
    /// Whether the user can select delimiter and encoding.
    pub(crate) is_text: bool,
    pub(crate) delimiters: Vec<Choice>,
    pub(crate) encodings: Vec<Choice>,
}

/// An option of a `select` element.
pub(crate) struct Choice {
    pub(crate) value: &'static str,
    pub(crate) name: &'static str,
    pub(crate) is_chosen: bool,
}

impl Reading {
    pub(crate) fn of(sample: &Sample) -> Self {
        let ReadAs { delimiter, encoding } = sample.read_as;
        let layout = sample.layout.as_ref();
        let delimiters = Delimiter::ALL.into_iter().map(|one| Choice {
            value: one.as_str(),
            name: match one {
                Delimiter::Comma => "comma (,)",
                Delimiter::Semicolon => "semicolon (;)",
                Delimiter::Tab => "tab",
                Delimiter::Pipe => "bar (|)",
            },
            is_chosen: delimiter == Some(one),
        });
        let chosen = encoding.map(TextEncoding::label);
        let encodings = ENCODINGS.into_iter().map(|(value, name)| Choice {
            value,
            name,
            is_chosen: chosen.as_deref() == Some(value),
        });
        Self {
            layout: layout.map(ToString::to_string).unwrap_or_default(),
            // If the list cannot be read with the options that the user has selected, the user must
            // be able to select others. So the options are shown again.
            is_text: layout
                .map_or(sample.read_as != ReadAs::default(), |layout| layout.format == Format::Csv),
            delimiters: delimiters.collect(),
            encodings: encodings.collect(),
        }
    }
}

/// Returns the delimiter and the encoding that the user selected in a form; `None` if one of them
/// is unknown. An empty value means that it is to be detected from the file.
pub(super) fn of_form(form: &Form) -> Option<ReadAs> {
    let delimiter = match form.raw("delimiter") {
        "" => None,
        text => Some(Delimiter::parse(text)?),
    };
    let encoding = match form.text("encoding") {
        "" => None,
        text => Some(TextEncoding::parse(text)?),
    };
    Some(ReadAs { delimiter, encoding })
}
