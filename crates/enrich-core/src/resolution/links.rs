//! Decides whether two records are linked. Linked records probably describe one company. The
//! decision depends only on the two records, and on the list of values that many organisations
//! share ([`SharedKeys`]).

use std::collections::BTreeSet;

use enrich_text::{CompanyName, Domain, NameForm};
use rustc_hash::FxHashSet;

use super::claims::{Host, RecordClaims, near_forms};

/// If at most this number of records have the same value, all of them are compared with each other.
/// If more records have the value, the value identifies no company.
pub const MAX_BEARERS: usize = 64;
/// Maximum number of organisations that may share a host (domain), a phone number or a page on a
/// social network. A value that more organisations share does not link records whose names are only
/// similar. But a shared host does link records with equal names.
const MAX_ORGANISATIONS: usize = 3;
/// Minimum number of letters of a domain's label, such as `quill`. If the label has fewer letters,
/// domains with the same label, such as `quill.de` and `quill.fr`, do not count as domains of one
/// company. Short labels are often equal by chance.
const FEWEST_LETTERS: usize = 3;

/// How strongly a link shows that two records describe one company. The variants are ordered from
/// the strongest link to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The records have the same source and the same record id: they are versions of one record.
    SameRecord,
    /// The records have a common id in a register or data set.
    SameId,
    /// The records have a common host (domain) and equal names: a name of one record (not an alias)
    /// equals a name or an alias of the other.
    HostAndName,
    /// The records have similar names and a common host (domain). At most three organisations share
    /// this host.
    Host,
    /// The records have hosts with a common registrable domain, such as `eu.quill.example` and
    /// `quill.example`, and equal names.
    RegistrableAndName,
    /// The records have equal names, and domains with the same label that can be sites of one
    /// company for different countries, such as `quill.de` and `quill.com`.
    LabelAndName,
    /// The records have similar names and a common page, such as `linkedin.com/company/quill`. At
    /// most three organisations share this page.
    Page,
    /// The records have similar names and a common phone number. At most three organisations share
    /// this number.
    Phone,
    /// The records have equal names with equal legal forms. They have a common seat (country of a
    /// head office), or neither record has a seat. Neither record has a domain or a page.
    NameAndSeat,
}

/// Values that identify no company: hosts (domains), phone numbers and pages on social networks
/// that many organisations share, and names that many records have.
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

/// Whether many organisations share a value, so that it identifies no company. The value is a host
/// (domain), a phone number or a page on a social network. `bearers` must be all records that have
/// the value.
pub fn is_shared(bearers: &[&RecordClaims]) -> bool {
    bearers.len() > MAX_BEARERS || organisations(bearers) > MAX_ORGANISATIONS
}

/// Whether a store must look for all links by name of a company. Companies with a link by name have
/// a name in common, but no host, page, phone number or id. `names` and `domains` must be those of
/// all records of the company.
///
/// If two companies have a link by name, at least one of them has one of these properties:
///
/// - This function returns `true` for the company.
/// - The company has a record with neither a domain nor a page. This function does not check that.
///
/// So a store misses no link if it compares two companies with a common name only when at least one
/// of them has such a property.
pub fn is_linkable_by_name<'a>(
    mut names: impl Iterator<Item = (&'a CompanyName, &'a NameForm)>,
    domains: impl Iterator<Item = &'a Domain>,
) -> bool {
    let hosts: Vec<Host> = domains.map(Host::of).collect();
    let held: FxHashSet<&str> = hosts.iter().map(|host| host.host.as_str()).collect();
    // The company has a host such as `eu.quill.example`, but not `quill.example` itself. Another
    // company may have `quill.example` or `us.quill.example`. The two companies then share a
    // registrable domain, but no host, and can have a link by name.
    if hosts.iter().any(|host| !held.contains(host.registrable.as_str())) {
        return true;
    }
    let sites = hosts.iter().filter(|host| host.can_be_of_countries() && is_long(&host.label));
    let labels: FxHashSet<&str> = sites.map(|host| host.label.as_str()).collect();
    let is_label = |form: &String| labels.contains(form.as_str());
    !labels.is_empty() && names.any(|(name, form)| near_forms(name, form).iter().any(is_label))
}

