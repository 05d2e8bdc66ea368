//! The rules by which a mapping makes records of one kind, such as companies.

use serde_json::{Map, Value};

use enrich_text::{Country, Network};

use crate::address::is_email;
use crate::column_name::meaning;
use crate::condition::Condition;
use crate::contact_cell::ContactCell;
use crate::error::MappingError;
use crate::meaning::{Target, target};
use crate::native::{Field, RecordType};
use crate::no_value::{is_no_company, is_no_name, is_no_value};
use crate::node::{Node, Table, list};
use crate::path::{is_same_column, texts};
use crate::record_draft::RecordDraft;
use crate::route::{Route, is_no_handle, route_url};
use crate::rule::Rule;
use crate::source::SourceInfo;

/// The rules by which a mapping makes records of one kind, such as companies.
#[derive(Clone, Debug)]
pub(crate) struct RecordRule {
    pub(crate) kind: RecordType,
    when: Vec<Condition>,
    id: Option<Rule>,
    fields: Vec<(Field, Rule)>,
    /// Fields that are read only if the input record gives no record of the other kind: for a
    /// company, no person; for a person, no company. This is `None` unless each input record may
    /// have a company and a person who works there.
    fields_if_alone: Option<Vec<(Field, Rule)>>,
    ids: Vec<(String, Rule)>,
    /// Whether some columns that no rule names are read too: those with a usual column name, such
    /// as `Website`.
    has_synonyms: bool,
    /// Whether the source is Wikidata. Its records are entities of JSON dumps, or results of its
    /// query service. These rules read only the results. The module `wikidata` reads the entities.
    pub(crate) is_wikidata: bool,
    /// If the rules were made from columns: the columns that are read, each with its field. Empty
    /// for the rules of a mapping file.
    pub(crate) used_columns: Vec<(String, String)>,
}

impl RecordRule {
    /// Creates the rules from fields and ids, without conditions.
    pub(crate) fn of(
        kind: RecordType,
        fields: Vec<(Field, Rule)>,
        ids: Vec<(String, Rule)>,
    ) -> Self {
        Self {
            kind,
            when: Vec::new(),
            id: None,
            fields,
            fields_if_alone: None,
            ids,
            has_synonyms: false,
            is_wikidata: false,
            used_columns: Vec::new(),
        }
    }

    /// Adds rules for input records that may have a company and a person who works there. The
    /// fields of these rules are read only from an input record without a company, or without a
    /// person.
    pub(crate) fn with_fields_if_alone(self, fields: Vec<(Field, Rule)>) -> Self {
        Self { fields_if_alone: Some(fields), ..self }
    }

    /// Returns these rules with a rule for the id that the source gives a record.
    pub(crate) fn with_id(self, id: Option<Rule>) -> Self {
        Self { id, ..self }
    }

    /// Reads the rules for one kind of record from three tables of a mapping file. The table
    /// `record` has the kind and the conditions; `fields` and `ids` have a rule for each field and
    /// each id.
    pub(crate) fn read(
        record: Option<&Table<'_, '_>>,
        fields: Option<Node<'_, '_>>,
        ids: Option<Node<'_, '_>>,
    ) -> Result<Self, MappingError> {
        let of_record = |name| record.and_then(|table| table.get(name));
        let kind = of_record("type").map_or(Ok(RecordType::Company), read_type)?;
        let is_wikidata = match of_record("code") {
            Some(node) if node.text()? == "wikidata" => true,
            Some(node) => return Err(node.wrong("is `wikidata`")),
            None => false,
        };
        Ok(Self {
            kind,
            when: of_record("when").map_or(Ok(Vec::new()), Condition::read_all)?,
            id: of_record("id").map(Rule::read).transpose()?,
            fields: fields.map_or(Ok(Vec::new()), |node| read_fields(kind, node))?,
            fields_if_alone: None,
            ids: ids.map_or(Ok(Vec::new()), read_ids)?,
            has_synonyms: record
                .map_or(Ok(None), |table| table.flag("synonyms"))?
                .unwrap_or_default(),
            is_wikidata,
            used_columns: Vec::new(),
        })
    }

    /// Whether the input records may have a company and a person who works there.
    pub(crate) fn is_of_both(&self) -> bool {
        self.fields_if_alone.is_some()
    }

    /// Whether the input record has a text for the field `name` that can be the name of a company.
    pub(crate) fn has_name(&self, record: &Map<String, Value>, source: &SourceInfo) -> bool {
        let mut names = self.fields.iter().filter(|(field, _)| *field == Field::Name);
        names.any(|(_, rule)| rule.values(record, &source.null).iter().any(|it| !is_no_company(it)))
    }

    /// Whether the input record meets the conditions for a record of this kind.
    pub(crate) fn applies_to(&self, record: &Map<String, Value>) -> bool {
        self.when.iter().all(|condition| condition.is_met(record))
    }

