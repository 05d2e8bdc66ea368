//! Answers the rows of a list from a directory (look-up data). These answers are not charged, and
//! not counted in the usage.

use std::num::NonZeroU64;
use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::port::directory::Directory;
use enrich_core::port::error::StoreError;
use enrich_core::{Credits, Found, Projection, Question, Refusal};
use enrich_text::Country;
use enrich_wire::{Fields, Value};

use super::{CallResult, Caller, RowFields, Target};
use crate::answer::Answers;

/// Answers the rows of a list from a directory (look-up data). The answers are not charged, and not
/// counted in the usage.
pub struct DirectoryCaller {
    directory: Arc<dyn Directory>,
    target: Target,
    answers: Answers,
    /// Maximum number of items, such as email addresses, of each list in an answer; `None` for no
    /// limit. It applies only if the price of the answer does not depend on the number of items.
    /// [`enrich_core::Service`] has the same limit.
    max_enrichment_items: Option<NonZeroU64>,
    /// The country that is assumed for phone numbers without a country calling code. If it is
    /// `None`, such numbers are invalid.
    country: Option<Country>,
}

impl DirectoryCaller {
    /// Returns a caller that answers from this directory like the endpoint of `target`.
    pub fn new(directory: Arc<dyn Directory>, target: Target) -> Self {
        let answers = Answers::of(target.endpoint);
        Self { directory, target, answers, max_enrichment_items: None, country: None }
    }

    /// Sets the country that is assumed for phone numbers without a country calling code, such as
    /// `044 668 18 00`.
    #[must_use]
    pub fn in_country(self, country: Option<Country>) -> Self {
        Self { country, ..self }
    }

    /// Limits each list in an answer to `most` items, if the price of the answer does not depend on
    /// the number of items.
    #[must_use]
    pub fn with_max_enrichment_items(self, most: Option<NonZeroU64>) -> Self {
        Self { max_enrichment_items: most, ..self }
    }
}

#[async_trait]
impl Caller for DirectoryCaller {
    async fn call(&self, fields: &RowFields, _idempotency: &str) -> CallResult {
        let endpoint = self.target.endpoint;
        let ask = match endpoint.read(&wire_fields(fields), self.country) {
            Ok(ask) => ask.bounded(endpoint.price, self.max_enrichment_items),
            Err(invalid) => return CallResult::Invalid(Refusal::Fields(invalid).to_string()),
        };
        let found = match self.directory.find(&ask.question, ask.projection).await {
            Ok(found) => found,
            Err(error) => return not_read(&error),
        };
        let template = (endpoint.wire.write)(&ask, found.as_ref());
        if template.items == 0 {
            return CallResult::NotFound;
        }
        let body = template.body.fill(Credits::ZERO);
        CallResult::found(&self.answers, &body, Credits::ZERO)
    }

    async fn candidates(&self, asked: &Question, most: usize, _idempotency: &str) -> CallResult {
        match self.directory.find(asked, Projection::Profile).await {
            Ok(found) => {
                let list = found.as_ref().and_then(Found::candidates).unwrap_or_default();
                CallResult::of_candidates(list, most, Credits::ZERO)
            }
            Err(error) => not_read(&error),
        }
    }

    fn is_metered(&self) -> bool {
        false
    }
}

/// Returns the result of a row for which the directory could not be read.
fn not_read(error: &StoreError) -> CallResult {
    match error {
        StoreError::Overloaded | StoreError::Unavailable(_) => CallResult::later(error.to_string()),
        error => CallResult::Failed(error.to_string()),
    }
}

/// Converts the fields of a row to the type that the endpoint's parser takes.
pub(crate) fn wire_fields(given: &RowFields) -> Fields<'_> {
    let mut fields = Fields::default();
    for (name, value) in given {
        fields.insert((*name).into(), Value::Text(value.into()));
    }
    fields
}
