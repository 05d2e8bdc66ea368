//! Tests of jobs: they are stored in a folder, only their own account can see them, and no row is
//! paid twice.

use std::sync::atomic::Ordering;

use enrich_bulk::jobs::{Job, JobError, Settings, State};
use enrich_bulk::{End, Mapping};
use enrich_core::{Clock, KeyId, Timestamp};
use enrich_text::Country;

use crate::fixture::numbered;
use crate::office::{Noon, Office, has_ended, order, text};

#[test]
fn a_job_is_uploaded_looked_at_started_and_taken_away() {
    let (office, list) = (Office::new(), numbered(60));
    let jobs = office.open();
    let id = office.create(&jobs, &list);
    assert!(jobs.output(office.account, id).unwrap().is_none());
    let sample = jobs.sample(office.account, id, 2).unwrap();
    assert_eq!(sample.columns, ["id", "Company"]);
    assert_eq!(sample.rows, [["0", "Quill 0"], ["1", "nobody 1"]]);
    let mapping = order(None).mapping;
    let preview = jobs.preview(office.account, id, "/v1/cuf", &mapping, 0).unwrap();
    assert_eq!((preview.rows, preview.highest_credits), (60, Some(60)));
    jobs.start(office.account, id, order(None)).unwrap();
    let job = office.wait(&jobs, id, has_ended);
    assert_eq!(job.state, State::Ended(End::Whole));
    assert_eq!((job.rows, job.counts.rows), (Some(60), 60));
    assert_eq!((job.file_name.as_str(), job.counts.credits), ("leads.CSV", office.books.total()));
    let (text, is_whole) = text(&jobs, office.account, id);
    assert!(is_whole);
    assert_eq!(text.lines().count(), 61);
    let name = jobs.output(office.account, id).unwrap().unwrap().file_name;
    assert_eq!(name, "leads-enriched.csv");
    let again = jobs.start(office.account, id, order(None)).unwrap_err();
    assert_eq!(again.to_string(), "this cannot be done while the job is done");
}

#[test]
fn a_list_of_national_numbers_is_previewed_as_the_account_country_reads_it() {
    let office = Office::new();
    let jobs = office.open();
    let id = office.create(&jobs, "Phone\n020 7946 0123\n020 7946 0124\nno number\n");
    let mapping = Mapping::parse(["phoneNumber=Phone"]).unwrap();
    let invalid = || jobs.preview(office.account, id, "/v1/mti", &mapping, 0).unwrap().invalid;
    assert_eq!(invalid(), 3);
    *office.books.country.lock() = Country::from_code("GB").ok();
    assert_eq!(invalid(), 1);
}

#[test]
fn a_job_goes_on_after_a_restart_and_pays_no_row_twice() {
    let (office, list) = (Office::new(), numbered(3_000));
    let mut jobs = office.open();
    let id = office.create(&jobs, &list);
    jobs.start(office.account, id, order(None)).unwrap();
    let mut restarts = 0;
    loop {
        let seen = jobs.get(office.account, id).unwrap().counts.rows;
        let enough = |job: &Job| has_ended(job) || job.counts.rows > seen + 500;
        let job = office.wait(&jobs, id, enough);
        if has_ended(&job) {
            assert_eq!((job.state, job.counts.rows), (State::Ended(End::Whole), 3_000));
            assert_eq!(job.counts.credits, office.books.total());
            break;
        }
        jobs.close();
        jobs = office.open();
        let counts = jobs.get(office.account, id).unwrap().counts;
        assert!(counts.rows >= seen && counts.rows > 0, "{counts:?}");
        restarts += 1;
    }
    assert!(restarts > 2, "{restarts}");
    let (text, _) = text(&jobs, office.account, id);
    let ids = text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned());
    assert_eq!(ids.collect::<Vec<_>>(), (0..3_000).map(|id| id.to_string()).collect::<Vec<_>>());
    assert_eq!(office.books.calls.load(Ordering::SeqCst), 3_000);
}

#[test]
fn a_job_stops_goes_on_and_keeps_to_its_ceiling() {
    let (office, list) = (Office::new(), numbered(2_000));
    let jobs = office.open();
    let id = office.create(&jobs, &list);
    jobs.start(office.account, id, order(Some(150))).unwrap();
    let job = office.wait(&jobs, id, has_ended);
    assert_eq!((job.state, job.counts.credits), (State::Ended(End::Ceiling), 150));
    assert!(!text(&jobs, office.account, id).1);
    let key = KeyId::new(Noon.now());
    jobs.go_on(office.account, id, key, None).unwrap();
    office.wait(&jobs, id, |job| job.counts.credits > 200);
    jobs.stop(office.account, id).unwrap();
    let job = office.wait(&jobs, id, has_ended);
    assert_eq!(job.state, State::Ended(End::Stopped));
    let (written, is_whole) = text(&jobs, office.account, id);
    assert_eq!((written.lines().count() as u64, is_whole), (job.counts.rows + 1, false));
    jobs.go_on(office.account, id, key, None).unwrap();
    let job = office.wait(&jobs, id, has_ended);
    assert_eq!((job.state, job.counts.rows), (State::Ended(End::Whole), 2_000));
    assert_eq!(job.counts.credits, office.books.total());
    assert!(jobs.go_on(office.account, id, key, None).is_err());
}

