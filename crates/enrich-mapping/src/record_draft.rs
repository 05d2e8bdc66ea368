//! A record in Enrich's own import format that is not complete yet. The rules of a mapping fill its
//! fields one after the other.

mod person;

use enrich_text::{Country, Domain, ExternalId, InvalidPhone, Network, PageUrl, PersonPage, Phone};
use serde_json::{Map, Value, json};

use crate::access_link::link_address;
use crate::address::is_email;
use crate::half_width::half_width;
use crate::json_fields::{one_or_list, set, set_list};
use crate::location::country_in;
use crate::mail_provider::is_of_another_provider;
use crate::native::RecordType;
use crate::outcome::Note;
use crate::phone_text::{
    has_separate_ending, names_country, phone_texts, whole_numbers, without_second_ending,
};
use crate::role_mailbox::is_role_address;
use crate::route::{Route, is_site_of, is_whole_site, route_url};

/// Maximum number of values of a field that an import accepts.
const MAX_VALUES: usize = 1_000;

#[derive(Clone, Debug)]
pub(crate) struct RecordDraft {
    pub(crate) kind: RecordType,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    aliases: Vec<String>,
    pub(crate) countries: Vec<Country>,
    domains: Vec<(String, Option<Country>)>,
    pages: Vec<(Network, String)>,
    emails: Vec<String>,
    phones: Vec<String>,
    pub(crate) ip: Option<String>,
    pub(crate) page_rank: Option<String>,
    ids: Vec<(String, Vec<String>)>,
    pub(crate) parent: Option<String>,
    pub(crate) first_name: Option<String>,
    pub(crate) last_name: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) company: Option<String>,
    company_domain: Option<String>,
    /// Why the columns for the person's name give no name, if they have a text: a remark, an
    /// address, a department, or only a part of a name.
    name_problem: Option<&'static str>,
    pub(crate) notes: Vec<Note>,
}

impl RecordDraft {
    pub(crate) fn new(kind: RecordType) -> Self {
        Self {
            kind,
            id: None,
            name: None,
            aliases: Vec::new(),
            countries: Vec::new(),
            domains: Vec::new(),
            pages: Vec::new(),
            emails: Vec::new(),
            phones: Vec::new(),
            ip: None,
            page_rank: None,
            ids: Vec::new(),
            parent: None,
            first_name: None,
            last_name: None,
            title: None,
            company: None,
            company_domain: None,
            name_problem: None,
            notes: Vec::new(),
        }
    }

    pub(crate) fn add_alias(&mut self, name: String) {
        add(&mut self.aliases, name);
    }

    /// Adds a country, given by its code, its name, its Wikidata item, or a place in it. An unknown
    /// country is left out, and a [`Note`] is added for it.
    pub(crate) fn add_country(&mut self, text: &str) {
        match country_in(text) {
            Some(country) => add(&mut self.countries, country),
            None => self.notes.push(Note::UnknownCountry),
        }
    }

    /// Adds what a URL leads to: a domain, a company's page on a social network, or a person's
    /// LinkedIn profile. If the text is not a URL and `is_domain` is `true`, adds it as an email
    /// address if it is one. Otherwise adds it as a domain, and the import reports it as invalid.
    pub(crate) fn add_url(&mut self, text: &str, country: Option<Country>, is_domain: bool) {
        match route_url(&half_width(link_address(text))) {
            Route::Domain(domain) => self.add_domain(domain, country),
            Route::Page(page) if self.kind == RecordType::Company => self.add_page(&page),
            Route::Person(page) if self.kind == RecordType::Person => {
                add(&mut self.pages, (Network::LinkedIn, page.to_string()));
            }
            Route::Person(_) => self.notes.push(Note::PersonPage),
            Route::Page(_) => {}
            Route::NoPage => self.notes.push(Note::NoPage),
            Route::Platform => self.notes.push(Note::Platform),
            Route::Unreadable if is_domain && is_email(text) => self.add_email(text),
            Route::Unreadable if is_domain => self.add_domain(text.to_owned(), country),
            Route::Unreadable => {}
        }
    }

    fn add_domain(&mut self, domain: String, country: Option<Country>) {
        if self.kind == RecordType::Person {
            return;
        }
        // A domain is added only once, even if it is given again for another country.
        if !self.domains.iter().any(|(known, _)| *known == domain) {
            self.domains.push((domain, country));
        }
    }

    /// Adds a domain, even if it belongs to a social network or to a platform such as a site
    /// builder. The domain is added in normal form. A text that is not a domain is added unchanged,
    /// so that the import reports it as invalid.
    pub(crate) fn add_any_domain(&mut self, text: String) {
        let domain = Domain::parse(&text).map(|domain| domain.as_str().to_owned());
        self.add_domain(domain.unwrap_or(text), None);
    }

