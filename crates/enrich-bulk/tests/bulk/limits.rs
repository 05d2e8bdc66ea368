//! Tests of the limits of an account. A list that becomes huge after decompression, or that arrives
//! slowly, must not affect other lists.

use std::io::{self, Read, Write};
use std::time::Duration;

use enrich_bulk::jobs::{JobError, Refusal, Settings, State};
use enrich_bulk::{End, Input, Mapping, Source};

use crate::fixture::numbered;
use crate::office::{Office, has_ended, one_at_a_time, order, text};

const MEBIBYTE: u64 = 1024 * 1024;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Returns the peak memory of this process, in bytes.
#[cfg(target_os = "linux")]
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kibibytes * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_list_of_rows_that_take_much_memory_is_looked_at_in_little() {
    let row = format!("{{\"a\":[{}[]]}}\n", "[],".repeat(340_000));
    // Each row is compressed separately, as one gzip member. So the test never has the text of the
    // whole list in memory.
    let packed = gzip(row.as_bytes()).repeat(150);
    let before = peak_bytes();
    let mut input = Input::open(Source::reader("mem.jsonl.gz", io::Cursor::new(packed))).unwrap();
    assert_eq!(input.columns(), ["a"]);
    let mut rows = 0;
    while input.next_row().unwrap().is_some() {
        rows += 1;
    }
    assert_eq!(rows, 150);
    let grown = peak_bytes() - before;
    assert!(grown < 100 * MEBIBYTE, "{grown}");
}

#[test]
fn what_unpacks_to_too_much_or_has_too_many_lines_is_refused_and_leaves_nothing() {
    let office = Office::new();
    let settings = Settings { max_unpacked_bytes: MEBIBYTE, max_rows: 1_000, ..one_at_a_time() };
    let jobs = office.open_with(settings);
    let refused = |list: &[u8]| {
        let created = jobs.create(office.account, "l.csv.gz", &mut &gzip(list)[..]);
        created.unwrap_err().to_string()
    };
    assert_eq!(
        refused(&[b"a,b\n".to_vec(), vec![b'x'; 2 * MEBIBYTE as usize]].concat()),
        "the list cannot be read: it holds more than 1048576 bytes when uncompressed; split it"
    );
    // Blank lines count towards the limit of 1000 lines too.
    assert_eq!(
        refused(&[b"a,b\n".to_vec(), vec![b'\n'; 1_000]].concat()),
        "the list cannot be read: it has more than 1000 lines; split it"
    );
    assert_eq!(office.names(), [""; 0]);
    let taken = gzip(&[b"a,b\n".to_vec(), vec![b'\n'; 998], b"1,2\n".to_vec()].concat());
    let job = jobs.create(office.account, "l.csv.gz", &mut &taken[..]).unwrap();
    assert_eq!(job.rows, Some(1));
}

#[test]
fn an_account_holds_only_so_much_and_others_hold_theirs() {
    let office = Office::new();
    let list = numbered(2_000);
    let settings = Settings { max_account_bytes: 3 * list.len() as u64, ..one_at_a_time() };
    let jobs = office.open_with(settings);
    let first = office.create(&jobs, &list);
    office.create(&jobs, &list);
    let create = |account| jobs.create(account, "l.csv", &mut list.as_bytes()).map(drop);
    let refused = create(office.account).unwrap_err();
    assert!(matches!(refused, JobError::Refused(Refusal::Full(_))), "{refused}");
    create(office.other).unwrap();
    assert_eq!(office.names().len(), 3);
    // The bytes of the output count towards the limit of the account too. When the limit is
    // reached, the job ends, but the written rows are kept.
    jobs.start(office.account, first, order(None)).unwrap();
    let job = office.wait(&jobs, first, has_ended);
    let State::Broken(why) = &job.state else { panic!("{job:?}") };
    assert!(why.starts_with("your lists and their results use"), "{why}");
    assert!(job.counts.rows > 0 && job.counts.rows < 2_000, "{job:?}");
    let written = text(&jobs, office.account, first).0;
    assert_eq!(written.lines().count() as u64, job.counts.rows + 1);
}

