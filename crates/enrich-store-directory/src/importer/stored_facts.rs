//! The facts of a subject (a company or a person) as they are stored: as one sequence of bytes,
//! beside the subject's profile (the values that answers need).
//!
//! Consecutive facts usually come from one record. Such facts form one group, which contains the
//! source, the record's id, the time and the confidence only once. A fact's value is usually a part
//! of the profile. Then only the position of this part is stored, so the profile must be written
//! together with the facts.
//!
//! The groups are stored one after the other. A group consists of:
//!
//! - the source, and the time in microseconds
//! - the length of the record's id plus 1, and the id; or 0, if there is no id
//! - the confidence, as one byte
//! - if the record is identified by its content: eight bytes of the content's hash; in this case,
//!   the highest bit of the confidence byte is set
//! - the number of facts, and the facts
//!
//! A fact consists of:
//!
//! - one byte with the code of its attribute and three flags
//! - the two letters of the country's code, if the fact has a country
//! - the position and the length of its value in the profile; or else the length of the value, and
//!   the value
//!
//! All integers whose length is not stated are written as in [`varint`].

use enrich_core::{Attribute, Confidence, Fact, Timestamp};
use enrich_text::Country;

use super::subject_facts::{Given, RecordMark, SubjectFacts, Unpacked};
use crate::directory::codes::{attribute_code, attribute_of};
use crate::directory::stored_page;
use crate::varint;

/// This bit is set in the first byte of a fact that has a country.
const HAS_COUNTRY: u8 = 0x80;
/// This bit is set in the confidence byte of a group (consecutive facts of one record) if the
/// record is identified by its content.
const BY_CONTENT: u8 = 0x80;
/// This bit is set in the first byte of a fact whose value is a part of the profile.
const IN_PROFILE: u8 = 0x40;
/// This bit is set in the first byte of a fact whose value is the address of a page on a social
/// network, stored without the usual beginning of such an address ([`stored_page`]). For example,
/// `quill` is stored for `linkedin.com/company/quill`.
const IS_SHORT: u8 = 0x20;

/// The error for bytes that [`pack`] did not write.
#[derive(Debug, thiserror::Error)]
#[error("the facts of a subject are damaged; restore a backup")]
pub(crate) struct DamagedFacts;

/// Packs the facts of a company or person into bytes. `profile` is the stored profile of this
/// company or person.
pub(crate) fn pack(subject_facts: &SubjectFacts, profile: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let facts: Vec<(usize, &Fact)> = subject_facts.facts_with_given().collect();
    let is_same_group = |(one, a): &(usize, &Fact), (other, b): &(usize, &Fact)| {
        one == other && a.confidence == b.confidence
    };
    for group in facts.chunk_by(is_same_group) {
        let Some((given, first)) = group.first() else { continue };
        let Given { source, record, at } = &subject_facts.given[*given];
        varint::push(&mut bytes, source.cast_unsigned());
        varint::push(&mut bytes, at.as_microsecond().cast_unsigned());
        let percent = first.confidence.percent();
        match record {
            RecordMark::Id(id) => {
                varint::push(&mut bytes, id.len() as u64 + 1);
                bytes.extend_from_slice(id.as_bytes());
                bytes.push(percent);
            }
            RecordMark::Content(content) => {
                bytes.extend_from_slice(&[0, percent | BY_CONTENT]);
                bytes.extend_from_slice(content);
            }
            RecordMark::Unknown => bytes.extend_from_slice(&[0, percent]),
        }
        varint::push(&mut bytes, group.len() as u64);
        for (_, fact) in group {
            push_fact(&mut bytes, fact, profile);
        }
    }
    bytes
}

