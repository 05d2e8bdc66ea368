//! CSV downloads for spreadsheet programs, written in pieces.

use std::borrow::Cow;
use std::error::Error;

use bytes::Bytes;
use enrich_bulk::neutralised;
use futures_util::stream::{Stream, StreamExt};

use crate::fault::Fault;
use crate::http::{Response, ResponseBody};

/// Returns rows as CSV (RFC 4180). Cells may contain untrusted text. If a spreadsheet program would
/// run a cell as a formula, an apostrophe is put before the cell's text.
pub(crate) fn rows<'a>(rows: impl IntoIterator<Item = Vec<Cow<'a, str>>>) -> Result<Bytes, Fault> {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .flexible(true)
        .from_writer(Vec::new());
    for row in rows {
        let cells = row.iter().map(|text| neutralised(text.as_bytes()));
        writer.write_record(cells).map_err(Fault::failed)?;
    }
    Ok(writer.into_inner().map_err(|error| Fault::failed(error.to_string()))?.into())
}

/// Returns a response that the browser saves as a file with the name `name`.
pub(crate) fn response(
    name: &str,
    pieces: impl Stream<Item = Result<Bytes, Fault>> + 'static,
) -> Response {
    let pieces = pieces.map(|piece| piece.map_err(Box::<dyn Error>::from));
    Response::new(200, "text/csv; charset=utf-8", ResponseBody::Pieces(pieces.boxed_local()))
        .with("content-disposition", format!("attachment; filename=\"{name}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_is_text() {
        for text in ["=1+1", "+1+1", "-a", "@SUM(A1)", "\ta", "＝cmd|1", "＠x"] {
            assert_eq!(rows([vec![text.into()]]).unwrap(), format!("'{text}\r\n"));
        }
        for text in ["Quill", "1+1", " =1", "'=1", "-5", "+41446681800"] {
            assert_eq!(rows([vec![text.into()]]).unwrap(), format!("{text}\r\n"));
        }
        assert_eq!(rows([vec!["hi;=1+1".into()]]).unwrap(), "hi;'=1+1\r\n");
    }

    #[test]
    fn quotes_and_lines_stay_in_their_cell() {
        let bytes = rows([vec!["a\"b".into(), "c\nd".into(), "=x,y".into()]]).unwrap();
        assert_eq!(bytes, "\"a\"\"b\",\"c\nd\",\"'=x,y\"\r\n");
    }
}