    fn add_page(&mut self, page: &PageUrl) {
        let is_known = self.pages.len() <= MAX_VALUES
            && self.pages.iter().any(|(network, text)| {
                *network == page.network()
                    && PageUrl::parse(*network, text).is_ok_and(|known| known.key() == page.key())
            });
        if !is_known {
            self.pages.push((page.network(), page.to_string()));
        }
    }

    /// Adds a page on the social network `network`. `text` is the page's URL or its handle. If the
    /// record is a company and `text` is another URL, such as its website, adds this URL instead.
    /// Any other text is added unchanged, so that the import reports it as invalid.
    pub(crate) fn add_network(&mut self, network: Network, text: &str) {
        if self.kind == RecordType::Person {
            match PersonPage::parse(text) {
                Ok(page) => add(&mut self.pages, (network, page.to_string())),
                // A company's page is left out, because this record is a person.
                Err(_) if matches!(route_url(text), Route::Page(_)) => {}
                Err(_) => add(&mut self.pages, (network, text.to_owned())),
            }
            return;
        }
        match PageUrl::parse(network, text) {
            Ok(page) => self.add_page(&page),
            Err(_) if text.contains('/') && !is_site_of(network, text) => {
                self.add_url(text, None, false);
            }
            Err(_) => add(&mut self.pages, (network, text.to_owned())),
        }
    }

    /// Adds an email address. If a person's address belongs to a role, such as `info@`, it is left
    /// out, and a [`Note`] is added. If the text is a website, because a column has both (`E-mail &
    /// web`), it is added as the company's website.
    pub(crate) fn add_email(&mut self, text: &str) {
        let text = half_width(link_address(text)).into_owned();
        if is_whole_site(&text) {
            match self.kind {
                RecordType::Person if self.company_domain.is_none() => {
                    self.set_company_domain(&text)
                }
                _ => self.add_url(&text, None, true),
            }
            return;
        }
        if self.kind == RecordType::Person && is_role_address(&text) {
            self.notes.push(Note::RoleAddress);
            return;
        }
        add(&mut self.emails, text);
    }

    /// Adds the phone numbers of a text, in E.164 form. Slashes or words separate the numbers. A
    /// text that is not a number is added unchanged, so that the import reports it as invalid.
    ///
    /// A national number (without a country calling code) is read as a number of the record's first
    /// country. If the record has no country, it is read as a number of `country`. If this is
    /// `None` too, or if the country has no such number, the number is left out, and a [`Note`] is
    /// added.
    pub(crate) fn add_phone(&mut self, text: &str, country: Option<Country>) {
        let country = self.countries.first().copied().or(country);
        let texts = phone_texts(&half_width(text));
        for text in texts.iter().flat_map(|text| whole_numbers(text)) {
            let parse = |text: &str| match country {
                Some(country) => Phone::parse_of(text, country),
                None => Phone::parse_international(text),
            };
            let phone = match without_second_ending(text) {
                Some(first) if has_separate_ending(text) => parse(first).or_else(|_| parse(text)),
                Some(first) => parse(text).or_else(|_| parse(first)),
                None => parse(text),
            };
            let note = if country.is_some() { Note::ForeignPhone } else { Note::NationalPhone };
            match phone {
                Ok(phone) => add(&mut self.phones, phone.to_string()),
                Err(InvalidPhone::NoCountryCode) if !names_country(text) => self.notes.push(note),
                Err(_) => add(&mut self.phones, text.to_owned()),
            }
        }
    }

    /// Adds an id of a company. `scheme` is the register or data set that gives the id, such as
    /// `lei`. If the id does not have the form of this scheme, it is left out, and a [`Note`] is
    /// added.
    pub(crate) fn add_id(&mut self, scheme: &str, text: &str) {
        let Ok(id) = ExternalId::parse(scheme, text) else {
            self.notes.push(Note::BadId);
            return;
        };
        let id = id.id().to_owned();
        match self.ids.iter_mut().find(|(known, _)| known == scheme) {
            Some((_, ids)) => add(ids, id),
            None => self.ids.push((scheme.to_owned(), vec![id])),
        }
    }

