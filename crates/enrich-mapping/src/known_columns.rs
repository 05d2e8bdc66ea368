//! The columns of a file whose meanings are known.

use crate::meaning::Meaning;

/// The names of a person. A column `Name` may have the name of a person or of a company, so it is
/// not among them.
pub(crate) const PERSON_NAMES: [Meaning; 5] = [
    Meaning::FirstName,
    Meaning::LastName,
    Meaning::FullName,
    Meaning::FamilyNameFirst,
    Meaning::Contact,
];

/// The columns of a file whose meanings are known, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownColumns<'c> {
    columns: Vec<(&'c str, Meaning)>,
    /// The columns whose meaning was found from their values, and not from their names: for
    /// example, a column `X` with values such as `info@quill.example`.
    by_values: Vec<&'c str>,
}

impl<'c> KnownColumns<'c> {
    pub(crate) fn has(&self, meaning: Meaning) -> bool {
        self.has_any(&[meaning])
    }

    pub(crate) fn has_any(&self, meanings: &[Meaning]) -> bool {
        self.position(meanings).is_some()
    }

    /// Returns the position of the first column with one of these meanings.
    pub(crate) fn position(&self, meanings: &[Meaning]) -> Option<usize> {
        self.columns.iter().position(|(_, known)| meanings.contains(known))
    }

    pub(crate) fn contains(&self, column: &str) -> bool {
        self.columns.iter().any(|(name, _)| *name == column)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'c str, Meaning)> + Clone + '_ {
        self.columns.iter().copied()
    }

    /// Changes the meanings of columns. `change` is called for each column, with its name.
    pub(crate) fn change(&mut self, mut change: impl FnMut(&str, Meaning) -> Meaning) {
        for (column, meaning) in &mut self.columns {
            *meaning = change(column, *meaning);
        }
    }

    /// Leaves out the columns with this meaning.
    pub(crate) fn leave_out(&mut self, meaning: Meaning) {
        self.columns.retain(|(_, known)| *known != meaning);
    }

    /// Adds a column at the end. [`Self::sort`] restores the order of the file.
    pub(crate) fn push(&mut self, column: &'c str, meaning: Meaning) {
        self.columns.push((column, meaning));
    }

    /// Like [`push`](Self::push), for a column whose meaning was found from its values.
    pub(crate) fn push_by_values(&mut self, column: &'c str, meaning: Meaning) {
        self.push(column, meaning);
        self.by_values.push(column);
    }

    /// Returns the columns whose meaning was found from their values.
    pub(crate) fn by_values(&self) -> &[&'c str] {
        &self.by_values
    }

    /// Sorts the columns in the order in which the file has them.
    pub(crate) fn sort(&mut self, columns: &[String]) {
        self.columns
            .sort_by_cached_key(|(name, _)| columns.iter().position(|column| column == name));
    }

    /// Whether a column `Nom` or `Name` has last names, because another column has first names
    /// (`Prénom`, `Vorname`).
    pub(crate) fn has_last_names_in_name(&self) -> bool {
        self.has(Meaning::FirstName) && !self.has_any(&[Meaning::LastName, Meaning::FullName])
    }

    /// Returns two columns: the column with area codes, such as `Vorwahl`, and the column with the
    /// phone numbers to which the area codes belong. The second one is the next column with phone
    /// numbers after the area codes. If none follows, it is the file's first column with phone
    /// numbers.
    pub(crate) fn area_codes(&self) -> Option<(&'c str, &'c str)> {
        let at = self.position(&[Meaning::AreaCode])?;
        let (area_codes, _) = *self.columns.get(at)?;
        let mut next = self.iter().skip(at).chain(self.iter());
        let (phones, _) = next.find(|(_, meaning)| meaning.is_of_phones())?;
        Some((area_codes, phones))
    }
}

impl<'c> FromIterator<(&'c str, Meaning)> for KnownColumns<'c> {
    fn from_iter<I: IntoIterator<Item = (&'c str, Meaning)>>(columns: I) -> Self {
        Self { columns: columns.into_iter().collect(), by_values: Vec::new() }
    }
}