#[test]
fn below_the_floor_no_list_is_taken_and_none_goes_on() {
    let office = Office::new();
    let jobs = office.open();
    let id = office.create(&jobs, &numbered(2_000));
    jobs.close();
    let full = office.open_with(Settings { min_free_bytes: u64::MAX, ..one_at_a_time() });
    let refused = full.create(office.account, "l.csv", &mut &b"a,b\n"[..]).unwrap_err();
    assert!(matches!(refused, JobError::Refused(Refusal::NoSpace)), "{refused}");
    full.start(office.account, id, order(None)).unwrap();
    let job = office.wait(&full, id, has_ended);
    let State::Broken(why) = job.state else { panic!("{job:?}") };
    assert!(why.starts_with("the server has too little disk space for lists"), "{why}");
    assert_eq!(office.books.total(), 0);
    full.close();
    let jobs = office.open();
    jobs.go_on(office.account, id, order(None).key, None).unwrap();
    assert_eq!(office.wait(&jobs, id, has_ended).state, State::Ended(End::Whole));
}

/// A reader that waits before each byte.
struct Slow(u32);

impl Read for Slow {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(Duration::from_millis(20));
        self.0 -= 1;
        into[0] = b'x';
        Ok(usize::from(self.0 > 0))
    }
}

#[test]
fn a_list_that_hardly_arrives_is_given_up_and_two_are_on_their_way_at_most() {
    let office = Office::new();
    let patience = Duration::from_millis(200);
    let jobs = office.open_with(Settings { upload_patience: patience, ..one_at_a_time() });
    std::thread::scope(|scope| {
        let upload = || jobs.create(office.account, "l.csv", &mut Slow(100)).map(drop);
        let two = [scope.spawn(upload), scope.spawn(upload)];
        std::thread::sleep(Duration::from_millis(100));
        let third = jobs.create(office.account, "l.csv", &mut &b"a\n1\n"[..]).unwrap_err();
        assert!(matches!(third, JobError::Refused(Refusal::Uploading(2))), "{third}");
        jobs.create(office.other, "l.csv", &mut &b"a\n1\n"[..]).unwrap();
        for slow in two {
            let refused = slow.join().unwrap().unwrap_err();
            assert!(matches!(refused, JobError::Refused(Refusal::TooSlow)), "{refused}");
        }
    });
    jobs.create(office.account, "l.csv", &mut &b"a\n1\n"[..]).unwrap();
}

#[test]
fn a_job_that_reads_blank_lines_stops_when_it_is_told() {
    let office = Office::new();
    let settings = Settings { max_rows: u64::MAX, ..one_at_a_time() };
    let jobs = office.open_with(settings);
    // The list has millions of blank lines before its only row.
    let list = [b"Company\n".to_vec(), vec![b'\n'; 8 * MEBIBYTE as usize], b"x\n".to_vec()];
    let packed = gzip(&list.concat());
    let id = jobs.create(office.account, "l.csv.gz", &mut &packed[..]).unwrap().id;
    jobs.start(office.account, id, order(None)).unwrap();
    office.wait(&jobs, id, |job| job.state == State::Running);
    jobs.stop(office.account, id).unwrap();
    let job = office.wait(&jobs, id, has_ended);
    // No row was written, because the job stopped while it still read the blank lines before the
    // only row.
    assert_eq!((job.state, job.counts.rows), (State::Ended(End::Stopped), 0));
}

#[test]
fn a_preview_is_made_once_and_a_sample_ends_with_the_rows() {
    let office = Office::new();
    let jobs = office.open();
    let long = "é".repeat(1_000);
    let id = office.create(&jobs, &format!("Company\nx\n{long}\n"));
    let sample = jobs.sample(office.account, id, 5).unwrap();
    assert_eq!(sample.rows, [["x".to_owned()], ["é".repeat(200)]]);
    let mapping = order(None).mapping;
    let preview = || jobs.preview(office.account, id, "/v1/cuf", &mapping, 0);
    let first = preview().unwrap();
    // The list file is removed, so this preview must come from the cache.
    std::fs::remove_file(office.jobs().join(id.to_string()).join("list.csv")).unwrap();
    assert_eq!(preview().unwrap(), first);
    let other = Mapping::parse(["companyName:=x"]).unwrap();
    assert!(jobs.preview(office.account, id, "/v1/cuf", &other, 0).is_err());
}

#[test]
fn a_header_that_cannot_be_used_is_told_with_its_reason() {
    let office = Office::new();
    let jobs = office.open();
    let refused = jobs.create(office.account, "l.csv", &mut &b"Stra\xdfe,\xc3\xa9\n1,2\n"[..]);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the list cannot be read: the CSV header can't be used: it is not UTF-8"
    );
}
