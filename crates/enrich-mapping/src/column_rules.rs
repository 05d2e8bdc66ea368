//! Builds the rules of a record from columns whose meanings are known.

use crate::known_columns::KnownColumns;
use crate::meaning::{Meaning, Target, has_family_names_first, target};
use crate::native::{Field, RecordType};
use crate::record_rule::RecordRule;
use crate::rule::Rule;
use crate::transform::{Transform, is_latin};

/// The rules that fill the fields of one kind of record (such as companies) from columns. A field
/// can have several rules, in the order in which they were added.
pub(crate) struct ColumnRules {
    pub(crate) kind: RecordType,
    fields: Vec<(Field, Vec<Rule>)>,
    /// Rules that are used only if a row gives no record of the other kind: for a company, no
    /// person; for a person, no company. This is `None` unless each row may have a company and a
    /// person who works there.
    if_alone: Option<Vec<(Field, Vec<Rule>)>>,
    ids: Vec<(String, Rule)>,
    /// The columns that are read, each with its field, or with the scheme of its external id (the
    /// register that gives the id), such as `lei`.
    pub(crate) used: Vec<(String, String)>,
}

impl ColumnRules {
    pub(crate) fn new(kind: RecordType) -> Self {
        Self { kind, fields: Vec::new(), if_alone: None, ids: Vec::new(), used: Vec::new() }
    }

    /// Like [`new`](Self::new), for a table in which one row may have both a company and a person
    /// who works there.
    pub(crate) fn of_both(kind: RecordType) -> Self {
        Self { if_alone: Some(Vec::new()), ..Self::new(kind) }
    }

    /// Adds a rule that reads a field from a column. `transform` changes each value; values that it
    /// does not accept are not read.
    pub(crate) fn add(&mut self, field: Field, column: &str, transform: Option<Transform>) {
        let mut rule = Rule::column_of_values(column, separators(field), transform);
        if field == Field::FullName {
            rule.set_lines();
        }
        push(&mut self.fields, field, rule);
        self.note_used(column, field.name());
    }

    /// Adds a rule that reads a field from a column, but only from rows that give no record of the
    /// other kind (company or person).
    pub(crate) fn add_if_alone(&mut self, field: Field, column: &str) {
        let rule = Rule::column_of_values(column, separators(field), None);
        push(self.if_alone.get_or_insert_default(), field, rule);
    }

    /// Adds a rule that reads a field or an id from a column. If the field is a full name, the rule
    /// also handles languages that put the family name first. If the column has locations, the rule
    /// reads only the country at the end of each location.
    pub(crate) fn add_target(&mut self, target: Target, column: &str, meaning: Meaning) {
        match target {
            Target::Id(scheme) => self.add_id(scheme, column),
            Target::Field(field @ Field::FullName) => {
                let order = match meaning {
                    Meaning::FamilyNameFirst => Some(Transform::FamilyNameFirst),
                    _ => order_of_names(column),
                };
                self.add(field, column, order);
            }
            Target::Field(field) => {
                let is_location = meaning == Meaning::Location;
                self.add(field, column, is_location.then_some(Transform::CountryAtEnd));
            }
        }
    }

    /// Adds a rule that reads an external id from a column. `scheme` names the register that gives
    /// the id.
    pub(crate) fn add_id(&mut self, scheme: &str, column: &str) {
        self.ids.push((scheme.to_owned(), Rule::column(column)));
        self.note_used(column, scheme);
    }

    fn note_used(&mut self, column: &str, field: &str) {
        let pair = (column.to_owned(), field.to_owned());
        if !self.used.contains(&pair) {
            self.used.push(pair);
        }
    }

