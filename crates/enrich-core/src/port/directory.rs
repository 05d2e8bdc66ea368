//! The look-up data.

use std::sync::Arc;

use async_trait::async_trait;

use crate::account::AccountId;
use crate::port::error::StoreError;
use crate::question::{Projection, Question};
use crate::subject::{DirectoryRevision, Found};
use crate::suppressed::SuppressedValues;

/// On whose behalf a look-up is made: what must not be starved by others, nor starve them.
///
/// Opaque to a directory; equal values share one place in line. The default is for callers that
/// have no accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant(u128);

impl From<AccountId> for Tenant {
    fn from(account: AccountId) -> Self {
        Self(account.0.as_u128())
    }
}

/// Answers questions from the look-up data.
#[async_trait]
pub trait Directory: Send + Sync {
    /// The subject that answers `question`, with at least what `projection` names.
    ///
    /// `None` when nobody fits, or when several fit a name and cannot be told apart.
    async fn find(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError>;

    /// The same on behalf of a tenant. A directory that makes expensive look-ups wait lets tenants
    /// take turns; one that does not has nothing to do with the tenant.
    async fn find_for(
        &self,
        tenant: Tenant,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        let _ = tenant;
        self.find(question, projection).await
    }

    /// The values that are suppressed now, so that what was answered before can be held against
    /// them; `None` where this directory suppresses none.
    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        Ok(None)
    }

    /// The state the directory is in.
    async fn revision(&self) -> Result<DirectoryRevision, StoreError>;
}
