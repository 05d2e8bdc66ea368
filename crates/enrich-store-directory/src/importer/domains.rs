//! Imports facts of domains. The facts are stored with the domain, not with a company.

use std::net::IpAddr;

use enrich_core::port::importer::{Effect, ImportOutcome};
use enrich_core::{Attribute, Confidence, DomainRecord};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::params;

use super::subject_facts::SourceClaim;
use super::writer::Writer;
use crate::directory::codes::{attribute_code, attribute_of};

/// A stored fact of a domain. The value is not read.
struct Held {
    ordinal: i64,
    attribute: Attribute,
    source: i64,
    confidence: Confidence,
}

impl Writer<'_> {
    /// Imports the record of a domain. Returns the effect, and whether anything was written.
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

    /// Stores the values that a source gives for a domain. A source has one value for each
    /// attribute; only a later value with a higher confidence replaces it. Returns the effect on
    /// answers, and whether anything was written.
    pub(crate) fn assert_of_domain(
        &mut self,
        claim: &SourceClaim,
        domain: &str,
        ip: Option<IpAddr>,
        page_rank: Option<&str>,
    ) -> rusqlite::Result<(Effect, bool)> {
        let mut held = self.held_of_domain(domain)?;
        let before = if held.is_empty() { None } else { self.view().domain(domain)? };
        let mut is_written = false;
        let ip = ip.map(|ip| ip.to_string());
        let values = [(Attribute::Ip, ip.as_deref()), (Attribute::PageRank, page_rank)];
        for (attribute, value) in values {
            let Some(value) = value else { continue };
            is_written |= self.assert_one_of_domain(claim, domain, &mut held, attribute, value)?;
        }
        if !is_written {
            return Ok((Effect::Unchanged, false));
        }
        self.is_changed = true;
        let effect = match before {
            None => Effect::Added,
            before if before == self.view().domain(domain)? => Effect::Unchanged,
            _ => Effect::Merged,
        };
        Ok((effect, true))
    }

    fn assert_one_of_domain(
        &self,
        claim: &SourceClaim,
        domain: &str,
        held: &mut Vec<Held>,
        attribute: Attribute,
        value: &str,
    ) -> rusqlite::Result<bool> {
        let own =
            held.iter().find(|held| held.attribute == attribute && held.source == claim.source);
        if let Some(own) = own {
            if claim.confidence <= own.confidence {
                return Ok(false);
            }
            let confidence = claim.confidence.percent();
            let at = Column(self.at);
            self.connection.run(
                "UPDATE domain_fact SET value = ?3, confidence = ?4, source_record = ?5, at = ?6
                 WHERE domain = ?1 AND ordinal = ?2",
                params![domain, own.ordinal, value, confidence, claim.record.id(), at],
            )?;
            return Ok(true);
        }
        let ordinal = held.last().map_or(0, |last| last.ordinal + 1);
        self.connection.run(
            "INSERT INTO domain_fact (domain, ordinal, attribute, value, source, source_record,
                                      confidence, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                domain,
                ordinal,
                attribute_code(attribute),
                value,
                claim.source,
                claim.record.id(),
                claim.confidence.percent(),
                Column(self.at),
            ],
        )?;
        let (source, confidence) = (claim.source, claim.confidence);
        held.push(Held { ordinal, attribute, source, confidence });
        Ok(true)
    }

    fn held_of_domain(&self, domain: &str) -> rusqlite::Result<Vec<Held>> {
        let held = "SELECT ordinal, attribute, source, confidence FROM domain_fact
                    WHERE domain = ?1 ORDER BY ordinal";
        self.connection.list(held, [domain], |row| {
            Ok(Held {
                ordinal: row.get(0)?,
                attribute: attribute_of(row.get(1)?)?,
                source: row.get(2)?,
                confidence: Confidence::clamped(row.get(3)?),
            })
        })
    }
}