/// Estimates how many organisations the records describe. Records with similar names or a common
/// id count as one organisation. But if there are at most [`MAX_ORGANISATIONS`] records, the names
/// and ids are not compared, and each record counts as one organisation.
fn organisations(bearers: &[&RecordClaims]) -> usize {
    if bearers.len() <= MAX_ORGANISATIONS {
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

/// Whether two records may be linked, in either of these ways:
///
/// - They have values in common that link them, such as a host and a name.
/// - One of them has neither a domain nor a page, and both have the same name and compatible seats
///   (countries of head offices).
///
/// Unlike `clusters`, this function also uses values that many organisations share. So the result
/// is `true` for each pair of records that `clusters` links, and perhaps for other pairs.
pub fn may_link(one: &RecordClaims, other: &RecordClaims) -> bool {
    strongest(one, other, &SharedKeys::default()).is_some()
        || ((one.is_name_alone() || other.is_name_alone())
            && one.is_equally_named(other)
            && has_compatible_seats(one, other))
}

/// A link between two records: its strength, and whether it is a link by alias. A link is by alias
/// if no name of one record equals a name of the other when aliases do not count. For example, the
/// name of one record is an alias of the other.
///
/// When links are sorted, the strongest come first. Of equally strong links, those by alias come
/// last.
pub(super) type Link = (Strength, bool);

/// Returns the strongest link between two records; `None` if there is no link.
pub(super) fn link(one: &RecordClaims, other: &RecordClaims, shared: &SharedKeys) -> Option<Link> {
    let by_alias = !one.names().any(|name| other.names().any(|it| it == name));
    Some((strongest(one, other, shared)?, by_alias))
}

/// Returns the strength of the strongest link between two records; `None` if there is no link.
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

/// Returns the elements of `these` that have the same key as an element of `those`. `key` returns
/// the key of an element.
pub(super) fn common<'a, T, K: PartialEq>(
    these: &'a [T],
    those: &'a [T],
    key: impl Fn(&T) -> &K + Copy + 'a,
) -> impl Iterator<Item = &'a T> {
    these.iter().filter(move |it| those.iter().any(|other| key(other) == key(it)))
}

/// Whether the records have domains that are probably sites of one company for different
/// countries, such as `quill.de` and `quill.com`. Their label must be the same, and must be a
/// name in both records. Each domain must belong to a country, or be under a top-level domain
/// such as `.com`.
fn have_country_sites(one: &RecordClaims, other: &RecordClaims) -> bool {
    can_have_country_sites(one, other)
        && one.hosts_of_countries().any(|site| {
            other.hosts_of_countries().any(|it| it.label == site.label)
                && has_label_as_name(one, &site.label)
                && has_label_as_name(other, &site.label)
        })
}

/// Whether two records can describe one company with sites for several countries. Companies in
/// different countries often have the same short name. So the seats (countries of the head offices)
/// must be compatible, or one record must have the name of a branch in a country, such as
/// `Quill (Portugal)`.
pub(super) fn can_have_country_sites(one: &RecordClaims, other: &RecordClaims) -> bool {
    one.is_named_with_country() || other.is_named_with_country() || has_compatible_seats(one, other)
}

/// Whether the label of a domain, such as `quill`, is a name in the record. If it is, domains with
/// this label for other countries probably belong to the same company. Returns `false` if the label
/// is only an abbreviation of the company's own name, because many organisations have the same
/// abbreviation.
pub(super) fn has_label_as_name(record: &RecordClaims, label: &str) -> bool {
    is_long(label) && record.is_named_as(label) && !record.is_only_abbreviated_as(label)
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

/// Whether an id that two records have in common must be wrong in one of the records. This is so if
/// both records have domains, but no common domain, no common domain label, no similar names, and
/// no common word in their names.
fn contradicts(one: &RecordClaims, other: &RecordClaims) -> bool {
    let has_hosts = !one.hosts.is_empty() && !other.hosts.is_empty();
    has_hosts
        && common(&one.hosts, &other.hosts, |host| &host.registrable).next().is_none()
        && common(&one.hosts, &other.hosts, |host| &host.label).next().is_none()
        && !one.is_nearly_named(other)
        && !one.shares_word(other)
}

/// Whether two records can describe one company, judged by their seats (countries of head offices)
/// and the countries of their domains. They can in each of these cases:
///
/// - They have a common seat.
/// - A seat of one record is the country of a domain of the other: Germany and `quill.de`.
/// - One of them has no seat.
pub(super) fn has_compatible_seats(one: &RecordClaims, other: &RecordClaims) -> bool {
    let is_in = |record: &RecordClaims, seat| {
        record.seats.contains(seat) || record.hosts.iter().any(|host| host.country == Some(*seat))
    };
    one.seats.is_empty()
        || other.seats.is_empty()
        || one.seats.iter().any(|seat| is_in(other, seat))
        || other.seats.iter().any(|seat| is_in(one, seat))
}
