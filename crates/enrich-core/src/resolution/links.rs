//! Decides whether two records describe one company. The decision needs only these two records and
//! the values that many organisations share.

use std::collections::BTreeSet;

use enrich_text::{CompanyName, Domain, NameForm};
use rustc_hash::FxHashSet;

use super::claims::{Host, RecordClaims, near_forms};

/// The most records with one value that are all compared with each other. A value that more records
/// have identifies no company.
pub const MOST_BEARERS: usize = 64;
/// The most organisations that can share a host, page or phone number if it is to unite records
/// with only similar names.
const MOST_ORGANISATIONS: usize = 3;
/// The fewest letters of a domain's label by which domains of different countries count as domains
/// of one company. Shorter labels often agree by chance.
const FEWEST_LETTERS: usize = 3;

/// How strongly a link shows that two records describe one company. The variants are ordered from
/// the strongest link to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The records have the same source and the same record id: they are versions of one record.
    SameRecord,
    /// The records have a common id in a register or data set.
    SameId,
    /// The records have a common host, and a name of one is a name or an alias of the other.
    HostAndName,
    /// The records have a common host that few organisations share, and similar names.
    Host,
    /// The records have a common registrable domain, and equal names.
    RegistrableAndName,
    /// The records have domains with the same label for several countries, and equal names.
    LabelAndName,
    /// The records have a common page that few organisations share, and similar names.
    Page,
    /// The records have a common phone number that few organisations share, and similar names.
    Phone,
    /// The records have equal names with equal legal forms. They have a common seat, or neither has
    /// a seat. Neither has a domain or a page.
    NameAndSeat,
}

/// Values that identify no company: hosts, pages and phone numbers that many organisations share,
/// and names that too many records have.
#[derive(Clone, Debug, Default)]
pub struct SharedKeys(BTreeSet<String>);

impl SharedKeys {
    /// Adds a value that many organisations share.
    pub fn add(&mut self, value: &str) {
        self.0.insert(value.to_owned());
    }

    /// Whether many organisations share the value.
    pub fn has(&self, value: &str) -> bool {
        self.0.contains(value)
    }
}

/// Whether many organisations share a host, page or phone number, so that it identifies no company.
/// `bearers` must be all records that have the value.
pub fn is_shared(bearers: &[&RecordClaims]) -> bool {
    bearers.len() > MOST_BEARERS || organisations(bearers) > MOST_ORGANISATIONS
}

/// Whether a common name alone can link a record of a company with a record of another company,
/// although the two records have no common host, page, phone number or id. So it is enough to look
/// for such links at these companies. The names and domains are those of all records of the
/// company. A company also has such links if one of its records has neither a domain nor a page;
/// the caller must check this.
pub fn is_linkable_by_name<'a>(
    mut names: impl Iterator<Item = (&'a CompanyName, &'a NameForm)>,
    domains: impl Iterator<Item = &'a Domain>,
) -> bool {
    let hosts: Vec<Host> = domains.map(Host::of).collect();
    let held: FxHashSet<&str> = hosts.iter().map(|host| host.host.as_str()).collect();
    // If two companies share a registrable domain but no host, at least one of them does not have
    // the registrable domain itself as a host.
    if hosts.iter().any(|host| !held.contains(host.registrable.as_str())) {
        return true;
    }
    let sites = hosts.iter().filter(|host| host.can_be_of_countries() && is_long(&host.label));
    let labels: FxHashSet<&str> = sites.map(|host| host.label.as_str()).collect();
    let is_label = |form: &String| labels.contains(form.as_str());
    !labels.is_empty() && names.any(|(name, form)| near_forms(name, form).iter().any(is_label))
}

/// Estimates how many organisations some records describe: records with similar names or a common
/// id count as one organisation.
fn organisations(bearers: &[&RecordClaims]) -> usize {
    if bearers.len() <= MOST_ORGANISATIONS {
        return bearers.len();
    }
    let mut groups: Vec<Vec<&RecordClaims>> = Vec::new();
    for record in bearers {
        let is_of = |group: &Vec<&RecordClaims>| {
            group.iter().any(|it| it.is_nearly_named(record) || shares_id(it, record))
        };
        let (mut of, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_of);
        let mut group: Vec<&RecordClaims> = of.drain(..).flatten().collect();
        group.push(record);
        groups = others;
        groups.push(group);
    }
    groups.len()
}

/// Whether two records may be linked. Either they share a value that links them, or one of them has
/// nothing but a name, and the other has the same name and compatible seats. Values that many
/// organisations share are not excluded here. So the result is `true` for all links that `clusters`
/// follows, and perhaps for more.
pub fn may_link(one: &RecordClaims, other: &RecordClaims) -> bool {
    strongest(one, other, &SharedKeys::default()).is_some()
        || ((one.is_name_alone() || other.is_name_alone())
            && one.is_equally_named(other)
            && has_compatible_seats(one, other))
}

/// The strength of a link, and whether the link needs an alias because the records have no common
/// name. Links are followed in ascending order.
pub(super) type Link = (Strength, bool);

