//! The result of entity resolution for a neighbourhood: which company gets which records. A
//! neighbourhood is a set of companies whose records can be linked, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use enrich_core::SubjectId;

use super::neighbourhood::Loaded;

/// Some or all records of one company: the company's id, and the numbers that identify these
/// records in the company's facts ([`Loaded::records`]).
pub(super) type RecordsOf = (SubjectId, BTreeSet<usize>);

/// Which company gets which records of a neighbourhood (companies whose records can be linked).
pub(super) struct Assignment {
    /// The companies of the neighbourhood, before their records were divided again.
    pub(super) members: Vec<Arc<Loaded>>,
    /// The companies after the division, with their records. `Some` is the id of one of `members`,
    /// which the company takes over. With `None`, the company gets a new id.
    pub(super) companies: Vec<(Option<SubjectId>, Vec<RecordsOf>)>,
}

impl Assignment {
    /// Creates the assignment of the records of `members` to companies. `clusters` has one number
    /// for each of these records, in the order of the members and their records. Records with the
    /// same number become one company. Returns `None` if each member keeps exactly its own records,
    /// so that nothing changes.
    pub(super) fn of(members: &[Arc<Loaded>], clusters: &[usize]) -> Option<Self> {
        let mut of_clusters: BTreeMap<usize, BTreeMap<SubjectId, BTreeSet<usize>>> =
            BTreeMap::new();
        let records = members
            .iter()
            .flat_map(|member| member.records.iter().map(|(number, _)| (member.subject, *number)));
        for ((subject, number), cluster) in records.zip(clusters) {
            let of_subject = of_clusters.entry(*cluster).or_default();
            of_subject.entry(subject).or_default().insert(number);
        }
        let is_same = of_clusters.len() == members.len()
            && of_clusters.values().all(|of_subjects| of_subjects.len() == 1);
        if is_same {
            return None;
        }
        // A cluster is the set of records that become one company. Each stored company gives its id
        // to the cluster that contains the most of its records. If two clusters contain equally
        // many of them, the first cluster gets the id.
        let mut kept: BTreeMap<usize, SubjectId> = BTreeMap::new();
        for member in members {
            let of_member = of_clusters.iter().filter(|(cluster, _)| !kept.contains_key(cluster));
            let count = |of_subjects: &BTreeMap<SubjectId, BTreeSet<usize>>| {
                of_subjects.get(&member.subject).map_or(0, BTreeSet::len)
            };
            let most = of_member.filter(|(_, it)| count(it) > 0);
            let most = most.min_by_key(|(cluster, it)| (usize::MAX - count(it), **cluster));
            if let Some((cluster, _)) = most {
                kept.insert(*cluster, member.subject);
            }
        }
        let company = |(cluster, of_subjects): (usize, BTreeMap<SubjectId, BTreeSet<usize>>)| {
            (kept.get(&cluster).copied(), of_subjects.into_iter().collect())
        };
        let companies = of_clusters.into_iter().map(company).collect();
        Some(Self { members: members.to_vec(), companies })
    }

    /// Returns the lowest id among the companies whose records were divided again.
    pub(super) fn first(&self) -> SubjectId {
        self.members.iter().map(|member| member.subject).min().unwrap_or(SubjectId(0))
    }

    /// Returns the index in `companies` of the company that replaces `subject`. `subject` no longer
    /// exists; its successor is the company that got the largest number of its records.
    pub(super) fn successor(&self, subject: SubjectId) -> Option<usize> {
        let count = |records: &Vec<RecordsOf>| {
            let of_subject = records.iter().filter(|(of, _)| *of == subject);
            of_subject.map(|(_, numbers)| numbers.len()).sum::<usize>()
        };
        let companies = self.companies.iter().enumerate();
        let most = companies.max_by_key(|(at, (_, records))| (count(records), usize::MAX - at));
        most.map(|(at, _)| at)
    }
}