#[test]
fn one_account_sees_and_does_nothing_of_another() {
    let office = Office::new();
    let jobs = office.open();
    let id = office.create(&jobs, &numbered(3));
    let (other, key) = (office.other, KeyId::new(Noon.now()));
    assert_eq!(jobs.get(other, id), None);
    assert_eq!(jobs.of_account(other), []);
    let refused: [Result<(), JobError>; 7] = [
        jobs.sample(other, id, 1).map(drop),
        jobs.preview(other, id, "/v1/cuf", &order(None).mapping, 0).map(drop),
        jobs.start(other, id, order(None)),
        jobs.go_on(other, id, key, None),
        jobs.stop(other, id),
        jobs.output(other, id).map(drop),
        jobs.delete(other, id),
    ];
    assert!(refused.iter().all(|refused| matches!(refused, Err(JobError::NotThere))));
    assert_eq!(jobs.of_account(office.account).len(), 1);
}

#[test]
fn jobs_are_deleted_when_they_were_kept_for_long_enough() {
    let office = Office::new();
    let jobs = office.open();
    let id = office.create(&jobs, &numbered(3));
    let later = |seconds| Timestamp::from_second(Noon.now().as_second() + seconds).unwrap();
    let week = Settings::default().keep_seconds;
    assert_eq!(jobs.sweep(later(week - 1)).unwrap(), 0);
    assert_eq!(jobs.sweep(later(week)).unwrap(), 1);
    assert_eq!(jobs.get(office.account, id), None);
    assert_eq!(office.names(), [""; 0]);
}

#[test]
fn a_list_that_cannot_be_taken_leaves_nothing() {
    let office = Office::new();
    let jobs = office.open();
    let create = |name: &str, bytes: &[u8]| jobs.create(office.account, name, &mut { bytes });
    assert!(matches!(create("l.csv", b"%PDF-1.7\n1,2\n"), Err(JobError::Input(_))));
    assert!(matches!(create("l.csv", b"a,b\n"), Err(JobError::Input(_))));
    assert!(matches!(create("l.csv.gz", b"plain"), Err(JobError::Input(_))));
    assert_eq!(office.names(), [""; 0]);
}

#[test]
fn an_order_that_cannot_be_carried_out_is_refused() {
    let office = Office::new();
    let jobs = office.open();
    let id = office.create(&jobs, &numbered(3));
    let mut wrong = order(None);
    wrong.endpoint = "/v1/nothing".to_owned();
    assert!(matches!(jobs.start(office.account, id, wrong), Err(JobError::NoEndpoint(_))));
    let mut wrong = order(None);
    wrong.mapping = Mapping::parse(["companyName=Firm"]).unwrap();
    assert!(matches!(jobs.start(office.account, id, wrong), Err(JobError::Mapping(_))));
    assert_eq!(jobs.get(office.account, id).unwrap().state, State::New);
}

#[cfg(unix)]
#[test]
fn its_owner_alone_may_look_into_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let office = Office::new();
    let jobs = office.open();
    let id = office.create(&jobs, &numbered(20));
    jobs.start(office.account, id, order(None)).unwrap();
    office.wait(&jobs, id, has_ended);
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = office.folder.path().join("jobs").join(id.to_string());
    assert_eq!(mode(&folder), 0o700);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn a_job_that_the_rate_limit_holds_up_says_until_when_and_not_after_that() {
    let (office, list) = (Office::new(), numbered(20));
    office.books.limited.store(8, Ordering::SeqCst);
    let jobs = office.open();
    let id = office.create(&jobs, &list);
    jobs.start(office.account, id, order(None)).unwrap();
    let held_up = office.wait(&jobs, id, |job| job.rate_limited_until.is_some());
    assert_eq!(held_up.state, State::Running);
    assert!(held_up.rate_limited_until.unwrap() > Noon.now());
    let job = office.wait(&jobs, id, has_ended);
    assert_eq!((job.state, job.rate_limited_until), (State::Ended(End::Whole), None));
}
