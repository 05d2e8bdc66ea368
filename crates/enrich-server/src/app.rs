//! The actix-web application of a listener: its routes and middleware. Every request first passes
//! through the middleware in `connection_end`, which then calls the middleware in `record`. The
//! middleware in `record` checks the connection limit, and logs and counts the request. Both are
//! registered in actix-web as one middleware. If they were registered separately, actix-web would
//! allocate one more future for each request.

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{App, Error};

use crate::state::{ListenerState, Serves};
use crate::{account, admin, connection_end, document, endpoint, unrouted};

pub(crate) fn app(
    listener: Data<ListenerState>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<BoxBody>,
        Error = Error,
        InitError = (),
    >,
> {
    let serves = listener.serves;
    let has_account_page = listener.app.dashboard.is_some();
    let middleware =
        move |request, next| connection_end::end_connection(Data::clone(&listener), request, next);
    App::new()
        .wrap(from_fn(middleware))
        .configure(|config| configure(config, serves, has_account_page))
        .default_service(web::to(unrouted::not_found))
}

fn configure(config: &mut ServiceConfig, serves: Serves, has_account_page: bool) {
    if serves != Serves::Admin {
        endpoint::configure(config);
        document::configure(config);
        if has_account_page {
            account::configure(config);
        }
    }
    if serves != Serves::Interface {
        admin::configure(config);
    }
}
