//! Writes Excel workbooks. Rows cannot be appended to a workbook, so an interrupted job could not
//! continue it. So rows are first written as CSV. The workbook is made from them when all are
//! complete.

use std::io::{self, Read, Write};
use std::path::Path;

use enrich_import::uncompressed_file_name;
use rust_xlsxwriter::{Workbook, Worksheet, XlsxError};

/// Maximum number of rows of a sheet (Excel's limit), including the header. Further rows go into
/// the next sheet.
const MAX_SHEET_ROWS: u32 = 1_048_576;
/// Maximum number of columns of a sheet (Excel's limit).
const MAX_SHEET_COLUMNS: usize = 16_384;
/// Maximum length of a cell (Excel's limit), in UTF-16 units. Longer texts are truncated.
const MAX_CELL_UNITS: usize = 32_767;
/// Maximum length of a number that is stored as a number and not as text, in characters. Excel may
/// display a longer number in another form, such as `1.23457E+11`.
const MAX_NUMBER_LETTERS: usize = 11;

/// Extensions of the workbook formats that this program cannot write.
const OTHER_ENDINGS: [&str; 4] = [".xls", ".xlsm", ".xlsb", ".ods"];

/// Returns the extension of a file name if it belongs to a workbook format that this program cannot
/// write, such as `.xls`; otherwise `None`. A compression extension after it is ignored.
pub(crate) fn other_ending(file_name: &str) -> Option<&'static str> {
    let name = uncompressed_file_name(file_name).to_ascii_lowercase();
    OTHER_ENDINGS.into_iter().find(|ending| name.ends_with(ending))
}

/// Converts CSV rows to a workbook and writes the workbook to `into`. Uses temporary files in
/// `folder`.
pub(crate) fn write(rows: impl Read, into: impl Write + Send, folder: &Path) -> io::Result<()> {
    let mut rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(rows);
    let mut workbook = Workbook::new();
    workbook.set_tempdir(folder).map_err(failed)?;
    let mut header = csv::ByteRecord::new();
    let mut is_there = rows.read_byte_record(&mut header)?;
    let mut row = csv::ByteRecord::new();
    // Each pass writes one sheet. A workbook needs at least one sheet, even if it has no rows.
    loop {
        let sheet = workbook.add_worksheet_with_constant_memory().map_err(failed)?;
        write_row(sheet, 0, &header)?;
        for number in 1..MAX_SHEET_ROWS {
            is_there = is_there && rows.read_byte_record(&mut row)?;
            if !is_there {
                break;
            }
            write_row(sheet, number, &row)?;
        }
        if !is_there {
            break;
        }
    }
    workbook.save_to_writer(into).map_err(failed)
}

fn write_row(sheet: &mut Worksheet, number: u32, row: &csv::ByteRecord) -> io::Result<()> {
    for (column, cell) in row.iter().take(MAX_SHEET_COLUMNS).enumerate() {
        let column = u16::try_from(column).map_err(io::Error::other)?;
        let text = String::from_utf8_lossy(cell);
        let written = match as_number(&text) {
            Some(value) => sheet.write_number(number, column, value),
            None => sheet.write_string(number, column, cut(&text)),
        };
        written.map_err(failed)?;
    }
    Ok(())
}

/// Returns the text of a CSV cell as a number, if Excel displays the number exactly like this text
/// (`12.5`, but not `12.50` or `007`). Otherwise returns `None`, and the cell stays text.
fn as_number(text: &str) -> Option<f64> {
    let is_plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    if text.is_empty() || text.len() > MAX_NUMBER_LETTERS || !text.bytes().all(is_plain) {
        return None;
    }
    let value = text.parse::<f64>().ok()?;
    (value.to_string() == text && text != "-0").then_some(value)
}

/// Whether a cell would be truncated in a workbook.
pub(crate) fn is_too_long(cell: &[u8]) -> bool {
    // In UTF-8, a text has at least as many bytes as it has units in UTF-16. So a cell with few
    // bytes is never too long.
    cell.len() > MAX_CELL_UNITS && {
        let text = String::from_utf8_lossy(cell);
        cut(&text).len() < text.len()
    }
}

fn cut(text: &str) -> &str {
    let mut units = 0;
    let end = text.char_indices().find(|(_, letter)| {
        units += letter.len_utf16();
        units > MAX_CELL_UNITS
    });
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

fn failed(error: XlsxError) -> io::Error {
    match error {
        XlsxError::IoError(error) | XlsxError::TempFileError(_, error) => error,
        error => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use enrich_import::{Cells, Rows, Source};

    use super::*;

    fn read(rows: &str) -> Vec<Vec<String>> {
        let mut bytes = Vec::new();
        write(rows.as_bytes(), &mut bytes, &std::env::temp_dir()).unwrap();
        let mut list = Rows::open(Source::reader("a.xlsx", Cursor::new(bytes))).unwrap();
        let mut rows = vec![list.columns().unwrap().to_vec()];
        while let Some(row) = list.next_row().unwrap() {
            let Ok(Cells::Csv(cells)) = row.cells else { panic!("{row:?}") };
            rows.push(cells.into_iter().map(|cell| String::from_utf8(cell).unwrap()).collect());
        }
        rows
    }

    #[test]
    fn a_workbook_holds_the_rows_as_they_are() {
        let text = "name,phone,zip,n\n=1+1,+442079460123,01234,1.5\n\"a\nb\",442079460123,,7\n";
        let rows = read(text);
        assert_eq!(rows[0], ["name", "phone", "zip", "n"]);
        assert_eq!(rows[1], ["=1+1", "+442079460123", "01234", "1.5"]);
        assert_eq!(rows[2], ["a\nb", "442079460123", "", "7"]);
    }

    #[test]
    fn a_workbook_of_another_kind_is_told_by_its_name() {
        for (name, ending) in [
            ("a.xls", Some(".xls")),
            ("A.ODS", Some(".ods")),
            ("a.xlsm.gz", Some(".xlsm")),
            ("a.xlsb.zst", Some(".xlsb")),
            ("a.xls.bz2", Some(".xls")),
            ("a.xlsx", None),
            ("a.xls.csv", None),
            ("xls", None),
        ] {
            assert_eq!(other_ending(name), ending, "{name}");
        }
    }

    #[test]
    fn numbers_are_numbers_where_nothing_is_lost() {
        assert_eq!(as_number("-1.5"), Some(-1.5));
        for text in ["", "01", "1.50", "+1", "442079460123", "1e3", "-", "1.2.3", "-0"] {
            assert_eq!(as_number(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_too_long_for_a_cell_is_cut() {
        assert_eq!(cut(&"x".repeat(40_000)).len(), MAX_CELL_UNITS);
        assert_eq!(cut("é"), "é");
        assert_eq!(cut(&"😀".repeat(20_000)).chars().count(), MAX_CELL_UNITS / 2);
        assert_eq!(read(&format!("a\n{}\n", "x".repeat(40_000)))[1][0].len(), MAX_CELL_UNITS);
    }
}
