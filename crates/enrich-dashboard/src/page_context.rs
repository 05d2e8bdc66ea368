//! The context of a page: the request, the session and the dashboard.

use std::ops::Deref;

use askama::Template;
use enrich_core::{Account, AccountStatus, Candidate, Credits, Timestamp};
use enrich_wire::Endpoint;

use crate::dashboard::{AccountSession, Dashboard};
use crate::fault::Fault;
use crate::form::Form;
use crate::http::{Request, Response};
use crate::shown::Number;

/// A parsed request to a page.
pub(crate) struct PageContext<'a> {
    pub(crate) dashboard: &'a Dashboard,
    pub(crate) request: &'a Request,
    /// The values of the path parameters, in the order of the path. Empty if the route has no
    /// parameters.
    pub(crate) path_parameters: Vec<String>,
    pub(crate) query: Form,
    /// The form fields. Empty if the request is not a POST.
    pub(crate) form: Form,
    pub(crate) now: Timestamp,
    /// A function that returns whether a path belongs to a page that needs a session.
    pub(crate) is_account_page: fn(&str) -> bool,
}

/// The context of a page that needs a session. The page may only use the data of the account that
/// is signed in.
pub(crate) struct OwnerContext<'a> {
    pub(crate) page: &'a PageContext<'a>,
    pub(crate) session: AccountSession,
}

impl<'a> Deref for OwnerContext<'a> {
    type Target = PageContext<'a>;

    fn deref(&self) -> &PageContext<'a> {
        self.page
    }
}

/// The data for the layout around each page: the header and the navigation.
pub(crate) struct Frame {
    /// The data of the signed-in account that the header shows. `None` on error pages and on pages
    /// that need no session, even if somebody is signed in.
    pub(crate) owner: Option<Owner>,
    /// The path of the section that the navigation marks as the current one.
    pub(crate) here: &'static str,
}

/// The data of the signed-in account that every page shows.
pub(crate) struct Owner {
    pub(crate) name: String,
    pub(crate) balance: Number,
    /// The operator's reason if the account is suspended, which may be empty; `None` if the account
    /// is not suspended.
    pub(crate) suspended: Option<String>,
}

/// A balance below this number of credits is shown as low.
const LOW_CREDITS: u64 = 100;

impl Owner {
    pub(crate) fn is_out_of_credits(&self) -> bool {
        self.balance.0 == 0
    }

    pub(crate) fn is_low(&self) -> bool {
        (1..LOW_CREDITS).contains(&self.balance.0)
    }

    /// Returns the CSS class with which the balance is shown; empty if the balance is not low.
    pub(crate) fn class(&self) -> &'static str {
        match self.balance.0 {
            0 => "out",
            1..LOW_CREDITS => "low",
            _ => "",
        }
    }

    /// Returns the unit of the balance, without the number: `credit` or `credits`.
    pub(crate) fn unit(&self) -> &'static str {
        if self.balance.0 == 1 { "credit" } else { "credits" }
    }
}

impl Frame {
    pub(crate) fn is_at(&self, path: &str) -> bool {
        self.here == path
    }
}

impl PageContext<'_> {
    /// Returns the path parameter of a path that has only one parameter; empty if the path has
    /// none.
    pub(crate) fn path_parameter(&self) -> &str {
        self.path_parameters.first().map_or("", String::as_str)
    }

    /// Returns the layout data for a page that needs no session.
    pub(crate) fn open_frame(&self) -> Frame {
        Frame { owner: None, here: "" }
    }

    pub(crate) fn endpoint(&self, path: &str) -> Option<&'static Endpoint> {
        self.dashboard.api_versions.iter().find_map(|api_version| api_version.endpoint(path))
    }

    /// Returns the title of the endpoint at `path`; empty if there is none. Look-ups of candidates
    /// (companies that a name may mean) belong to no endpoint. Their `path` is
    /// [`Candidate::PURPOSE`], and they have a title too.
    pub(crate) fn title(&self, path: &str) -> &'static str {
        if path == Candidate::PURPOSE {
            return "Companies that a name may mean";
        }
        self.endpoint(path).map_or("", |endpoint| endpoint.title)
    }
}

impl OwnerContext<'_> {
    /// Returns the layout data for a page that needs a session, with the current balance.
    pub(crate) async fn frame(&self, here: &'static str) -> Result<Frame, Fault> {
        let Account { name, status, .. } = &self.session.account;
        let suspended = match status {
            AccountStatus::Suspended { reason } => Some(reason.clone()),
            AccountStatus::Active | AccountStatus::Closed => None,
        };
        let balance = Number(self.balance().await?.0);
        Ok(Frame { owner: Some(Owner { name: name.clone(), balance, suspended }), here })
    }

    /// Returns the account's cached balance. Charges that other processes have just made may be
    /// missing.
    pub(crate) async fn balance(&self) -> Result<Credits, Fault> {
        let account = self.session.account.id;
        Ok(self.dashboard.service.ledger.cached_balance(account).await?.unwrap_or_default())
    }
}

pub(crate) fn render_page(status: u16, template: &impl Template) -> Result<Response, Fault> {
    Ok(Response::html(status, template.render().map_err(Fault::failed)?))
}