    /// Sets the domain of a person's employer, if `text` is the URL of a company's website. A URL
    /// on a social network, or on a platform such as a site builder, is left out. An email address
    /// is added to the email addresses of the record. Any other text is set unchanged, so that the
    /// import reports it as invalid.
    pub(crate) fn set_company_domain(&mut self, text: &str) {
        match route_url(&half_width(link_address(text))) {
            Route::Domain(domain) => self.company_domain = Some(domain),
            Route::Platform => self.notes.push(Note::Platform),
            Route::NoPage => self.notes.push(Note::NoPage),
            Route::Page(_) | Route::Person(_) => {}
            Route::Unreadable if is_email(text) => self.add_email(text),
            Route::Unreadable => self.company_domain = Some(text.to_owned()),
        }
    }

    /// Leaves out websites of mail providers, such as `gmail.com`, and adds a [`Note`] for each. A
    /// website is kept if the company in the record is the mail provider itself.
    pub(crate) fn leave_out_mail_providers(&mut self) {
        if self.kind == RecordType::Domain {
            return;
        }
        let names: Vec<&str> = self
            .name
            .iter()
            .chain(&self.aliases)
            .chain(&self.company)
            .map(String::as_str)
            .collect();
        let is_other = |domain: &str| is_of_another_provider(domain, names.iter().copied());
        let before = self.domains.len();
        self.domains.retain(|(domain, _)| !is_other(domain));
        let mut count = before - self.domains.len();
        if self.company_domain.as_deref().is_some_and(is_other) {
            self.company_domain = None;
            count += 1;
        }
        self.notes.extend(std::iter::repeat_n(Note::MailProvider, count));
    }

    /// Returns the record in Enrich's own import format, or the reason why no record can be made.
    pub(crate) fn finish(self, confidence: Option<u8>) -> Result<Map<String, Value>, &'static str> {
        let mut record = Map::new();
        record.insert("type".to_owned(), self.kind.as_str().into());
        set(&mut record, "id", self.id.clone());
        match self.kind {
            RecordType::Company => self.finish_company(&mut record)?,
            RecordType::Person => self.finish_person(&mut record)?,
            RecordType::Domain => self.finish_domain(&mut record)?,
        }
        if let Some(confidence) = confidence {
            record.insert("confidence".to_owned(), confidence.into());
        }
        Ok(record)
    }

    fn finish_company(self, record: &mut Map<String, Value>) -> Result<(), &'static str> {
        let name = self.name.clone().ok_or("no name")?;
        let aliases = self.aliases.iter().filter(|alias| **alias != name).cloned().collect();
        set(record, "name", Some(name.clone()));
        set_list(record, "aliases", aliases);
        self.set_country(record);
        let domain = |(domain, country): &(String, Option<Country>)| match country {
            Some(country) => json!({"domain": domain, "country": country.alpha2()}),
            None => domain.as_str().into(),
        };
        if !self.domains.is_empty() {
            let domains = self.domains.iter().map(domain).collect();
            record.insert("domains".to_owned(), Value::Array(domains));
        }
        for network in [
            Network::LinkedIn,
            Network::Facebook,
            Network::Instagram,
            Network::Twitter,
            Network::Youtube,
        ] {
            self.set_pages(record, network);
        }
        set_list(record, "emails", self.emails);
        set_list(record, "phones", self.phones);
        set(record, "ip", self.ip);
        set(record, "page_rank", self.page_rank);
        if !self.ids.is_empty() {
            let ids = self.ids.into_iter().map(|(scheme, ids)| (scheme, one_or_list(ids)));
            record.insert("ids".to_owned(), Value::Object(ids.collect()));
        }
        set(record, "parent", self.parent);
        Ok(())
    }

    fn finish_domain(self, record: &mut Map<String, Value>) -> Result<(), &'static str> {
        let (domain, _) = self.domains.into_iter().next().ok_or("no domain")?;
        set(record, "domain", Some(domain));
        set(record, "ip", self.ip);
        set(record, "page_rank", self.page_rank);
        Ok(())
    }

    fn set_country(&self, record: &mut Map<String, Value>) {
        let codes: Vec<String> =
            self.countries.iter().map(|country| country.alpha2().to_owned()).collect();
        if !codes.is_empty() {
            record.insert("country".to_owned(), one_or_list(codes));
        }
    }

    fn set_pages(&self, record: &mut Map<String, Value>, network: Network) {
        let pages = self.pages.iter().filter(|(of, _)| *of == network);
        let pages: Vec<String> = pages.map(|(_, page)| page.clone()).collect();
        if !pages.is_empty() {
            record.insert(network.as_str().to_owned(), one_or_list(pages));
        }
    }
}

/// Adds a value that is new. A list with more than [`MAX_VALUES`] values is not searched for the
/// value, to save time. The import drops the further values anyway.
fn add<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if list.len() > MAX_VALUES || !list.contains(&value) {
        list.push(value);
    }
}
