//! Reads Wikidata's entities in the form of its JSON dumps.

mod statement;

use enrich_text::{Country, Network};
use serde_json::{Map, Value};

use crate::country_item::country_of_item;
use crate::native::RecordType;
use crate::record_draft::RecordDraft;

use statement::{Statement, item, statements};

/// Wikidata's item for "human".
const HUMAN: &str = "Q5";

/// Wikidata's properties for other names of a company: official name, short name, name in the
/// native language.
const NAMES: [&str; 3] = ["P1448", "P1813", "P1705"];

/// Wikidata's properties for the pages of a company on social networks. Each has the network, and
/// the text that is put before the property's value, such as `@` before a YouTube handle.
const PAGES: [(&str, Network, &str); 6] = [
    ("P4264", Network::LinkedIn, ""),
    ("P2013", Network::Facebook, ""),
    ("P2002", Network::Twitter, ""),
    ("P2003", Network::Instagram, ""),
    ("P2397", Network::Youtube, "youtube.com/channel/"),
    ("P11245", Network::Youtube, "@"),
];

/// Wikidata's properties for the ids of a company in registers and data sets, each with the scheme
/// of its ids, such as `lei`.
const IDS: [(&str, &str); 8] = [
    ("P1278", "lei"),
    ("P6782", "ror"),
    ("P5531", "cik"),
    ("P2622", "gb"),
    ("P1616", "siren"),
    ("P2333", "no"),
    ("P3376", "be"),
    ("P1320", "opencorporates"),
];

/// Whether a record is an entity of a Wikidata JSON dump.
pub(crate) fn is_entity(record: &Map<String, Value>) -> bool {
    record.contains_key("claims") && record.contains_key("labels")
}

/// Makes a draft of a record from an entity. The error is the reason why the entity gives no
/// record.
///
/// `seat` is the country that the import uses for companies without a country. The record gets it
/// if the entity names no country, not even for its headquarters.
pub(crate) fn record_draft(
    entity: &Map<String, Value>,
    seat: Option<Country>,
) -> Result<RecordDraft, &'static str> {
    if entity.get("type").and_then(Value::as_str) != Some("item") {
        return Err("no item");
    }
    // Old dumps contain `[]` instead of an empty object.
    let no_claims = Map::new();
    let claims = entity.get("claims").and_then(Value::as_object).unwrap_or(&no_claims);
    let is = |property| !statements(claims, property).is_empty();
    if statements(claims, "P31").iter().any(|s| item(s.value).as_deref() == Some(HUMAN)) {
        return Err("human");
    }
    if statement::is_said(claims, "P576") {
        return Err("dissolved");
    }
    if !is("P856") {
        return Err("no website");
    }
    let mut draft = RecordDraft::new(RecordType::Company);
    if let Some(id) = entity.get("id").and_then(Value::as_str) {
        draft.id = Some(id.to_owned());
        draft.add_id("wikidata", id);
    }
    add_names(&mut draft, entity, claims);
    add_countries(&mut draft, claims);
    if draft.countries.is_empty() {
        draft.countries.extend(seat);
    }
    add_sites(&mut draft, claims);
    for (property, network, before) in PAGES {
        for statement in statements(claims, property) {
            if let Some(text) = statement.value.as_str() {
                draft.add_network(network, &format!("{before}{text}"));
            }
        }
    }
    for statement in statements(claims, "P968") {
        if let Some(text) = statement.value.as_str() {
            draft.add_email(text.strip_prefix("mailto:").unwrap_or(text));
        }
    }
    for statement in statements(claims, "P1329") {
        if let Some(text) = statement.value.as_str() {
            draft.add_phone(text, None);
        }
    }
    for (property, scheme) in IDS {
        for statement in statements(claims, property) {
            if let Some(text) = statement.value.as_str() {
                draft.add_id(scheme, text);
            }
        }
    }
    Ok(draft)
}

/// Adds the name: the English label, else the label for all languages (`mul`), else any label.
/// Adds all other labels, the aliases and the values of the properties in [`NAMES`] as aliases.
fn add_names(draft: &mut RecordDraft, entity: &Map<String, Value>, claims: &Map<String, Value>) {
    let value = |value: &Value| value.get("value").and_then(Value::as_str).map(str::to_owned);
    if let Some(labels) = entity.get("labels").and_then(Value::as_object) {
        let first = ["en", "mul"].iter().find_map(|language| labels.get(*language));
        draft.name = first.or_else(|| labels.values().next()).and_then(value);
        labels.values().filter_map(value).for_each(|name| draft.add_alias(name));
    }
    if let Some(aliases) = entity.get("aliases").and_then(Value::as_object) {
        let all = aliases.values().filter_map(Value::as_array).flatten();
        all.filter_map(value).for_each(|name| draft.add_alias(name));
    }
    for property in NAMES {
        for statement in statements(claims, property) {
            if let Some(text) = statement.value.get("text").and_then(Value::as_str) {
                draft.add_alias(text.to_owned());
            }
        }
    }
}

/// Adds the countries of the entity. If there are none, adds the countries of its headquarters.
fn add_countries(draft: &mut RecordDraft, claims: &Map<String, Value>) {
    let of_item = |value: &Value| item(value).and_then(|id| country_of_item(&id));
    let own: Vec<Country> =
        statements(claims, "P17").iter().filter_map(|s| of_item(s.value)).collect();
    let found = match own.is_empty() {
        false => own,
        true => {
            let seats = statements(claims, "P159");
            seats.iter().flat_map(|seat| seat.qualifiers("P17")).filter_map(of_item).collect()
        }
    };
    for country in found {
        if !draft.countries.contains(&country) {
            draft.countries.push(country);
        }
    }
}

/// Adds the websites. Websites for all countries come before websites for one country.
fn add_sites(draft: &mut RecordDraft, claims: &Map<String, Value>) {
    let country = |site: &Statement<'_>| {
        let mut of_site = site.qualifiers("P17");
        of_site.extend(site.qualifiers("P1001"));
        of_site.into_iter().find_map(|value| country_of_item(&item(value)?))
    };
    let sites = statements(claims, "P856");
    let (local, global): (Vec<_>, Vec<_>) =
        sites.iter().map(|site| (site, country(site))).partition(|(_, country)| country.is_some());
    for (site, country) in global.into_iter().chain(local) {
        if let Some(text) = site.value.as_str() {
            draft.add_url(text, country, true);
        }
    }
}
