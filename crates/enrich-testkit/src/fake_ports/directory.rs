//! Implements the trait [`Directory`] in memory, for tests.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use enrich_core::port::directory::Directory;
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::Suppressed;
use enrich_core::{
    Candidate, Company, CompanyRef, Confidence, DirectoryRevision, Found, Projection, Question,
    Subject, SuppressedValues, Timestamp,
};
use enrich_text::CompanyName;

use super::FakePorts;

const REVISION: DirectoryRevision = DirectoryRevision(7);

#[async_trait]
impl Directory for FakePorts {
    async fn find(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        self.projections.lock().push(projection);
        self.revision().await?;
        let companies = self.companies.lock();
        if let Question::Candidates { name, .. } = question {
            let list = candidates(name, &companies);
            return Ok((!list.is_empty()).then_some(Found {
                subject: Subject::Candidates(list),
                confidence: Confidence::AMBIGUOUS,
                revision: REVISION,
            }));
        }
        let mut companies = companies.iter();
        let company = match question {
            Question::Company(CompanyRef::Name { name, .. }) => {
                companies.find(|company| company.name == name.display())
            }
            Question::Company(CompanyRef::Domain(domain)) => {
                companies.find(|company| company.domain() == Some(domain.as_str()))
            }
            _ => None,
        };
        Ok(company.map(|company| Found {
            subject: Subject::Company(company.clone()),
            confidence: Confidence::FULL,
            revision: REVISION,
        }))
    }

    async fn revision(&self) -> Result<DirectoryRevision, StoreError> {
        if self.directory_fails.load(Ordering::SeqCst) {
            return Err(StoreError::failed("disk I/O error"));
        }
        Ok(REVISION)
    }

    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        Ok(Some(Arc::new(SuppressedDomains(self.suppressed.lock().clone()))))
    }
}

/// Returns the companies whose names begin with the same three letters as `name`.
fn candidates(name: &CompanyName, companies: &[Company]) -> Vec<Candidate> {
    let begins = |name: &str| name.to_lowercase().chars().take(3).collect::<String>();
    let is_alike = |company: &&Company| begins(&company.name) == begins(name.display());
    let candidate = |company: &Company| Candidate {
        id: company.id,
        name: company.name.clone(),
        country: company.seats.first().copied(),
        domain: company.domain().map(str::to_owned),
        confidence: Confidence::AMBIGUOUS,
        why: "Its name begins in the same way.".to_owned(),
    };
    companies.iter().filter(is_alike).map(candidate).collect()
}

struct SuppressedDomains(Vec<String>);

impl SuppressedValues for SuppressedDomains {
    fn version(&self) -> u64 {
        self.0.len() as u64
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn holds(&self, value: &Suppressed) -> bool {
        matches!(value, Suppressed::Domain(domain) if self.0.iter().any(|it| it == domain.as_str()))
    }

    fn holds_suppressed_since(&self, value: &Suppressed, _since: Timestamp) -> bool {
        self.holds(value)
    }
}
