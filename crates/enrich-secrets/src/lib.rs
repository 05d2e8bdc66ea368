#![doc = include_str!("../README.md")]

mod private;
mod secret;

pub use private::{private_file, private_folder, sync_folder};
pub use secret::{
    CannotDecrypt, FILE as SECRET_FILE, Purpose, SealError, Secret, SecretError, Secrets,
};
