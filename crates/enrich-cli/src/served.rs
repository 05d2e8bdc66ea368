//! Code for all servers, whether their accounts are in a data folder or in PostgreSQL.

use enrich_core::{RateLimit, Service};

use crate::settings::Settings;

/// The name of the folder, inside the data folder, for the lists that accounts upload.
pub(crate) const LISTS: &str = "bulk";

/// Returns the service with the limits of the settings.
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
