#![doc = include_str!("../README.md")]

mod assets;
mod brake;
mod cookie;
mod csv_file;
mod curl;
mod dashboard;
mod days;
mod fault;
mod form;
mod host;
mod http;
mod origin;
mod page;
mod password;
mod places;
mod returning;
mod routes;
mod scans;
mod settings;
mod shown;
mod threads;
mod upload;
mod visit;

pub use dashboard::{Dashboard, Parts};
pub use http::{Body, BodyFault, Call, Method, Request, Response, ResponseBody};
pub use routes::{Page, pages};
pub use settings::Settings;
