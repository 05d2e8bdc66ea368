//! Creates the data folder of a new cluster. `initdb` creates the first data folder, and a copy of
//! it is kept as the template. Later data folders are copies of the template.
//!
//! `initdb` takes half a second; a copy takes a tenth of this time. The template is next to the
//! test's executable, in the build's target folder, so `cargo clean` removes it.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use super::installation::{Installation, output};
use super::login::{DATABASE, OWNER, SUPERUSER};

/// The version of the content of the template, from which new data folders are copied. The version
/// is part of the template's name. Increase it when the content changes, so that old templates are
/// not used any more.
const EDITION: u32 = 1;

/// Creates `folder/data`: the data of a cluster with the database `enrich` and its owner, the role
/// `enrich`. This role may create databases and roles, but is not a superuser. Returns the password
/// that all roles have.
///
/// # Errors
///
/// When a program of PostgreSQL fails.
pub(super) fn make_data(installation: &Installation, folder: &Path) -> io::Result<String> {
    let template = template(installation)?;
    let data = folder.join("data");
    if let Some(template) = &template
        && let Ok(password) = fs::read_to_string(template.join("password"))
    {
        copy(&template.join("data"), &data)?;
        return Ok(password);
    }
    let password = new_password()?;
    initialise(installation, folder, &data, &password)?;
    if let Some(template) = template {
        // An error is ignored: if the template cannot be kept, the next cluster runs `initdb`
        // again.
        let _ = store_template(&data, &password, &template);
    }
    Ok(password)
}

/// Returns the path of the template folder, which may not exist yet. The folder is next to the
/// test's executable. Returns `None` if the path of the executable is unknown.
fn template(installation: &Installation) -> io::Result<Option<PathBuf>> {
    let name = format!("postgres-template-{}-{EDITION}", installation.version()?);
    let executable = env::current_exe().ok();
    Ok(executable.and_then(|file| file.parent().map(|folder| folder.join(name))))
}

/// Runs `initdb`. Then creates the role and the database, with a server in single-user mode, which
/// accepts no connections.
fn initialise(
    installation: &Installation,
    folder: &Path,
    data: &Path,
    password: &str,
) -> io::Result<()> {
    let password_file = folder.join("password");
    fs::write(&password_file, password)?;
    installation.user.own(&password_file)?;
    let mut initdb = installation.command("initdb", folder);
    initdb.args(["--no-sync", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]);
    initdb.args(["--username", SUPERUSER, "--pwfile"]).arg(&password_file).arg("-D").arg(data);
    output(&mut initdb)?;
    fs::remove_file(&password_file)?;
    let statements = format!(
        "CREATE ROLE {OWNER} LOGIN CREATEDB CREATEROLE PASSWORD '{password}';\n\
         CREATE DATABASE {DATABASE} OWNER {OWNER};\n"
    );
    let mut single = installation.command("postgres", folder);
    single.args(["--single", "-F", "-D"]).arg(data).arg("postgres");
    let pipes = single.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut single = pipes.spawn()?;
    if let Some(mut input) = single.stdin.take() {
        input.write_all(statements.as_bytes())?;
    }
    let ended = single.wait_with_output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    if !ended.status.success() || said.contains("ERROR") {
        return Err(io::Error::other("the role and database of the tests could not be created"));
    }
    Ok(())
}

/// Keeps a copy of the data folder as the template. The copy gets the template's name when it is
/// complete.
fn store_template(data: &Path, password: &str, template: &Path) -> io::Result<()> {
    let new = template.with_file_name(format!("postgres-template-new-{}", process::id()));
    fs::create_dir(&new)?;
    let kept = copy(data, &new.join("data"))
        .and_then(|()| fs::write(new.join("password"), password))
        .and_then(|()| fs::rename(&new, template));
    if kept.is_err() {
        // The copy cannot become the template. Either another process has already kept a template
        // with this name, or copying has failed, for example because the disk is full.
        fs::remove_dir_all(&new)?;
    }
    kept
}

/// Copies a folder and keeps the owners of its files.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    output(Command::new("cp").arg("-a").arg(from).arg(to)).map(|_| ())
}

/// Returns a new password: sixteen random bytes in hexadecimal. A password is needed because other
/// users of the machine can reach the server's port, and a superuser of PostgreSQL can run
/// programs.
fn new_password() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