    /// Makes a draft of a native record from an input record. If the input record names no country,
    /// `seat` is used: as the company's country, and to read national phone numbers. If the input
    /// record names an unknown country, `seat` is not used.
    ///
    /// `is_alone` is `true` if the input record may have a company and a person, but has only one
    /// of the two. Then the fields in `fields_if_alone` are read too.
    pub(crate) fn record_draft(
        &self,
        record: &Map<String, Value>,
        source: &SourceInfo,
        seat: Option<Country>,
        is_alone: bool,
    ) -> RecordDraft {
        let mut draft = RecordDraft::new(self.kind);
        let values = |rule: &Rule| rule.values(record, &source.null);
        draft.id = self.id.as_ref().and_then(|rule| values(rule).into_iter().next());
        let if_alone = self.fields_if_alone.iter().flatten().filter(|_| is_alone);
        let rules = self.fields.iter().chain(if_alone);
        let mut fields: Vec<(Field, Vec<String>)> =
            rules.map(|(field, rule)| (*field, values(rule))).collect();
        let mut ids: Vec<(&str, Vec<String>)> =
            self.ids.iter().map(|(scheme, rule)| (scheme.as_str(), values(rule))).collect();
        if self.has_synonyms {
            self.add_synonyms(record, &source.null, &mut fields, &mut ids);
        }
        for (field, texts) in fields.iter_mut().filter(|(field, _)| field.is_name()) {
            texts.retain(|text| match field {
                Field::Company => !is_no_company(text),
                // If an input record may have a company and a person, the company name `Freelancer`
                // means that the person has no company. In a file that has only companies,
                // `Freelancer` may be a company's name.
                Field::Name if self.is_of_both() => !is_no_company(text),
                _ => !is_no_name(text),
            });
        }
        // The country comes first, because the country is needed to read national phone numbers.
        let (countries, others): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|(field, _)| *field == Field::Country);
        // A number such as `75` is a region (a French department). It is ignored, and not reported
        // as an unknown country.
        let has_letter = |text: &String| text.contains(char::is_alphabetic);
        let texts = countries.into_iter().flat_map(|(_, texts)| texts);
        let countries: Vec<String> = texts.filter(has_letter).collect();
        countries.iter().for_each(|text| draft.add_country(text));
        let seat = seat.filter(|_| countries.is_empty());
        match self.kind {
            RecordType::Person => draft.countries.truncate(1),
            _ => draft.countries.extend(seat),
        }
        let is_own_list = source.is_own_list();
        let mut full_name = None;
        for (field, found) in others {
            match field {
                Field::FullName => full_name = found.into_iter().next(),
                _ => fill(&mut draft, field, found, seat, is_own_list),
            }
        }
        if self.kind == RecordType::Person {
            let cell = full_name.map(|text| ContactCell::read(&text));
            cell.iter().for_each(|cell| draft.add_contact(cell, seat));
            draft.read_name(cell.map(|cell| cell.name));
        }
        for (scheme, found) in ids {
            found.iter().for_each(|text| draft.add_id(scheme, text));
        }
        draft.leave_out_mail_providers();
        draft
    }

    /// Reads the columns that no rule reads, and adds their values to `fields` and `ids`. A column
    /// is read only if its name is a usual name of a field or of an external id, such as `Website`.
    fn add_synonyms<'s>(
        &'s self,
        record: &Map<String, Value>,
        null: &[String],
        fields: &mut Vec<(Field, Vec<String>)>,
        ids: &mut Vec<(&'s str, Vec<String>)>,
    ) {
        let mut read = Vec::new();
        self.columns_read(record, &mut read);
        let values = |value: &Value| {
            let is_value = |text: &String| !is_no_value(text) && !null.contains(text);
            texts(value).into_iter().filter(is_value).collect::<Vec<_>>()
        };
        let is_read = |key: &str| read.iter().any(|name| is_same_column(name, key));
        for (key, value) in record.iter().filter(|(key, _)| !is_read(key)) {
            let target = meaning(key).and_then(|meaning| target(self.kind, meaning, true));
            let field = match target {
                Some(Target::Field(field)) => field,
                Some(Target::Id(scheme)) => {
                    ids.push((scheme, values(value)));
                    continue;
                }
                None => continue,
            };
            match fields.iter_mut().find(|(known, _)| *known == field) {
                Some((_, found)) => found.extend(values(value)),
                None => fields.push((field, values(value))),
            }
        }
    }

    /// Adds to `found` the columns or top-level keys that the rules read.
    pub(crate) fn columns_read<'a>(
        &'a self,
        record: &Map<String, Value>,
        found: &mut Vec<&'a str>,
    ) {
        let fields = self.fields.iter().chain(self.fields_if_alone.iter().flatten());
        let rules = fields.map(|(_, rule)| rule);
        let rules = rules.chain(self.ids.iter().map(|(_, rule)| rule)).chain(&self.id);
        rules.for_each(|rule| rule.columns_read(record, found));
    }
}

