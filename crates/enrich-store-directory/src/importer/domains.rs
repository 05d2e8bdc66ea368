//! Imports facts of domains. The facts are stored with the domain, not with a company.

use std::net::IpAddr;

use enrich_core::port::importer::{Effect, ImportOutcome};
use enrich_core::{Attribute, Confidence, DomainRecord, Fact};
use enrich_store_sqlite::Statements;

use super::subject_facts::SourceClaim;
use super::unwritten_domains::{DomainFact, UnwrittenDomains};
use super::writer::Writer;
use crate::directory::codes::attribute_of;
use crate::directory::view::KnownDomain;

impl Writer<'_> {
    /// Imports the record of a domain. Returns the outcome, and whether anything was written.
    pub(crate) fn take_domain(
        &mut self,
        source: i64,
        record: &DomainRecord,
    ) -> rusqlite::Result<(ImportOutcome, bool)> {
        if self.is_domain_suppressed(&record.domain)? {
            return Ok((ImportOutcome { effect: Effect::Suppressed, suppressed_values: 0 }, false));
        }
        let claim = SourceClaim::of(source, &record.origin, self.at);
        let rank = record.page_rank.as_deref();
        let (effect, is_new) =
            self.assert_of_domain(&claim, record.domain.as_str(), record.ip, rank)?;
        Ok((ImportOutcome { effect, suppressed_values: 0 }, is_new))
    }

    /// Stores the values that a source gives for a domain. For each attribute, one value of the
    /// source is stored. A later value replaces an earlier one only if it has a higher confidence.
    /// Returns the effect on answers, and whether anything was written.
    pub(crate) fn assert_of_domain(
        &mut self,
        claim: &SourceClaim,
        domain: &str,
        ip: Option<IpAddr>,
        page_rank: Option<&str>,
    ) -> rusqlite::Result<(Effect, bool)> {
        let mut facts = self.domain_facts(domain)?;
        let before = known(domain, &facts);
        let mut is_written = false;
        let ip = ip.map(|ip| ip.to_string());
        let values = [(Attribute::Ip, ip.as_deref()), (Attribute::PageRank, page_rank)];
        for (attribute, value) in values {
            let Some(value) = value else { continue };
            if let Some(fact) = assert_one(&mut facts, claim, attribute, value) {
                self.write_domain_fact(domain, fact, claim.record.id())?;
                is_written = true;
            }
        }
        if !is_written {
            return Ok((Effect::Unchanged, false));
        }
        self.is_changed = true;
        let effect = match before {
            None => Effect::Added,
            before if before == known(domain, &facts) => Effect::Unchanged,
            _ => Effect::Merged,
        };
        Ok((effect, true))
    }

    fn write_domain_fact(
        &mut self,
        domain: &str,
        fact: &DomainFact,
        record: Option<&str>,
    ) -> rusqlite::Result<()> {
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.domains.change(domain, fact, record);
            return Ok(());
        }
        let mut alone = UnwrittenDomains::default();
        alone.change(domain, fact, record);
        alone.write(self.connection, self.at).map(drop)
    }

    /// Returns the facts about a domain, ordered by their ordinals. Includes the facts that are not
    /// yet written.
    fn domain_facts(&self, domain: &str) -> rusqlite::Result<Vec<DomainFact>> {
        let unwritten = self.unwritten.as_ref().map(|unwritten| &unwritten.domains);
        let mut facts = match unwritten.is_none_or(|unwritten| unwritten.may_be_in_file(domain)) {
            true => self.written_domain_facts(domain)?,
            false => Vec::new(),
        };
        if let Some(unwritten) = unwritten {
            unwritten.apply(domain, &mut facts);
        }
        Ok(facts)
    }

    fn written_domain_facts(&self, domain: &str) -> rusqlite::Result<Vec<DomainFact>> {
        let facts = "SELECT ordinal, attribute, source, value, confidence FROM domain_fact
                     WHERE domain = ?1 ORDER BY ordinal";
        self.connection.list(facts, [domain], |row| {
            Ok(DomainFact {
                ordinal: row.get(0)?,
                attribute: attribute_of(row.get(1)?)?,
                source: row.get(2)?,
                value: row.get(3)?,
                confidence: Confidence::clamped(row.get(4)?),
            })
        })
    }
}

/// Adds a value that a source gives for a domain to `facts`, or replaces the source's earlier
/// value. Returns the new or changed fact; `None` if nothing changes.
fn assert_one<'f>(
    facts: &'f mut Vec<DomainFact>,
    claim: &SourceClaim,
    attribute: Attribute,
    value: &str,
) -> Option<&'f DomainFact> {
    let (source, confidence) = (claim.source, claim.confidence);
    let is_own = |fact: &DomainFact| fact.attribute == attribute && fact.source == source;
    match facts.iter().position(is_own) {
        Some(at) => {
            let own = &mut facts[at];
            if confidence <= own.confidence {
                return None;
            }
            own.confidence = confidence;
            value.clone_into(&mut own.value);
            Some(own)
        }
        None => {
            let ordinal = facts.last().map_or(0, |last| last.ordinal + 1);
            let value = value.to_owned();
            facts.push(DomainFact { ordinal, attribute, source, value, confidence });
            facts.last()
        }
    }
}

/// Returns what look-ups find for a domain with these facts.
fn known(domain: &str, facts: &[DomainFact]) -> Option<KnownDomain> {
    let facts = facts.iter().map(|DomainFact { attribute, value, confidence, .. }| Fact {
        attribute: *attribute,
        value: value.clone(),
        country: None,
        confidence: *confidence,
    });
    KnownDomain::of(domain, &facts.collect::<Vec<_>>())
}
