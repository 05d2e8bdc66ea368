//! The actix-web application of a listener: its routes and middleware.
//!
//! A request passes two layers of middleware: `connection_end`, then `record` (connection limit,
//! log and metrics).

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{App, Error};

use crate::state::{ListenerState, Serves};
use crate::{account, admin, connection_end, document, endpoint, record, unrouted};

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
    let (recorded, ended) = (Data::clone(&listener), Data::clone(&listener));
    let record = move |request, next| {
        let listener = Data::clone(&recorded);
        async move { record::record(&listener.app, request, next).await }
    };
    let end_connection = move |request, next| {
        let listener = Data::clone(&ended);
        async move { connection_end::end_connection(&listener.app, request, next).await }
    };
    App::new()
        .app_data(listener)
        .wrap(from_fn(record))
        .wrap(from_fn(end_connection))
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