/// Fills a field. `is_own_list` says that the columns were found by their names, or were named by
/// the operator. Then a column of pages may also have websites.
fn fill(
    draft: &mut RecordDraft,
    field: Field,
    mut values: Vec<String>,
    seat: Option<Country>,
    is_own_list: bool,
) {
    let network = match field {
        Field::LinkedIn => Some(Network::LinkedIn),
        Field::Facebook => Some(Network::Facebook),
        Field::Instagram => Some(Network::Instagram),
        Field::Twitter => Some(Network::Twitter),
        Field::Youtube => Some(Network::Youtube),
        _ => None,
    };
    if let Some(network) = network {
        values.retain(|text| !is_yes_or_no(text));
        for text in values {
            match is_own_list && is_no_handle(network, &text) {
                true => draft.add_url(&text, None, false),
                false => draft.add_network(network, &text),
            }
        }
        return;
    }
    match field {
        Field::Aliases => values.into_iter().for_each(|text| draft.add_alias(text)),
        Field::Domains if draft.kind == RecordType::Domain => {
            values.into_iter().for_each(|text| draft.add_any_domain(text));
        }
        Field::Domains => values.iter().for_each(|text| draft.add_url(text, None, true)),
        Field::Urls => values.iter().for_each(|text| draft.add_url(text, None, false)),
        Field::Emails => {
            let texts = split_at_slashes(without_names(values));
            texts.iter().for_each(|text| draft.add_email(text));
        }
        Field::Phones => values.iter().for_each(|text| draft.add_phone(text, seat)),
        Field::CompanyDomain => {
            let is_domain = |text: &&String| matches!(route_url(text), Route::Domain(_));
            if let Some(text) = values.iter().find(is_domain).or(values.first()) {
                draft.set_company_domain(text);
            }
        }
        _ => {
            if !values.is_empty() {
                set(draft, field, values.swap_remove(0));
            }
        }
    }
}

/// Whether a text is `yes` or `no`, in one of several languages. Some columns answer a question
/// such as "Is the company on LinkedIn?".
fn is_yes_or_no(text: &str) -> bool {
    const ANSWERS: [&str; 14] = [
        "yes", "no", "y", "n", "true", "false", "ja", "nein", "oui", "non", "sí", "si", "nee",
        "nej",
    ];
    ANSWERS.contains(&text.trim().to_lowercase().as_str())
}

/// Splits texts such as `ada@quill.example/bob@quill.example` at their slashes. A slash may also be
/// a part of an address, so a text is split only if each part is an address.
fn split_at_slashes(texts: Vec<String>) -> Vec<String> {
    let split = texts.into_iter().flat_map(|text| {
        let parts: Vec<&str> = text.split('/').collect();
        match parts.iter().all(|part| is_email(part)) {
            true => parts.into_iter().map(str::to_owned).collect(),
            false => vec![text],
        }
    });
    split.collect()
}

/// Removes people's names from the parts of a text that was split at its blanks. From the parts
/// `Ada`, `Byte` and `<ada@quill.example>`, it returns only `ada@quill.example`. If no part is an
/// email address in angle brackets, returns all parts unchanged.
fn without_names(texts: Vec<String>) -> Vec<String> {
    let bracketed = |text: &str| Some(text.strip_prefix('<')?.strip_suffix('>')?.to_owned());
    let is_address = |text: &String| text.contains('@');
    if !texts.iter().any(|text| is_address(text) && bracketed(text).is_some()) {
        return texts;
    }
    let addresses = texts.into_iter().filter(is_address);
    addresses.map(|text| bracketed(&text).unwrap_or(text)).collect()
}

/// Sets a field that has a single value.
fn set(draft: &mut RecordDraft, field: Field, value: String) {
    let place = match field {
        Field::Name => &mut draft.name,
        Field::Ip => &mut draft.ip,
        Field::PageRank => &mut draft.page_rank,
        Field::Parent => &mut draft.parent,
        Field::FirstName => &mut draft.first_name,
        Field::LastName => &mut draft.last_name,
        Field::Title => &mut draft.title,
        Field::Company => &mut draft.company,
        _ => return,
    };
    *place = Some(value);
}

fn read_type(node: Node<'_, '_>) -> Result<RecordType, MappingError> {
    let name = node.text()?;
    let names = list(&RecordType::ALL.map(|(name, _)| name));
    let problem = || node.refused(format!("`{name}` is no type of record; there are {names}"));
    RecordType::from_name(&name).ok_or_else(problem)
}

fn read_fields(kind: RecordType, node: Node<'_, '_>) -> Result<Vec<(Field, Rule)>, MappingError> {
    let mut fields: Vec<(Field, Rule)> = Vec::new();
    for (name, node) in node.table()?.entries() {
        let found = Field::of_mapping(name).filter(|field| field.belongs_to(kind));
        let Some(field) = found else {
            let (kind, names) = (kind.as_str(), list(&Field::names(kind)));
            let problem = format!("`{name}` is no field of a {kind}; there are {names}");
            return Err(node.refused(problem));
        };
        if fields.iter().any(|(known, _)| *known == field) {
            return Err(node.wrong("is there twice, in the singular and the plural"));
        }
        fields.push((field, Rule::read(node)?));
    }
    Ok(fields)
}

fn read_ids(node: Node<'_, '_>) -> Result<Vec<(String, Rule)>, MappingError> {
    let mut ids = Vec::new();
    for (scheme, node) in node.table()?.entries() {
        ids.push((scheme.to_owned(), Rule::read(node)?));
    }
    Ok(ids)
}
