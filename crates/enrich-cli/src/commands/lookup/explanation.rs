//! Explains why a look-up has its answer.

use enrich_core::matching::{Prominence, ScoredCandidate, Weights, likeliest, rival};
use enrich_core::port::directory::Directory;
use enrich_core::port::error::StoreError;
use enrich_core::{
    Company, CompanyRef, Confidence, Found, PersonRef, Projection, Question, Subject,
};
use enrich_store::SqliteDirectory;
use enrich_text::{CompanyName, Country};
use serde::Serialize;

use super::reading::{called, in_words};

/// A look-up that is to be explained.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookUpToExplain<'a> {
    pub(super) question: &'a Question,
    pub(super) found: Option<&'a Found>,
    /// Whether the answer contains the attribute that the endpoint returns. A company or person may
    /// be found, but lack this attribute.
    pub(super) is_answered: bool,
    pub(super) min_name_confidence: Confidence,
}

#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    /// How the fields of the request were read, in words.
    pub(super) read_as: String,
    /// The minimum confidence with which a match by name becomes the answer, in percent.
    pub(super) min_confidence: u8,
    /// The companies that the given name may mean; `None` if the request contains no company name.
    pub(super) company_name: Option<ByName>,
    pub(super) found: Option<Named>,
    /// Whether the company, person or domain that was found has the attribute that the endpoint
    /// returns. If it has not, the answer is "not found".
    pub(super) is_answered: bool,
    /// Why this subject was found, or why nothing was found.
    pub(super) reason: String,
}

/// The comparison of a company name with the companies that it may mean.
#[derive(Debug, Serialize)]
pub(super) struct ByName {
    pub(super) name: String,
    /// Whether the look-up is for a person, so that the name is the name of the person's employer.
    pub(super) is_employer: bool,
    /// The alpha-2 code of the country that was given with the name.
    pub(super) country: Option<&'static str>,
    /// If exactly one company has this name, apart from case, accents, punctuation and legal forms:
    /// the company that the name means. `candidates` is then empty. `None` if similar names must be
    /// compared, for example because several companies have the name, or because the name is a
    /// single word that many other names may contain.
    pub(super) only_bearer: Option<Named>,
    /// The companies that were compared, the most probable first.
    pub(super) candidates: Vec<Candidate>,
}

/// A found subject, as the explanation names it.
#[derive(Debug, Serialize)]
pub(super) struct Named {
    pub(super) name: String,
    /// The main domain, if the subject is a company.
    pub(super) domain: Option<String>,
    /// A company's ids in registers and data sets, such as `lei:…`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) ids: Vec<String>,
    /// The confidence of the match, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) confidence: Option<u8>,
}

/// A company that a company name may mean.
#[derive(Debug, Serialize)]
pub(super) struct Candidate {
    /// The confidence that this company is meant, in percent.
    pub(super) confidence: u8,
    /// The confidence as a probability from 0 to 1, not rounded.
    pub(super) probability: f64,
    /// The score: the sum of the effects of all features. It is the logarithm of a ratio: the
    /// probability that this company is meant, divided by the probability that no company is meant
    /// (both before calibration).
    pub(super) score: f64,
    /// The company's name.
    pub(super) company: String,
    /// Of the company's names, the one that is most similar to the given name.
    pub(super) name: String,
    pub(super) domain: Option<String>,
    /// How well known the company is; `None` if its prominence is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prominence: Option<Prominent>,
    /// The features of the company (what speaks for or against it), those with the largest effect
    /// first.
    pub(super) features: Vec<Weighed>,
}

/// How well known a company is, and the facts that show it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Prominent {
    /// The prominence from 0 to 1.
    pub(super) value: f64,
    /// The highest page rank of the company's domains, from 0 to 10; `None` if none is known.
    pub(super) page_rank: Option<f64>,
    pub(super) is_in_wikidata: bool,
    /// The number of schemes (registers and data sets), without Wikidata, in which the company has
    /// an id.
    pub(super) kinds_of_ids: usize,
    /// The number of countries for which the company has a site.
    pub(super) countries: usize,
    /// The number of social networks on which the company has a page.
    pub(super) networks: usize,
}

