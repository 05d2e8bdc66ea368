//! Options for reading a list. An option that is given replaces the detected value.

use clap::Args;
use enrich_import::{Delimiter, ReadAs, TextEncoding};

// The options about the layout of a list. (A doc comment here would become the help of the
// command.)
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct ReadAsArgs {
    /// Delimiter of the columns of CSV: `,`, `;`, `tab` or `|` [default: detected]
    #[arg(long, value_name = "DELIMITER", value_parser = delimiter)]
    delimiter: Option<Delimiter>,
    /// Encoding of the text: utf-8, utf-16, windows-1252, cp850 or another label of the Encoding
    /// Standard [default: detected]
    #[arg(long, value_name = "ENCODING", value_parser = encoding)]
    encoding: Option<TextEncoding>,
}

impl ReadAsArgs {
    pub(super) fn read_as(self) -> ReadAs {
        ReadAs { delimiter: self.delimiter, encoding: self.encoding }
    }
}

fn delimiter(text: &str) -> Result<Delimiter, String> {
    Delimiter::parse(text).ok_or_else(|| "it is one of , ; tab |".to_owned())
}

fn encoding(text: &str) -> Result<TextEncoding, String> {
    let said = "it is utf-8, utf-16, windows-1252, cp850 or another label of the Encoding Standard";
    TextEncoding::parse(text).ok_or_else(|| said.to_owned())
}
