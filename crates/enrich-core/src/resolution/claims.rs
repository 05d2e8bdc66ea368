//! What one record says about its company, in the forms that entity resolution compares. Entity
//! resolution decides which records describe the same company.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use enrich_text::{CompanyName, Country, Domain, NameForm, NameWord, PageUrl, country_of_word};

use crate::merge::{Attribute, Fact};
use crate::record::CompanyRecord;
use crate::subject::Company;

/// Words that can be removed from the end of a name without changing which company it means:
/// `Quill Group` means the same company as `Quill`.
const WHOLE_WORDS: [&str; 5] = ["group", "holding", "international", "global", "worldwide"];
/// The top-level domains under which a company usually has its site for all countries, such as
/// `quill.com`. Other top-level domains without a country, such as `.red`, are left out, because
/// `quill.red` often belongs to another company than `quill.com`.
const WORLDWIDE: [&str; 7] = ["com", "org", "net", "int", "eu", "info", "biz"];
/// Minimum and maximum number of letters of initials, such as `qia`. Shorter or longer initials are
/// not compared with names.
const INITIALS: std::ops::RangeInclusive<usize> = 2..=8;

/// The prefix of a [`RecordKey::record`] that contains the id from the source. Without such an id,
/// [`RecordKey::record`] is a digest or empty. A digest contains no space, so it never begins with
/// this prefix.
const ID: &str = "id ";

/// Identifies a record among the records of all sources. Records are sorted by their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// The name of the source. The number of the source in the database is not used, because it
    /// depends on the order of imports.
    pub source: String,
    /// Identifies the record within its source. This is a prefix and the id that the source gives
    /// to the record, or a digest of the record's content if the source gives no id. Empty if the
    /// records of the source cannot be distinguished.
    pub record: String,
}

impl RecordKey {
    /// Creates the key of a record to which its source gives this id.
    pub fn of_id(source: String, id: &str) -> Self {
        Self { source, record: format!("{ID}{id}") }
    }

    /// Returns the id that the source gives to the record; `None` if it gives none.
    pub fn id(&self) -> Option<&str> {
        self.record.strip_prefix(ID)
    }

    /// Whether the key identifies one record: it contains an id or a digest.
    pub(super) fn is_known(&self) -> bool {
        !self.record.is_empty()
    }
}

/// A domain of a company, and the parts of it that are compared to decide which records describe
/// the same company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) host: String,
    pub(super) registrable: String,
    pub(super) label: String,
    /// The country to which the top-level domain belongs; `None` for `.com`.
    pub(super) country: Option<Country>,
    /// Whether the top-level domain is one of [`WORLDWIDE`].
    is_worldwide: bool,
}

impl Host {
    pub(super) fn of(domain: &Domain) -> Self {
        let last = domain.as_str().rsplit('.').next();
        Self {
            registrable: domain.registrable().as_str().to_owned(),
            label: domain.label().replace('-', ""),
            country: domain.country(),
            is_worldwide: last.is_some_and(|it| WORLDWIDE.contains(&it)),
            host: domain.as_str().to_owned(),
        }
    }

    /// Whether the domain can be a company's site for one country, such as `quill.de`, or for all
    /// countries, such as `quill.com`.
    pub(super) fn can_be_of_countries(&self) -> bool {
        self.is_worldwide || self.country.is_some()
    }
}

/// The values of one record that entity resolution compares with other records, to decide which
/// records describe the same company.
#[derive(Clone, Debug)]
pub struct RecordClaims {
    pub(super) key: RecordKey,
    /// The company's own names in the record, without aliases.
    named: Vec<CompanyName>,
    also_named: Vec<CompanyName>,
    pub(super) hosts: Vec<Host>,
    pub(super) pages: Vec<String>,
    pub(super) phones: Vec<String>,
    pub(super) ids: Vec<String>,
    pub(super) seats: Vec<Country>,
    /// Whether every name in the record is one of its hosts, such as `quill.example`. Then the
    /// source does not know the company's real name.
    pub(super) is_named_by_domain: bool,
    /// Forms of the names by which similar names are recognised. They are calculated when they
    /// are first needed.
    near: OnceLock<NearNames>,
}

