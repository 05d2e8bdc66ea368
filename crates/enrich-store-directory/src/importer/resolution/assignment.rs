//! Which records each company gets.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use enrich_core::SubjectId;

use super::neighbourhood::Loaded;

/// Records of a company: the company that has them now, and their numbers in its facts.
pub(super) type RecordsOf = (SubjectId, BTreeSet<usize>);

/// The companies of a neighbourhood after their records were divided again.
pub(super) struct Assignment {
    /// The companies as they are now.
    pub(super) members: Vec<Rc<Loaded>>,
    /// The records of each company that is to be. The company keeps an id if it has records of the
    /// company with this id.
    pub(super) companies: Vec<(Option<SubjectId>, Vec<RecordsOf>)>,
}

impl Assignment {
    /// Compares the clusters of the members' records with the members. Returns `None` if they are
    /// the same.
    pub(super) fn of(members: &[Rc<Loaded>], clusters: &[usize]) -> Option<Self> {
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
        // A company keeps its id with most of its records; of equals, with the first cluster.
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

    /// Returns the lowest id of the companies.
    pub(super) fn first(&self) -> SubjectId {
        self.members.iter().map(|member| member.subject).min().unwrap_or(SubjectId(0))
    }

    /// Returns the company that takes the place of a company that no longer exists: the one that has
    /// most of its records.
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