fn push_fact(bytes: &mut Vec<u8>, fact: &Fact, profile: &str) {
    let place = ValuePosition::of(fact, profile);
    // Each attribute's code is less than 32, so the three highest bits are free for the flags.
    let mut first = attribute_code(fact.attribute) as u8;
    first |= if fact.country.is_some() { HAS_COUNTRY } else { 0 };
    first |= if place.is_in_profile() { IN_PROFILE } else { 0 };
    first |= if place.is_short { IS_SHORT } else { 0 };
    bytes.push(first);
    bytes.extend_from_slice(fact.country.map_or("", Country::alpha2).as_bytes());
    if let Some(begin) = place.begin {
        varint::push(bytes, begin as u64);
    }
    varint::push(bytes, place.text.len() as u64);
    if !place.is_in_profile() {
        bytes.extend_from_slice(place.text.as_bytes());
    }
}

/// Where the value of a fact is stored.
struct ValuePosition<'a> {
    /// The position of `text` in the profile; `None` if the profile does not contain it.
    begin: Option<usize>,
    /// The value of the fact. If `is_short` is `true`, only the part of a page's address after its
    /// usual beginning: `quill` for `linkedin.com/company/quill`.
    text: &'a str,
    is_short: bool,
}

impl<'a> ValuePosition<'a> {
    fn of(fact: &'a Fact, profile: &str) -> Self {
        let rest = match fact.attribute {
            Attribute::Page(network) => stored_page::rest(network, &fact.value),
            _ => None,
        };
        let text = rest.unwrap_or(&fact.value);
        Self { begin: profile.find(text), text, is_short: rest.is_some() }
    }

    fn is_in_profile(&self) -> bool {
        self.begin.is_some()
    }
}

/// Reads packed facts. `profile` is the profile with which they were packed.
pub(crate) fn unpack(bytes: &[u8], profile: &str) -> Result<Unpacked, DamagedFacts> {
    let mut unpacked = Unpacked::default();
    each_group(bytes, profile, |given, facts| {
        for fact in facts {
            unpacked.add(given.clone(), fact);
        }
    })
    .ok_or(DamagedFacts)?;
    Ok(unpacked)
}

/// Calls `take` for each group of packed facts (consecutive facts of one record), with the id of
/// its source and the number of its facts.
pub(crate) fn each_source(
    bytes: &[u8],
    profile: &str,
    mut take: impl FnMut(i64, u64),
) -> Result<(), DamagedFacts> {
    each_group(bytes, profile, |given, facts| take(given.source, facts.len() as u64))
        .ok_or(DamagedFacts)
}

