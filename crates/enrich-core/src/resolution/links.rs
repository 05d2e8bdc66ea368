//! Whether two records describe one company, judged by these two records and by how many
//! organisations share what they have in common.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::claims::{Host, RecordClaims};

/// The most records with one value that are compared with each other. A value that more records
/// have identifies nobody.
pub(super) const MOST_BEARERS: usize = 64;
/// The most organisations that a host, page or phone number can have and still be a reason to
/// unite records whose names are only similar.
const MOST_ORGANISATIONS: usize = 3;
/// The fewest letters of a domain's label that can be the same company's in another country.
const FEWEST_LETTERS: usize = 3;

/// How strongly a link says that two records describe one company. The strongest come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Two versions of one record: one source gives both the same id.
    SameRecord,
    /// An id in a register or data set.
    SameId,
    /// A host, and a name of one is a name or alias of the other.
    HostAndName,
    /// A host that few organisations share, and names that can be those of one company.
    Host,
    /// A registrable domain, and equal names.
    RegistrableAndName,
    /// The label of domains in several countries, and equal names.
    LabelAndName,
    /// A page that few organisations share, and names that can be those of one company.
    Page,
    /// A phone number that few organisations share, and names that can be those of one company.
    Phone,
    /// Names that are equal with their legal forms, and a common seat or none at all. Neither record
    /// has a domain or a page.
    NameAndSeat,
}

/// The hosts, pages and phone numbers that many organisations share, so that they identify none of
/// them, and the names that too many records have.
#[derive(Clone, Debug, Default)]
pub struct SharedKeys(BTreeSet<String>);

impl SharedKeys {
    /// Finds the values that many organisations share. `records` must contain all records that have
    /// one of the values that are asked for.
    pub fn of(records: &[&RecordClaims]) -> Self {
        let mut shared = Self::default();
        let mut bearers: FxHashMap<&str, Vec<&RecordClaims>> = FxHashMap::default();
        for &record in records {
            for value in record.hosts().chain(record.pages()).chain(record.phones()) {
                let bearers = bearers.entry(value).or_default();
                if !bearers.last().is_some_and(|last| std::ptr::eq(*last, record)) {
                    bearers.push(record);
                }
            }
        }
        for (value, bearers) in bearers {
            if bearers.len() > MOST_BEARERS || organisations(&bearers) > MOST_ORGANISATIONS {
                shared.add(value);
            }
        }
        shared
    }

    /// Adds a value that many organisations share.
    pub fn add(&mut self, value: &str) {
        self.0.insert(value.to_owned());
    }

    pub(super) fn has(&self, value: &str) -> bool {
        self.0.contains(value)
    }
}

/// Counts the organisations that records describe, if only names and ids are considered.
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

/// Whether two records may be linked, directly or because one of them is known by name only. This
/// does not consider who shares what they have in common, so a partition never unites records that
/// no chain of such pairs connects.
pub fn may_link(one: &RecordClaims, other: &RecordClaims) -> bool {
    strongest(one, other, &SharedKeys::default()).is_some()
        || ((one.is_name_alone() || other.is_name_alone())
            && one.is_equally_named(other)
            && has_compatible_seats(one, other))
}

/// A link between two records. The links that come first are followed first.
pub(super) type Link = (Strength, bool);

/// Returns the strongest link between two records: its strength, and whether the name of neither
/// record is the name of the other, but only an alias.
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
        let mut labels = common(&one.hosts, &other.hosts, |host| &host.label);
        if labels.any(|host| is_of_name(one, &host.label) && is_of_name(other, &host.label)) {
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
    let has_common_seat = one.seats.iter().any(|seat| other.seats.contains(seat))
        || (one.seats.is_empty() && other.seats.is_empty());
    let is_same = are_alone && is_equally_named && has_common_seat && one.is_named_the_same(other);
    is_same.then_some(Strength::NameAndSeat)
}

/// Returns the elements of `these` that `those` have, too, by their keys.
fn common<'a, T, K: PartialEq>(
    these: &'a [T],
    those: &'a [T],
    key: impl Fn(&T) -> &K + Copy + 'a,
) -> impl Iterator<Item = &'a T> {
    these.iter().filter(move |it| those.iter().any(|other| key(other) == key(it)))
}

/// Whether a domain's label is the name of the company, so that it is the same company's in another
/// country.
fn is_of_name(record: &RecordClaims, label: &str) -> bool {
    label.chars().count() >= FEWEST_LETTERS && record.is_named_as(label)
}

pub(super) fn shares_id(one: &RecordClaims, other: &RecordClaims) -> bool {
    one.ids.iter().any(|id| other.ids.contains(id))
}

/// Whether two records that share an id describe two companies nevertheless: neither their domains
/// nor their names have anything in common, so the id of one of them is wrong.
fn contradicts(one: &RecordClaims, other: &RecordClaims) -> bool {
    let has_hosts = !one.hosts.is_empty() && !other.hosts.is_empty();
    has_hosts
        && common(&one.hosts, &other.hosts, |host| &host.registrable).next().is_none()
        && common(&one.hosts, &other.hosts, |host| &host.label).next().is_none()
        && !one.is_nearly_named(other)
        && !one.shares_word(other)
}

/// Whether two records of one name can describe one company by their countries: they have a common
/// seat, or one of them gives no country.
pub(super) fn has_compatible_seats(one: &RecordClaims, other: &RecordClaims) -> bool {
    let is_in = |record: &RecordClaims, seat| {
        record.seats.contains(seat) || record.hosts.iter().any(|host| host.country == Some(*seat))
    };
    one.seats.is_empty()
        || other.seats.is_empty()
        || one.seats.iter().any(|seat| is_in(other, seat))
        || other.seats.iter().any(|seat| is_in(one, seat))
}
