//! Tests of concurrent work: accounts take turns, processes wait for each other, and damaged jobs
//! do not delay other jobs.

use std::fs;
use std::time::{Duration, Instant};

use enrich_bulk::End;
use enrich_bulk::jobs::{JobError, Refusal, Settings, State};

use crate::fixture::numbered;
use crate::office::{Office, has_ended, one_at_a_time, order, text, wait};

#[test]
fn an_account_with_many_lists_makes_room_for_another() {
    let office = Office::new();
    let settings = Settings { running: 2, ..Settings::default() };
    let jobs = office.open_with(settings);
    let many: Vec<_> = (0..4).map(|_| office.create(&jobs, &numbered(4_000))).collect();
    for id in &many {
        jobs.start(office.account, *id, order(None)).unwrap();
    }
    let is_running = |id| jobs.get(office.account, id).unwrap().state == State::Running;
    office.wait(&jobs, many[1], |job| job.state == State::Running);
    assert!(is_running(many[0]));
    let created = jobs.create(office.other, "own.csv", &mut numbered(20).as_bytes());
    let own = created.unwrap().id;
    jobs.start(office.other, own, order(None)).unwrap();
    let job = wait(&jobs, office.other, own, has_ended);
    assert_eq!(job.state, State::Ended(End::Whole));
    let of_many = |id: &_| jobs.get(office.account, *id).unwrap();
    assert!(many.iter().any(|id| !has_ended(&of_many(id))), "it waited for all");
    for id in &many {
        let job = office.wait(&jobs, *id, has_ended);
        assert_eq!((job.state, job.counts.rows), (State::Ended(End::Whole), 4_000));
    }
}

#[test]
fn a_long_list_is_put_back_in_line_when_its_turn_is_over_and_pays_no_row_twice() {
    let office = Office::new();
    let settings = Settings { turn: Duration::from_millis(300), ..one_at_a_time() };
    let jobs = office.open_with(settings);
    let long = office.create(&jobs, &numbered(3_000));
    jobs.start(office.account, long, order(None)).unwrap();
    office.wait(&jobs, long, |job| job.counts.rows > 0);
    let created = jobs.create(office.other, "own.csv", &mut numbered(20).as_bytes());
    let own = created.unwrap().id;
    jobs.start(office.other, own, order(None)).unwrap();
    wait(&jobs, office.other, own, has_ended);
    let job = jobs.get(office.account, long).unwrap();
    assert!(!has_ended(&job), "{job:?}");
    let job = office.wait(&jobs, long, has_ended);
    assert_eq!((job.state, job.counts.rows), (State::Ended(End::Whole), 3_000));
    let paid = wait(&jobs, office.other, own, has_ended).counts.credits + job.counts.credits;
    assert_eq!(paid, office.books.total());
    assert_eq!(text(&jobs, office.account, long).0.lines().count(), 3_001);
}

#[test]
fn a_second_process_waits_for_the_folder_and_takes_over() {
    let office = Office::new();
    let first = office.open();
    let id = office.create(&first, &numbered(3_000));
    first.start(office.account, id, order(None)).unwrap();
    office.wait(&first, id, |job| job.counts.rows > 0);
    let arriving = office.jobs().join("arriving").join("0".repeat(32));
    fs::create_dir(&arriving).unwrap();
    let second = office.open();
    assert!(second.are_elsewhere() && !first.are_elsewhere());
    assert!(arriving.exists(), "an upload in progress of the first is gone");
    assert_eq!(second.get(office.account, id), None);
    let refused = second.create(office.account, "l.csv", &mut &b"a\n1\n"[..]).unwrap_err();
    assert!(matches!(refused, JobError::Refused(Refusal::Elsewhere)), "{refused}");
    let job = first.get(office.account, id).unwrap();
    assert!(matches!(job.state, State::Running), "{job:?}");
    first.close();
    let since = Instant::now();
    while second.are_elsewhere() {
        assert!(since.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(10));
    }
    let job = office.wait(&second, id, has_ended);
    assert_eq!((job.state, job.counts.rows), (State::Ended(End::Whole), 3_000));
    assert_eq!(job.counts.credits, office.books.total());
}

#[test]
fn damaged_files_keep_nobody_from_the_others_and_are_not_deleted() {
    let office = Office::new();
    let jobs = office.open();
    let [whole, begun, unread, without] = [(); 4].map(|()| {
        let id = office.create(&jobs, &numbered(400));
        jobs.start(office.account, id, order(None)).unwrap();
        id
    });
    office.wait(&jobs, whole, has_ended);
    office.wait(&jobs, begun, |job| job.counts.rows > 0);
    jobs.close();
    let file = |id: enrich_bulk::jobs::JobId, name| office.jobs().join(id.to_string()).join(name);
    fs::write(file(begun, "output.csv.job"), "").unwrap();
    fs::write(file(unread, "job.json"), "").unwrap();
    fs::remove_file(file(without, "job.json")).unwrap();
    fs::write(file(without, "output.csv.part"), "paid").unwrap();
    let jobs = office.open();
    assert_eq!(jobs.get(office.account, whole).unwrap().state, State::Ended(End::Whole));
    let job = jobs.get(office.account, begun).unwrap();
    let State::Broken(why) = job.state else { panic!("{job:?}") };
    assert_eq!(why, "the output of this list is damaged; upload the list again");
    assert_eq!(jobs.set_aside().len(), 2);
    let aside =
        |id: enrich_bulk::jobs::JobId| office.jobs().join("set-aside").join(format!("{id}-1"));
    assert_eq!(fs::read_to_string(aside(without).join("output.csv.part")).unwrap(), "paid");
    assert!(aside(unread).join("list.csv").exists());
    jobs.delete(office.account, begun).unwrap();
}

#[cfg(unix)]
#[test]
fn what_fails_on_the_server_is_told_without_its_paths() {
    let office = Office::new();
    let jobs = office.open();
    let id = office.create(&jobs, &numbered(20));
    // A folder with the file name of the output makes it impossible to write the output.
    fs::create_dir(office.jobs().join(id.to_string()).join("output.csv.part")).unwrap();
    jobs.start(office.account, id, order(None)).unwrap();
    let job = office.wait(&jobs, id, has_ended);
    let State::Broken(why) = job.state else { panic!("{job:?}") };
    assert!(!why.contains('/'), "{why}");
    let other = office.create(&jobs, &numbered(4_000));
    jobs.start(office.account, other, order(None)).unwrap();
    office.wait(&jobs, other, |job| job.counts.rows > 0);
    fs::create_dir(office.jobs().join(other.to_string()).join("output.csv.job.new")).unwrap();
    let job = office.wait(&jobs, other, has_ended);
    let State::Broken(why) = job.state else { panic!("{job:?}") };
    assert!(!why.contains('/'), "{why}");
}
