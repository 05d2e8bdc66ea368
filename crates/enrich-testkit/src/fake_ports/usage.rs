//! Implements the trait [`Usage`] in memory, for tests.

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::usage::{DayCount, Usage, Use};
use enrich_core::{AccountId, day_of};

use super::FakePorts;

#[async_trait]
impl Usage for FakePorts {
    fn count(&self, used: Use) {
        let count = DayCount {
            day: day_of(used.at),
            key: used.key,
            endpoint: used.endpoint.to_owned(),
            outcome: used.outcome,
            calls: 1,
            credits: used.credits,
        };
        self.counts.lock().push((used.account, count));
    }

    async fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn days(
        &self,
        account: AccountId,
        first: i64,
        last: i64,
    ) -> Result<Vec<DayCount>, StoreError> {
        self.note_thread();
        let counts = self.counts.lock();
        let own = counts.iter().filter(|(of, _)| *of == account).map(|(_, count)| count);
        Ok(own.filter(|count| (first..=last).contains(&count.day)).cloned().collect())
    }
}
