#![doc = include_str!("../README.md")]

mod assets;
mod cookie;
mod csv_file;
mod curl;
mod dashboard;
mod days;
mod fault;
mod form;
mod host;
mod http;
mod login_throttle;
mod origin;
mod page_context;
mod pages;
mod password;
mod returning;
mod routes;
mod scans;
mod serving;
mod settings;
mod shown;
mod threads;
mod upload;

pub use dashboard::{Dashboard, Parts};
pub use http::{Body, BodyFault, Call, Method, Request, Response, ResponseBody};
pub use routes::{PageRoute, pages};
pub use settings::Settings;