/// Forms of a record's names by which similar names are recognised. They are used only for
/// records that share a domain, a page or a phone number.
#[derive(Clone, Debug, Default)]
pub(super) struct NearNames {
    /// The names without spaces, in the forms that [`near_forms`] returns.
    pub(super) forms: BTreeSet<String>,
    /// The initials of the names, if they have two to eight letters.
    pub(super) initials: BTreeSet<String>,
}

impl RecordClaims {
    /// Collects what a stored record says about its company. `facts` are the facts of the record.
    /// Values that cannot be parsed are left out.
    pub fn of<'a>(key: RecordKey, facts: impl IntoIterator<Item = &'a Fact>) -> Self {
        let mut claims = Self::empty(key);
        for fact in facts {
            claims.add(fact.attribute, &fact.value);
        }
        claims.note_name()
    }

    /// Collects what a record says about its company, before the record is stored.
    pub fn of_record(record: &CompanyRecord) -> Self {
        let mut claims = Self::empty(RecordKey::default());
        claims.named.push(record.name.clone());
        claims.also_named.extend(record.aliases.iter().cloned());
        record.sites.iter().for_each(|(it, _)| claims.add(Attribute::Domain, it.as_str()));
        claims.pages.extend(record.pages.iter().map(|page| page.key().to_owned()));
        claims.phones.extend(record.phones.iter().map(|phone| phone.as_str().to_owned()));
        claims.ids.extend(record.ids.iter().map(|id| id.as_str().to_owned()));
        claims.seats.extend(&record.seats);
        claims.note_name()
    }

    /// Collects all values of a company, as if they came from one record.
    pub fn of_company(company: &Company) -> Self {
        let mut claims = Self::empty(RecordKey::default());
        claims.add(Attribute::Name, &company.name);
        company.aliases.iter().for_each(|alias| claims.add(Attribute::Alias, alias));
        company.sites.iter().for_each(|site| claims.add(Attribute::Domain, &site.domain));
        for (network, page) in &company.pages {
            claims.add(Attribute::Page(*network), page);
        }
        claims.phones.clone_from(&company.phones);
        claims.ids.clone_from(&company.ids);
        claims.seats.clone_from(&company.seats);
        claims.note_name()
    }

    fn empty(key: RecordKey) -> Self {
        Self {
            key,
            named: Vec::new(),
            also_named: Vec::new(),
            hosts: Vec::new(),
            pages: Vec::new(),
            phones: Vec::new(),
            ids: Vec::new(),
            seats: Vec::new(),
            is_named_by_domain: false,
            near: OnceLock::new(),
        }
    }

    fn note_name(mut self) -> Self {
        let is_host = |name: &CompanyName| {
            self.hosts.iter().any(|host| host.host.eq_ignore_ascii_case(name.display()))
        };
        self.is_named_by_domain =
            !self.named.is_empty() && self.named.iter().chain(&self.also_named).all(is_host);
        self
    }

    fn add(&mut self, attribute: Attribute, value: &str) {
        match attribute {
            Attribute::Name => self.named.extend(CompanyName::parse(value).ok()),
            Attribute::Alias => self.also_named.extend(CompanyName::parse(value).ok()),
            Attribute::Domain => {
                self.hosts.extend(Domain::parse(value).map(|domain| Host::of(&domain)).ok())
            }
            Attribute::Page(network) => {
                let page = PageUrl::parse(network, value);
                self.pages.extend(page.map(|page| page.key().to_owned()).ok());
            }
            Attribute::Phone => self.phones.push(value.to_owned()),
            Attribute::ExternalId => self.ids.push(value.to_owned()),
            Attribute::Country => self.seats.extend(Country::from_code(value).ok()),
            _ => {}
        }
    }

    /// Compares two records for sorting: by their keys, and if the keys are equal, by their names
    /// and other values.
    pub(super) fn canonical_cmp(&self, other: &Self) -> Ordering {
        let names = |one: &Self| -> Vec<String> {
            one.named.iter().chain(&one.also_named).map(|it| it.display().to_owned()).collect()
        };
        let hosts = |one: &Self| one.hosts().map(str::to_owned).collect::<Vec<_>>();
        self.key
            .cmp(&other.key)
            .then_with(|| names(self).cmp(&names(other)))
            .then_with(|| hosts(self).cmp(&hosts(other)))
            .then_with(|| self.ids.cmp(&other.ids))
            .then_with(|| self.pages.cmp(&other.pages))
            .then_with(|| self.phones.cmp(&other.phones))
            .then_with(|| self.seats.cmp(&other.seats))
    }

    /// Returns the key that identifies the record.
    pub fn key(&self) -> &RecordKey {
        &self.key
    }

    /// Returns the company's first name in the record as written. Aliases do not count. `None` if
    /// the record has no name that can be parsed.
    pub fn display_name(&self) -> Option<&str> {
        self.named.first().map(CompanyName::display)
    }

    /// Returns the company's own names in the record, without aliases.
    pub(super) fn own_names(&self) -> impl Iterator<Item = &CompanyName> {
        self.named.iter()
    }

    /// Returns the company's names in the record, without aliases, in the form in which names are
    /// looked up: `quillpens` for `Quill Pens Ltd`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(CompanyName::squashed)
    }

    /// Returns the company's aliases in the record in the form in which names are looked up:
    /// `quillpens` for `Quill Pens Ltd`.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.also_named.iter().map(CompanyName::squashed)
    }

    /// Returns the company's hosts (domains) in the record.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| host.host.as_str())
    }

    /// Returns the registrable domains of the company's hosts: `quill.example` for
    /// `eu.quill.example`.
    pub fn registrable_domains(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| host.registrable.as_str())
    }

    /// Returns the domains that can be the company's site for one country, such as `quill.de`, or
    /// for all countries, such as `quill.com`.
    pub(super) fn hosts_of_countries(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter().filter(|host| host.can_be_of_countries())
    }

    /// Returns the company's pages on social networks, in the form in which they are compared:
    /// `linkedin:quill`.
    pub fn pages(&self) -> impl Iterator<Item = &str> {
        self.pages.iter().map(String::as_str)
    }

    /// Returns the company's phone numbers in the record.
    pub fn phones(&self) -> impl Iterator<Item = &str> {
        self.phones.iter().map(String::as_str)
    }

    /// Returns the company's ids in the record, such as `lei:…`.
    pub fn ids(&self) -> impl Iterator<Item = &str> + Clone {
        self.ids.iter().map(String::as_str)
    }

    /// Whether the record has neither a domain nor a page. Then usually only its name shows which
    /// company the record describes.
    pub fn is_name_alone(&self) -> bool {
        self.hosts.is_empty() && self.pages.is_empty()
    }

    /// Whether a name of one record (not an alias) equals a name or an alias of the other record.
    /// Legal forms are ignored: `Quill Ltd` equals `Quill`.
    pub(super) fn is_equally_named(&self, other: &Self) -> bool {
        let has = |one: &Self, name: &str| one.names().chain(one.aliases()).any(|it| it == name);
        self.names().any(|name| has(other, name)) || other.names().any(|name| has(self, name))
    }

    /// Whether a name of one record (not an alias) equals a name or an alias of the other record.
    /// Legal forms count: `Quill Ltd` does not equal `Quill`.
    pub(super) fn is_named_the_same(&self, other: &Self) -> bool {
        let all = |one: &Self| -> Vec<String> {
            one.named.iter().chain(&one.also_named).map(|name| name.folded().to_owned()).collect()
        };
        let (these, those) = (all(self), all(other));
        let own = |one: &Self, all: &[String]| {
            one.named.iter().any(|name| all.iter().any(|it| it == name.folded()))
        };
        own(self, &those) || own(other, &these)
    }

    /// Whether the names of two records are so similar that both records can describe one company.
    /// Similar names alone are too little evidence. So the caller must also check that the records
    /// share a domain, a page or a phone number. If a record has only hosts as names, the company's
    /// real name is unknown, and the result is `true`.
    pub(super) fn is_nearly_named(&self, other: &Self) -> bool {
        if self.is_named_by_domain || other.is_named_by_domain || self.is_equally_named(other) {
            return true;
        }
        let (these, those) = (self.near(), other.near());
        !these.forms.is_disjoint(&those.forms)
            || !these.initials.is_disjoint(&those.forms)
            || !those.initials.is_disjoint(&these.forms)
    }

    /// Whether the names of the records have a common word. Fillers, such as "of", are ignored.
    pub(super) fn shares_word(&self, other: &Self) -> bool {
        let words = |one: &Self| -> BTreeSet<String> {
            let all = one.named.iter().chain(&one.also_named);
            all.flat_map(|name| NameForm::of(name).words).map(|word| word.root).collect()
        };
        !words(self).is_disjoint(&words(other))
    }

    /// Whether a name of the record equals `label`, the label of a domain: `Quill` equals `quill`
    /// of `quill.example`.
    pub(super) fn is_named_as(&self, label: &str) -> bool {
        self.names().chain(self.aliases()).any(|name| name == label)
            || self.near().forms.contains(label)
    }

    /// Whether the initials of a name in the record begin with `label`, as `qia` does for
    /// `Quill Institute of Architects`. `false` if a name equals `label`. Aliases do not count.
    pub(super) fn is_only_abbreviated_as(&self, label: &str) -> bool {
        let forms = self.named.iter().map(|name| (name, NameForm::of(name)));
        let mut is_abbreviated = false;
        for (name, form) in forms {
            if near_forms(name, &form).iter().any(|near| near == label) {
                return false;
            }
            is_abbreviated |=
                [form.initials, form.all_initials].iter().any(|all| all.starts_with(label));
        }
        is_abbreviated
    }

    /// Whether a name of the record has a country in parentheses: `Quill (Portugal)`.
    pub(super) fn is_named_with_country(&self) -> bool {
        self.named.iter().any(|name| name.country().is_some())
    }

    pub(super) fn near(&self) -> &NearNames {
        self.near.get_or_init(|| {
            let mut near = NearNames::default();
            for name in self.named.iter().chain(&self.also_named) {
                near.add(name);
            }
            near
        })
    }
}

impl NearNames {
    fn add(&mut self, name: &CompanyName) {
        let form = NameForm::of(name);
        self.forms.extend(near_forms(name, &form));
        for initials in [form.initials, form.all_initials] {
            if INITIALS.contains(&initials.chars().count()) {
                self.initials.insert(initials);
            }
        }
    }
}

/// Returns several forms of a name, all without spaces:
///
/// - the name without its legal form, with and without fillers (words such as `of`);
/// - its words in alphabetical order;
/// - the name without the words at its end that are a country or one of [`WHOLE_WORDS`].
pub(super) fn near_forms(name: &CompanyName, form: &NameForm) -> Vec<String> {
    let whole = [name.squashed(), &form.squashed, &form.all_squashed, &form.sorted];
    let mut forms: Vec<String> = whole.into_iter().map(str::to_owned).collect();
    let mut words = form.words.as_slice();
    while let [before @ .., last] = words
        && !before.is_empty()
        && (WHOLE_WORDS.contains(&last.root.as_str()) || country_of_word(last).is_some())
    {
        words = before;
        forms.push(words.iter().map(|word: &NameWord| word.text.as_str()).collect());
    }
    forms
}
