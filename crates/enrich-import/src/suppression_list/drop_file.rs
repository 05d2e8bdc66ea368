//! The files in an archive from DROP, California's deletion platform. Their names show which list
//! they belong to.

use super::ListFault;
use super::shown;

/// A list from DROP, California's deletion platform. Each list contains hashes of a different kind
/// of identifier, such as email addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropList {
    /// Email addresses.
    Email,
    /// Phone numbers.
    Phone,
    /// Name, date of birth and ZIP code.
    Ndz,
    /// Advertising ids of mobile devices.
    Maid,
    /// Name and vehicle identification number.
    NameVin,
    /// Ids of connected televisions.
    Ctvid,
}

/// A file in an archive from DROP, California's deletion platform. It is recognised by its name,
/// such as `20260312_4821_Email.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropFile {
    /// The name of the file, without its folder. The file with the results, which the operator
    /// sends to DROP, has the same name.
    pub name: String,
    /// The list of the file; `None` for a file with entries that were removed from lists.
    pub list: Option<DropList>,
}

impl DropList {
    const ALL: [(&'static str, Self); 6] = [
        ("Email", Self::Email),
        ("Phone", Self::Phone),
        ("NDZ", Self::Ndz),
        ("MAID", Self::Maid),
        ("NameVIN", Self::NameVin),
        ("CTVID", Self::Ctvid),
    ];

    pub(super) fn parse(text: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        known.map(|(_, list)| *list)
    }
}

impl DropFile {
    /// Parses the path of a file. The file's name must begin with a date of 8 digits, a number of
    /// 4 digits and the name of a list, such as `20260312_4821_Email.csv`. A suffix may follow
    /// the list, as in `20260312_4821_Email_2.csv`.
    pub(super) fn of_name(path: &str) -> Result<Self, ListFault> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let list = list_of(name).ok_or_else(|| ListFault::Name { file: shown(path) })?;
        Ok(Self { name: name.to_owned(), list })
    }
}

/// Returns the list that a file belongs to, according to the file's name. Returns `Some(None)` for
/// a file of removed entries, such as `20260312_4821_Removed.csv`. Returns `None` if the name is
/// not the name of a file from DROP.
fn list_of(name: &str) -> Option<Option<DropList>> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if !name.chars().all(is_plain) {
        return None;
    }
    let (stem, ending) = name.rsplit_once('.')?;
    let mut parts = stem.splitn(4, '_');
    let (date, broker, list) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number =
        |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if !ending.eq_ignore_ascii_case("csv") || !is_number(date, 8) || !is_number(broker, 4) {
        return None;
    }
    if list.eq_ignore_ascii_case("Removed") {
        return Some(None);
    }
    DropList::parse(list).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_which_list_it_is() {
        let list = |name| DropFile::of_name(name).map(|file| (file.name, file.list)).ok();
        let email = "20260312_4821_Email.csv";
        assert_eq!(list(email), Some((email.to_owned(), Some(DropList::Email))));
        assert_eq!(list("in/20260312_4821_NameVIN_part_2.csv").unwrap().1, Some(DropList::NameVin));
        assert_eq!(list("20260312_4821_Removed.csv").unwrap().1, None);
        for other in [
            "readme.txt",
            "20260312_4821_Email.txt",
            "2026_4821_Email.csv",
            "20260312_48_Email.csv",
            "20260312_4821_Fax.csv",
            "20260312_4821.csv",
        ] {
            assert_eq!(list(other), None, "{other}");
        }
    }
}