fn each_group(
    mut bytes: &[u8],
    profile: &str,
    mut take: impl FnMut(&Given, Vec<Fact>),
) -> Option<()> {
    while !bytes.is_empty() {
        let source = varint::take(&mut bytes)?.cast_signed();
        let at = Timestamp::from_microsecond(varint::take(&mut bytes)?.cast_signed()).ok()?;
        let id = match varint::take(&mut bytes)? {
            0 => None,
            length => Some(text(&mut bytes, length - 1)?),
        };
        let percent = byte(&mut bytes)?;
        let record = match id {
            Some(id) => RecordMark::Id(id.to_owned()),
            None if percent & BY_CONTENT == 0 => RecordMark::Unknown,
            None => {
                let (content, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                RecordMark::Content(*content)
            }
        };
        let confidence = Confidence::clamped(percent & !BY_CONTENT);
        let count = varint::take(&mut bytes)?;
        let mut facts = Vec::new();
        for _ in 0..count {
            facts.push(take_fact(&mut bytes, profile, confidence)?);
        }
        take(&Given { source, record, at }, facts);
    }
    Some(())
}

fn take_fact(bytes: &mut &[u8], profile: &str, confidence: Confidence) -> Option<Fact> {
    let first = byte(bytes)?;
    let code = first & !(HAS_COUNTRY | IN_PROFILE | IS_SHORT);
    let attribute = attribute_of(i64::from(code)).ok()?;
    let country = match first & HAS_COUNTRY {
        0 => None,
        _ => Some(Country::from_code(text(bytes, 2)?).ok()?),
    };
    let value = match first & IN_PROFILE {
        0 => {
            let length = varint::take(bytes)?;
            text(bytes, length)?
        }
        _ => {
            let place = usize::try_from(varint::take(bytes)?).ok()?;
            let length = usize::try_from(varint::take(bytes)?).ok()?;
            profile.get(place..place.checked_add(length)?)?
        }
    };
    let value = match (first & IS_SHORT, attribute) {
        (0, _) => value.to_owned(),
        (_, Attribute::Page(network)) => stored_page::with_rest(network, value),
        _ => return None,
    };
    Some(Fact { attribute, value, country, confidence })
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    let (&byte, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(byte)
}

fn text<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a str> {
    let (text, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use enrich_core::SubjectId;
    use enrich_text::Network;
    use proptest::prelude::*;

    use super::super::subject_facts::{Kind, SourceClaim};
    use super::*;

    const PROFILE: &str = r#"{"n":"Quill Ltd","d":["quill.example"],"p":["lquill"]}"#;

    fn claim(source: i64, record: Option<&str>, percent: u8) -> SourceClaim {
        let at = Timestamp::from_microsecond(1_800_000_000_000_000 + source).unwrap();
        let content = RecordMark::Content([percent; 8]);
        let record = record.map_or(content, |id| RecordMark::Id(id.to_owned()));
        SourceClaim { source, record, at, confidence: Confidence::clamped(percent) }
    }

    fn pack_and_unpack(subject_facts: &SubjectFacts) -> (usize, Unpacked) {
        let bytes = pack(subject_facts, PROFILE);
        (bytes.len(), unpack(&bytes, PROFILE).unwrap())
    }

    #[test]
    fn facts_of_one_record_take_a_few_bytes_each() {
        let mut subject_facts = SubjectFacts::new(SubjectId(1), Kind::Company);
        let claim = claim(1, Some("c1"), 100);
        subject_facts.assert_fact(&claim, Attribute::Name, "Quill Ltd");
        subject_facts.assert_fact(&claim, Attribute::Domain, "quill.example");
        let page = "linkedin.com/company/quill";
        subject_facts.assert_fact(&claim, Attribute::Page(Network::LinkedIn), page);
        let (length, unpacked) = pack_and_unpack(&subject_facts);
        assert!(length <= 23, "{length} bytes");
        assert_eq!(unpacked.facts.len(), 3);
        assert_eq!(unpacked.facts[2].1.value, page);
        assert_eq!(unpacked.given[0].record, RecordMark::Id("c1".to_owned()));
    }

    #[test]
    fn bytes_that_break_off_are_damaged() {
        let mut subject_facts = SubjectFacts::new(SubjectId(1), Kind::Company);
        subject_facts.assert_fact(&claim(1, Some("c1"), 90), Attribute::Name, "Another");
        let bytes = pack(&subject_facts, PROFILE);
        for end in 1..bytes.len() {
            assert!(unpack(&bytes[..end], PROFILE).is_err(), "{end}");
        }
    }

    proptest! {
        #[test]
        fn facts_read_back(
            all in proptest::collection::vec(
                (1..4_i64, 0..3_usize, 1..=100_u8, "Quill Ltd|quill.example|linkedin.com/company/(quill|[a-z]{0,3})|[a-zé\"]{0,5}"), 0..20),
        ) {
            let mut subject_facts = SubjectFacts::new(SubjectId(1), Kind::Company);
            for (source, record, percent, value) in &all {
                let claim = claim(*source, [None, Some("x"), Some("")][*record], *percent);
                let country = (percent % 2 == 0).then(|| Country::from_code("CH").unwrap());
                let page = Attribute::Page(Network::LinkedIn);
                let attribute = if percent % 3 == 0 { page } else { Attribute::Domain };
                subject_facts.assert_fact_for(&claim, attribute, value, country);
            }
            let (_, unpacked) = pack_and_unpack(&subject_facts);
            let facts = |subject_facts: &SubjectFacts| -> Vec<(Given, Fact)> {
                let with_given = subject_facts.facts_with_given();
                with_given
                    .map(|(given, fact)| (subject_facts.given[given].clone(), fact.clone()))
                    .collect()
            };
            let again = SubjectFacts::held(SubjectId(1), Kind::Company, unpacked);
            prop_assert_eq!(facts(&again), facts(&subject_facts));
        }
    }
}
