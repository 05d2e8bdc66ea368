//! What every server serves in the same way, whether its accounts are in a data folder or in a
//! database.

use enrich_core::{RateLimit, Service};

use crate::settings::Settings;

/// The name of the subfolder of the data folder with the lists of the account page.
pub(crate) const LISTS: &str = "bulk";

/// Returns the service with the limits that the settings give.
pub(crate) fn with_settings(mut service: Service, settings: &Settings) -> Service {
    let limit = RateLimit::new(settings.rate_limit.get(), settings.rate_window.get());
    service.rate_limit = limit.unwrap_or_default();
    service.account_rate_limit = settings
        .account_rate_limit
        .and_then(|requests| RateLimit::new(requests.get(), settings.rate_window.get()));
    service.rate_policy = settings.rate_policy.into();
    service.max_enrichment_items = settings.max_enrichment_items;
    service
}
