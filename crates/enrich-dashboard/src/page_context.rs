//! What a page is given: the request, who asks, and what it may use.

use askama::Template;
use enrich_core::{AccountStatus, Credits, Timestamp};
use enrich_wire::Endpoint;

use crate::account_session::AccountSession;
use crate::dashboard::Dashboard;
use crate::fault::Fault;
use crate::form::Form;
use crate::http::{Request, Response};
use crate::shown::Number;

/// A request to a page, read.
pub(crate) struct PageContext<'a> {
    pub(crate) dashboard: &'a Dashboard,
    pub(crate) request: &'a Request,
    /// What stands in the path where its row has a blank; empty where it has none.
    pub(crate) path_parameters: Vec<String>,
    pub(crate) query: Form,
    /// What was typed; empty but for a POST.
    pub(crate) form: Form,
    pub(crate) now: Timestamp,
    /// Whether a path is that of a page of an account.
    pub(crate) is_account_page: fn(&str) -> bool,
}

/// What every page has around it.
pub(crate) struct Frame {
    /// Whose page it is; `None` where nobody is signed in.
    pub(crate) owner: Option<Owner>,
    /// The part of the navigation it belongs to, by its path.
    pub(crate) here: &'static str,
}

/// What is always told of the account.
pub(crate) struct Owner {
    pub(crate) name: String,
    pub(crate) balance: Number,
    /// Why the account is suspended, which may be empty; `None` where it is not.
    pub(crate) suspended: Option<String>,
}

/// Below how many credits a balance is shown as low.
const LOW_CREDITS: u64 = 100;

impl Owner {
    pub(crate) fn is_out_of_credits(&self) -> bool {
        self.balance.0 == 0
    }

    pub(crate) fn is_low(&self) -> bool {
        (1..LOW_CREDITS).contains(&self.balance.0)
    }

    /// How the balance is styled.
    pub(crate) fn class(&self) -> &'static str {
        match self.balance.0 {
            0 => "out",
            1..LOW_CREDITS => "low",
            _ => "",
        }
    }

    /// `1 credit`, `987 credits`, without the number.
    pub(crate) fn unit(&self) -> &'static str {
        if self.balance.0 == 1 { "credit" } else { "credits" }
    }
}

impl Frame {
    /// Whether a part of the navigation is the one shown.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        self.here == path
    }
}

impl PageContext<'_> {
    /// What stands in the path's only blank.
    pub(crate) fn blank(&self) -> &str {
        self.path_parameters.first().map_or("", String::as_str)
    }

    /// The frame of a page that shows to everybody.
    pub(crate) fn open_frame(&self) -> Frame {
        Frame { owner: None, here: "" }
    }

    /// The frame of a page of the account, with the balance as it is now.
    pub(crate) async fn frame(
        &self,
        session: &AccountSession,
        here: &'static str,
    ) -> Result<Frame, Fault> {
        let name = session.account.name.clone();
        let balance = self.balance(session).await?;
        let suspended = match &session.account.status {
            AccountStatus::Suspended { reason } => Some(reason.clone()),
            AccountStatus::Active | AccountStatus::Closed => None,
        };
        let owner = Owner { name, balance: Number(balance.0), suspended };
        Ok(Frame { owner: Some(owner), here })
    }

    /// The endpoint at a path.
    pub(crate) fn endpoint(&self, path: &str) -> Option<&'static Endpoint> {
        self.dashboard.api_versions.iter().find_map(|api_version| api_version.endpoint(path))
    }

    /// What the endpoint at a path does; empty where there is no such endpoint any more.
    pub(crate) fn title(&self, path: &str) -> &'static str {
        self.endpoint(path).map_or("", |endpoint| endpoint.title)
    }

    /// The credits left.
    pub(crate) async fn balance(&self, session: &AccountSession) -> Result<Credits, Fault> {
        let balance = self.dashboard.service.ledger.cached_balance(session.account.id).await?;
        Ok(balance.unwrap_or_default())
    }
}

/// A page from its template.
pub(crate) fn page(status: u16, template: &impl Template) -> Result<Response, Fault> {
    Ok(Response::html(status, template.render().map_err(Fault::failed)?))
}