    /// Whether no column fills a field. External ids do not count.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Adds two kinds of columns to the rules: area codes, which are put before phone numbers, and
    /// particles such as `van`, which are put before last names.
    pub(crate) fn add_prefixes(&mut self, known: &KnownColumns<'_>) {
        if let Some((area_codes, phones)) = known.area_codes() {
            let fields = self.fields.iter_mut().chain(self.if_alone.iter_mut().flatten());
            let rules = fields.filter(|(field, _)| *field == Field::Phones);
            let rules: Vec<&mut Rule> = rules.flat_map(|(_, rules)| rules).collect();
            if !rules.is_empty() {
                rules.into_iter().for_each(|rule| rule.set_area_codes(phones, area_codes));
                self.note_used(area_codes, "area code");
            }
        }
        let particles = known.iter().find(|(_, meaning)| *meaning == Meaning::Particle);
        let last_names = self.fields.iter_mut().find(|(field, _)| *field == Field::LastName);
        if let (Some((particles, _)), Some((_, rules))) = (particles, last_names) {
            rules.iter_mut().for_each(|rule| rule.set_particles(particles));
            self.note_used(particles, "particle");
        }
    }

    /// Converts these rules to a [`RecordRule`], the form that a mapping uses.
    pub(crate) fn into_rule(self) -> RecordRule {
        let all = |fields: Vec<(Field, Vec<Rule>)>| {
            fields.into_iter().map(|(field, rules)| (field, Rule::All(rules))).collect()
        };
        let mut rule = RecordRule::of(self.kind, all(self.fields), self.ids);
        rule.used_columns = self.used;
        match self.if_alone {
            Some(fields) => rule.with_fields_if_alone(all(fields)),
            None => rule,
        }
    }
}

/// The texts that separate web or email addresses in a cell: a blank, a line break, `|`, `;`, `,`,
/// the comma and the semicolon of Arabic, and the comma (in two forms) and the semicolon of Chinese
/// and Japanese.
static SEPARATORS: [&str; 10] =
    [" ", "\n", "|", ";", ",", "\u{60c}", "\u{61b}", "\u{3001}", "\u{ff0c}", "\u{ff1b}"];

/// Returns the texts that separate several values of `field` in one cell. A text that a single
/// value can contain is no separator: a phone number, for example, can contain blanks.
fn separators(field: Field) -> &'static [&'static str] {
    match field {
        Field::Domains | Field::CompanyDomain | Field::Emails => &SEPARATORS,
        Field::Phones => &SEPARATORS[1..],
        Field::Aliases
        | Field::LinkedIn
        | Field::Facebook
        | Field::Instagram
        | Field::Twitter
        | Field::Youtube => &["|"],
        _ => &[],
    }
}

fn push(fields: &mut Vec<(Field, Vec<Rule>)>, field: Field, rule: Rule) {
    match fields.iter_mut().find(|(known, _)| *known == field) {
        Some((_, rules)) => rules.push(rule),
        None => fields.push((field, vec![rule])),
    }
}

/// Returns the rules for records of one kind.
pub(crate) fn rules_of_kind(kind: RecordType, known: &KnownColumns<'_>) -> ColumnRules {
    let is_named = known.has_any(&[Meaning::FullName, Meaning::FirstName]);
    let has_last_names = kind == RecordType::Person && known.has_last_names_in_name();
    let mut rules = ColumnRules::new(kind);
    for (column, meaning) in known.iter() {
        let target = match meaning {
            Meaning::Name if has_last_names => Some(Target::Field(Field::LastName)),
            _ => target(kind, meaning, is_named),
        };
        if let Some(target) = target {
            rules.add_target(target, column, meaning);
        }
    }
    rules.add_prefixes(known);
    rules
}

/// Returns the transform for a column of whole names, if the column's name is in a language that
/// puts the family name first. Columns in Chinese, Japanese and Korean may also have names in Latin
/// letters, such as `John Smith`, which have the given name first.
pub(crate) fn order_of_names(column: &str) -> Option<Transform> {
    let is_asian = !column.trim().starts_with(is_latin);
    has_family_names_first(column).then_some(match is_asian {
        true => Transform::AsianFamilyNameFirst,
        false => Transform::FamilyNameFirst,
    })
}