/// A feature of a candidate (a number that speaks for or against it), and its effect on the
/// candidate's score.
#[derive(Debug, Serialize)]
pub(super) struct Weighed {
    /// The name of the feature in the table of weights.
    pub(super) feature: &'static str,
    pub(super) value: f64,
    pub(super) weight: f64,
    /// The value times the weight. If it is above 0, the feature speaks for the company; if it is
    /// below 0, against the company.
    pub(super) effect: f64,
}

impl LookUpToExplain<'_> {
    pub(super) fn explained(self, directory: &SqliteDirectory) -> Result<Explanation, StoreError> {
        let company = match self.question {
            Question::Company(company) => Some(company),
            Question::Person(PersonRef::AtCompany { company, .. }) => Some(company),
            _ => None,
        };
        let by_name = match company {
            Some(CompanyRef::Name { name, country }) => Some((name, *country)),
            Some(CompanyRef::DomainOrName(domain, name)) => {
                let domain = Question::Company(CompanyRef::Domain(domain.clone()));
                let found = pollster::block_on(directory.find(&domain, Projection::Profile))?;
                found.is_none().then_some((name, None))
            }
            _ => None,
        };
        let compared = by_name.map(|(name, country)| Compared::of(directory, name, country));
        let compared = compared.transpose()?;
        let is_person = matches!(self.question, Question::Person(_));
        let reason = match &compared {
            Some(compared) if !is_person => self.reason_by_name(directory, compared)?,
            _ => self.reason_otherwise(),
        };
        Ok(Explanation {
            read_as: in_words(self.question),
            min_confidence: self.min_name_confidence.percent(),
            company_name: compared
                .map(|compared| ByName { is_employer: is_person, ..compared.into() }),
            found: self.found.map(Named::from),
            is_answered: self.is_answered,
            reason,
        })
    }

    /// Returns why the look-up of a company name found its company, or why it found nothing.
    fn reason_by_name(
        self,
        directory: &SqliteDirectory,
        compared: &Compared<'_>,
    ) -> Result<String, StoreError> {
        let Compared { name, country, only_bearer, judged } = compared;
        let below = format!("below the least confidence ({})", self.min_name_confidence.percent());
        let led_to = self.found.and_then(Found::company).map(|company| company.id);
        // The text `changed` is returned if an import has changed the look-up data since the
        // look-up. Then the comparison of names no longer fits the answer.
        let changed = "the directory has just changed; ask again".to_owned();
        if let Some((only, sure)) = only_bearer {
            return Ok(match led_to {
                Some(id) if id == only.id => "no other company bears the name".to_owned(),
                None if *sure < self.min_name_confidence => below,
                _ => changed,
            });
        }
        let Some((first, sure)) = likeliest(judged) else {
            return Ok(match country {
                _ if led_to.is_some() => changed,
                _ if let Some(rival) = rival(judged) => {
                    format!("another company is exactly as likely, {}", rival.company.name)
                }
                Some(country) if !directory.judged(name, None)?.is_empty() => {
                    format!("no company with such a name has a domain of {}", called(*country))
                }
                _ => "no company has a name like it".to_owned(),
            });
        };
        let is_sure = sure >= self.min_name_confidence;
        if led_to != is_sure.then_some(first.company.id) {
            return Ok(changed);
        }
        let mut reason = if is_sure { "the likeliest".to_owned() } else { below };
        // A rival is another company that may be meant. It lowers the probability of the first
        // company. It is mentioned only if it may be the reason for a low confidence: if the first
        // company, with the probability of the rival added, would reach `least`.
        let least = f64::from(self.min_name_confidence.percent()) / 100.0;
        let is_in_the_way =
            |rival: &&ScoredCandidate| first.probability + rival.probability >= least;
        if let Some(rival) = rival(judged).filter(is_in_the_way) {
            let (rival, most) = (&rival.company.name, Confidence::AMBIGUOUS.percent());
            reason.push_str(&format!(
                "; another company may be meant as well, {rival}: neither is surer than {most}"
            ));
        }
        if self.found.is_some_and(|found| found.confidence < sure) {
            reason.push_str("; the source that says its name is trusted no more");
        }
        Ok(reason)
    }

    /// Returns why a look-up found its company, person or domain, or why it found nothing. Look-ups
    /// of a company by its name are explained by `reason_by_name` instead.
    fn reason_otherwise(self) -> String {
        let is_found = self.found.is_some();
        let least = self.min_name_confidence.percent();
        match self.question {
            Question::Person(PersonRef::InCountry { .. } | PersonRef::AtCompany { .. }) => {
                if is_found {
                    "nobody else there agrees as well with the name".to_owned()
                } else {
                    format!(
                        "nobody there agrees with the name, or several do, or it is below the \
                         least confidence ({least})"
                    )
                }
            }
            Question::Host(_) | Question::Domain(_) if !is_found => {
                "nothing is known of it".to_owned()
            }
            _ if is_found => "looked up as it is, no names are compared".to_owned(),
            _ => "nobody is held under it".to_owned(),
        }
    }
}

