//! The web pages of the dashboard. Each page has its own file, with the code that shows the page
//! and handles its forms.

pub(crate) mod bulk;
pub(crate) mod calls;
pub(crate) mod fault;
pub(crate) mod invitation;
pub(crate) mod job;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod overview;
pub(crate) mod playground;
pub(crate) mod preferences;
pub(crate) mod sign_in;
pub(crate) mod usage;

use enrich_bulk::Target;
use enrich_wire::Endpoint;

use crate::page_context::PageContext;

pub(crate) struct EndpointChoice {
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
    pub(crate) is_chosen: bool,
}

/// Returns the options of a `select` element: one for every endpoint, in the order of the API
/// versions. The endpoint at the path `chosen` is selected.
pub(crate) fn endpoint_choices(context: &PageContext<'_>, chosen: &str) -> Vec<EndpointChoice> {
    let choice = |Target { endpoint: &Endpoint { path, title, .. }, .. }| EndpointChoice {
        path,
        title,
        is_chosen: path == chosen,
    };
    Target::all(context.dashboard.api_versions).map(choice).collect()
}

/// The sections of the account page, in the order of the navigation.
pub(crate) const NAVIGATION: [(&str, &str); 7] = [
    ("/account/", "Overview"),
    ("/account/keys", "API keys"),
    ("/account/usage", "Usage"),
    ("/account/calls", "Calls"),
    ("/account/playground", "Playground"),
    ("/account/bulk", "Bulk"),
    ("/account/settings", "Settings"),
];
