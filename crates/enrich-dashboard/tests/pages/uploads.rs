//! Tests of lists that are slow to upload or to read. Such a list must not delay another account.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::Bytes;
use enrich_dashboard::{Body, Method, Response};
use futures_util::future::LocalBoxFuture;
use futures_util::{StreamExt, stream};

use crate::bulk::{BOUNDARY, ended, form, send, start, upload};
use crate::world::{Owner, Seen, World};

/// Uploads a list in pieces. After each piece, the clock moves forward by `seconds`.
fn slowly(world: &World, owner: &Owner, piece_bytes: usize, seconds: i64) -> Seen {
    let form = form("leads.csv", &format!("Company\n{}", "Quill\n".repeat(50_000)));
    let pieces: Vec<Bytes> =
        form.as_bytes().chunks(piece_bytes).map(Bytes::copy_from_slice).collect();
    let watch = Arc::clone(&world.clock);
    let arriving = stream::iter(pieces).map(move |piece| {
        watch.pass(seconds);
        Ok(piece)
    });
    sent(world, owner, arriving.boxed_local())
}

fn sent(world: &World, owner: &Owner, body: Body) -> Seen {
    world.send(request(owner, body))
}

fn request(owner: &Owner, body: Body) -> enrich_dashboard::Request {
    let mut request = owner.browser.request(Method::Post, "/account/bulk");
    request.content_type = Some(format!("multipart/form-data; boundary={BOUNDARY}"));
    request.body = body;
    request
}

#[test]
fn a_list_that_hardly_arrives_keeps_no_place() {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    for (piece_bytes, seconds) in [(64, 3), (1000, 31), (6000, 3)] {
        let seen = slowly(&world, &owner, piece_bytes, seconds);
        assert_eq!(seen.status, 400, "{piece_bytes} bytes each {seconds} s");
        assert!(seen.body.contains("The upload was too slow"), "{}", seen.body);
    }
    assert!(owner.browser.get(&world, "/account/bulk").body.contains("No lists yet."));
    for (piece_bytes, seconds) in [(64 * 1024, 30), (7000, 3), (1000, 0)] {
        let seen = slowly(&world, &owner, piece_bytes, seconds);
        assert_eq!(seen.status, 303, "{piece_bytes} bytes each {seconds} s");
    }
}

/// Begins an upload whose last bytes never arrive.
fn begun<'a>(world: &'a World, owner: &Owner) -> LocalBoxFuture<'a, Response> {
    let form = form("leads.csv", "Company\nQuill\n");
    let first = Bytes::copy_from_slice(&form.as_bytes()[..form.len() - 30]);
    let body = stream::iter([Ok(first)]).chain(stream::pending()).boxed_local();
    let _entered = world.runtime.enter();
    let mut begun: LocalBoxFuture<'a, Response> =
        Box::pin(world.dashboard.answer(request(owner, body)));
    assert!(begun.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    begun
}

#[test]
fn an_account_uploads_two_lists_at_once_and_others_theirs() {
    let world = World::new();
    let ada = world.owner("Quill Ltd", "ada@quill.example");
    let ben = world.owner("Ledger & Sons", "ben@quill.example");
    let list = || vec![Ok(Bytes::from(form("leads.csv", "Company\nQuill\n")))];
    let under_way = [begun(&world, &ada), begun(&world, &ada)];
    for _ in 0..10 {
        let refused = send(&world, &ada, list());
        assert_eq!(refused.status, 422);
        assert!(refused.body.contains("are being uploaded"), "{}", refused.body);
    }
    assert_eq!(send(&world, &ben, list()).status, 303);
    drop(under_way);
    // Ada's two unfinished uploads were dropped. The threads that store them notice this only after
    // a moment, so her next upload may be refused at first.
    let is_taken = || {
        std::thread::sleep(Duration::from_millis(10));
        send(&world, &ada, list()).status == 303
    };
    assert!((0..1000).any(|_| is_taken()));
}

/// Replaces an uploaded list by a named pipe to which nobody writes, so that every reader of the
/// list blocks.
fn stuck(world: &World, path: &str) -> PathBuf {
    let id = path.rsplit('/').next().unwrap();
    let list = world.folder.path().join(id).join("list.csv");
    std::fs::remove_file(&list).unwrap();
    assert!(Command::new("mkfifo").arg(&list).status().unwrap().success());
    list
}

/// Unblocks the readers of `list`, a named pipe that [`stuck`] has made: replaces the pipe by a
/// file, and writes the content of this file to the pipe.
fn let_go(list: &PathBuf) {
    let aside = list.with_extension("aside");
    std::fs::rename(list, &aside).unwrap();
    std::fs::write(list, "Company\nQuill\n").unwrap();
    let pipe = std::fs::File::options().read(true).write(true).open(aside).unwrap();
    std::io::Write::write_all(&mut &pipe, b"Company\nQuill\n").unwrap();
    // Wait, so that the blocked reader opens the pipe before this function closes it.
    std::thread::sleep(Duration::from_millis(200));
}

#[test]
fn lists_that_are_long_to_read_hold_up_no_page_and_no_download() {
    let world = World::new();
    let ada = world.owner("Quill Ltd", "ada@quill.example");
    let ben = world.owner("Ledger & Sons", "ben@quill.example");
    let mut cleo = world.owner("Third", "cleo@quill.example");
    let done = upload(&world, &cleo, "leads.csv", "Company\nQuill\n");
    assert_eq!(start(&world, &mut cleo, &done, "").status, 303);
    ended(&world, &cleo, &done);
    let lists = [&ada, &ben].map(|owner| upload(&world, owner, "leads.csv", "Company\nQuill\n"));
    let pipes: Vec<PathBuf> = lists.iter().map(|path| stuck(&world, path)).collect();
    std::thread::scope(|scope| {
        let world = &world;
        let waiting: Vec<_> = [&ada, &ben]
            .into_iter()
            .zip(&lists)
            .map(|(owner, path)| scope.spawn(|| owner.browser.clone().get(world, path)))
            .collect();
        std::thread::sleep(Duration::from_millis(300));
        let (sender, receiver) = sync_channel(1);
        let (browser, done) = (&cleo.browser, &done);
        scope.spawn(move || {
            let pages = [browser.get(world, done), browser.get(world, "/account/bulk")];
            let file = browser.get(world, &format!("{done}/output"));
            sender.send((pages.map(|page| page.status), file.status)).unwrap();
        });
        let seen = receiver.recv_timeout(Duration::from_secs(10));
        assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
        pipes.iter().for_each(let_go);
        assert_eq!(seen, Ok(([200, 200], 200)));
        for waited in waiting {
            assert_eq!(waited.join().unwrap().status, 200);
        }
    });
}
