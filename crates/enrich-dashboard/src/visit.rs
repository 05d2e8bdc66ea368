//! What a page is given: the request, who asks, and what it may use.

use askama::Template;
use enrich_core::{Account, Credits, Timestamp, Token};

use crate::dashboard::Dashboard;
use crate::fault::Fault;
use crate::form::Form;
use crate::http::{Request, Response};
use crate::shown::Number;

/// A request to a page, read.
pub(crate) struct Visit<'a> {
    pub(crate) dashboard: &'a Dashboard,
    pub(crate) request: &'a Request,
    /// What stands in the path where its row has a blank; empty where it has none.
    pub(crate) blanks: Vec<String>,
    pub(crate) query: Form,
    /// What was typed; empty but for a POST.
    pub(crate) form: Form,
    pub(crate) now: Timestamp,
}

/// Who is signed in.
pub(crate) struct Member {
    pub(crate) account: Account,
    /// The session's id.
    pub(crate) token: Token,
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
}

impl Frame {
    /// Whether a part of the navigation is the one shown.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        self.here == path
    }
}

impl Visit<'_> {
    /// What stands in the path's only blank.
    pub(crate) fn blank(&self) -> &str {
        self.blanks.first().map_or("", String::as_str)
    }

    /// The frame of a page that shows to everybody.
    pub(crate) fn open_frame(&self) -> Frame {
        Frame { owner: None, here: "" }
    }

    /// The frame of a page of the account, with the balance as it is now.
    pub(crate) async fn frame(&self, member: &Member, here: &'static str) -> Result<Frame, Fault> {
        let name = member.account.name.clone();
        let balance = self.balance(member).await?;
        Ok(Frame { owner: Some(Owner { name, balance: Number(balance.0) }), here })
    }

    /// The credits left.
    pub(crate) async fn balance(&self, member: &Member) -> Result<Credits, Fault> {
        let balance = self.dashboard.service.ledger.glance(member.account.id).await?;
        Ok(balance.unwrap_or_default())
    }
}

/// A page from its template.
pub(crate) fn page(status: u16, template: &impl Template) -> Result<Response, Fault> {
    Ok(Response::html(status, template.render().map_err(Fault::failed)?))
}