/// The result of comparing a given company name with the names of companies in the directory.
struct Compared<'a> {
    name: &'a CompanyName,
    country: Option<Country>,
    /// The company that the name means, with the confidence of this match, if exactly one company
    /// has this name; see [`SqliteDirectory::only_match`].
    only_bearer: Option<(Company, Confidence)>,
    judged: Vec<ScoredCandidate>,
}

impl<'a> Compared<'a> {
    fn of(
        directory: &SqliteDirectory,
        name: &'a CompanyName,
        country: Option<Country>,
    ) -> Result<Self, StoreError> {
        let only_bearer = directory.only_match(name, country)?;
        let judged = match &only_bearer {
            Some(_) => Vec::new(),
            None => directory.judged(name, country)?,
        };
        Ok(Self { name, country, only_bearer, judged })
    }
}

impl From<Compared<'_>> for ByName {
    fn from(compared: Compared<'_>) -> Self {
        let only_bearer = compared.only_bearer.map(|(company, sure)| Named {
            name: company.name.clone(),
            domain: company.domain().map(str::to_owned),
            ids: company.ids.clone(),
            confidence: Some(sure.percent()),
        });
        let candidates = compared.judged.iter().map(Candidate::from).collect();
        Self {
            name: compared.name.display().to_owned(),
            is_employer: false,
            country: compared.country.map(Country::alpha2),
            only_bearer,
            candidates,
        }
    }
}

impl From<&Found> for Named {
    fn from(found: &Found) -> Self {
        let (name, domain) = match &found.subject {
            Subject::Company(company) => {
                (company.name.clone(), company.domain().map(str::to_owned))
            }
            Subject::Person(person) => (person.full_name(), None),
            Subject::Domain(facts) => (facts.domain.clone(), None),
            Subject::Candidates(list) => {
                (list.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", "), None)
            }
        };
        let ids = found.company().map(|company| company.ids.clone()).unwrap_or_default();
        Self { name, domain, ids, confidence: Some(found.confidence.percent()) }
    }
}

impl Prominent {
    fn of(prominence: Prominence) -> Option<Self> {
        let value = prominence.value();
        (value > 0.0).then_some(Self {
            value,
            page_rank: prominence.page_rank,
            is_in_wikidata: prominence.is_in_wikidata,
            kinds_of_ids: prominence.kinds_of_ids,
            countries: prominence.countries,
            networks: prominence.networks,
        })
    }
}

impl From<&ScoredCandidate> for Candidate {
    fn from(judged: &ScoredCandidate) -> Self {
        let weights = Weights::trained();
        let features = judged.evidence.features().iter();
        let mut features: Vec<Weighed> = features
            .map(|&(feature, value)| {
                let weight = weights.of(feature);
                Weighed { feature: feature.name(), value, weight, effect: value * weight }
            })
            .collect();
        features.sort_by(|one, next| next.effect.abs().total_cmp(&one.effect.abs()));
        Self {
            confidence: judged.confidence().percent(),
            probability: judged.probability,
            score: judged.score,
            company: judged.company.name.clone(),
            name: judged.name.clone(),
            domain: judged.company.domain().map(str::to_owned),
            prominence: Prominent::of(judged.prominence),
            features,
        }
    }
}