/// Returns the strongest link between two records; `None` if there is no link.
pub(super) fn link(one: &RecordClaims, other: &RecordClaims, shared: &SharedKeys) -> Option<Link> {
    let by_alias = !one.names().any(|name| other.names().any(|it| it == name));
    Some((strongest(one, other, shared)?, by_alias))
}

/// Returns the strength of the strongest link between two records.
fn strongest(one: &RecordClaims, other: &RecordClaims, shared: &SharedKeys) -> Option<Strength> {
    if one.key == other.key && one.key.is_known() {
        return Some(Strength::SameRecord);
    }
    if shares_id(one, other) && !contradicts(one, other) {
        return Some(Strength::SameId);
    }
    let is_equally_named = one.is_equally_named(other);
    let mut hosts = common(&one.hosts, &other.hosts, |host| &host.host);
    if let Some(host) = hosts.next() {
        if is_equally_named {
            return Some(Strength::HostAndName);
        }
        let is_own = |host: &Host| !shared.has(&host.host) && one.is_nearly_named(other);
        if is_own(host) || hosts.any(is_own) {
            return Some(Strength::Host);
        }
    }
    if is_equally_named {
        if common(&one.hosts, &other.hosts, |host| &host.registrable).next().is_some() {
            return Some(Strength::RegistrableAndName);
        }
        if have_country_sites(one, other) {
            return Some(Strength::LabelAndName);
        }
    }
    let is_own = |value: &String| !shared.has(value) && one.is_nearly_named(other);
    if common(&one.pages, &other.pages, |page| page).any(is_own) {
        return Some(Strength::Page);
    }
    if common(&one.phones, &other.phones, |phone| phone).any(is_own) {
        return Some(Strength::Phone);
    }
    let are_alone = one.is_name_alone() && other.is_name_alone();
    let has_common_seat =
        shares_seat(one, other) || (one.seats.is_empty() && other.seats.is_empty());
    let is_same = are_alone && is_equally_named && has_common_seat && one.is_named_the_same(other);
    is_same.then_some(Strength::NameAndSeat)
}

/// Returns the elements of `these` whose keys `those` contain too.
pub(super) fn common<'a, T, K: PartialEq>(
    these: &'a [T],
    those: &'a [T],
    key: impl Fn(&T) -> &K + Copy + 'a,
) -> impl Iterator<Item = &'a T> {
    these.iter().filter(move |it| those.iter().any(|other| key(other) == key(it)))
}

/// Whether two records have domains with the same label, which is the name of the company, and each
/// of these domains can be the company's site for a country, or for all countries.
fn have_country_sites(one: &RecordClaims, other: &RecordClaims) -> bool {
    can_have_country_sites(one, other)
        && one.hosts_of_countries().any(|site| {
            other.hosts_of_countries().any(|it| it.label == site.label)
                && has_label_as_name(one, &site.label)
                && has_label_as_name(other, &site.label)
        })
}

/// Whether the countries of two records allow that they are one company with sites for several
/// countries. Short common words are the names of different companies in many countries. So the
/// seats must be compatible, or a name must say that it is the name of a branch in a country, as
/// `Quill (Portugal)` does.
pub(super) fn can_have_country_sites(one: &RecordClaims, other: &RecordClaims) -> bool {
    one.is_named_with_country() || other.is_named_with_country() || has_compatible_seats(one, other)
}

/// Whether a domain's label is the name of the company. Then domains with this label in other
/// countries probably belong to the same company.
pub(super) fn has_label_as_name(record: &RecordClaims, label: &str) -> bool {
    is_long(label) && record.is_named_as(label)
}

fn is_long(label: &str) -> bool {
    label.chars().count() >= FEWEST_LETTERS
}

pub(super) fn shares_seat(one: &RecordClaims, other: &RecordClaims) -> bool {
    one.seats.iter().any(|seat| other.seats.contains(seat))
}

pub(super) fn shares_id(one: &RecordClaims, other: &RecordClaims) -> bool {
    one.ids.iter().any(|id| other.ids.contains(id))
}

/// Whether a common id of two records must be wrong in one of them: both records have domains, but
/// neither their domains, the labels of these domains, nor their names have anything in common.
fn contradicts(one: &RecordClaims, other: &RecordClaims) -> bool {
    let has_hosts = !one.hosts.is_empty() && !other.hosts.is_empty();
    has_hosts
        && common(&one.hosts, &other.hosts, |host| &host.registrable).next().is_none()
        && common(&one.hosts, &other.hosts, |host| &host.label).next().is_none()
        && !one.is_nearly_named(other)
        && !one.shares_word(other)
}

/// Whether two records can describe one company, as far as their seats are known: a seat of one
/// record is a seat of the other, or the country of one of its domains. Also `true` if a record has
/// no seat.
pub(super) fn has_compatible_seats(one: &RecordClaims, other: &RecordClaims) -> bool {
    let is_in = |record: &RecordClaims, seat| {
        record.seats.contains(seat) || record.hosts.iter().any(|host| host.country == Some(*seat))
    };
    one.seats.is_empty()
        || other.seats.is_empty()
        || one.seats.iter().any(|seat| is_in(other, seat))
        || other.seats.iter().any(|seat| is_in(one, seat))
}
