-- The look-up data: what sources say of companies, people and domains.
--
-- `fact` and `domain_fact` are what is known; `subject.profile`, `identifier` and `employee` are
-- derived from the facts of one subject and can be made again from them. Ids and times are made by
-- the program; times are microseconds since 1970 (UTC); confidences are 1 to 100.
--
-- There are no foreign keys: the one writer keeps rows together that belong together, and checking
-- every row of an import would cost more than writing it.

-- Which secrets the hashes below were made with: a keyed hash of nothing for each, so that a wrong
-- secret.key is noticed. With it nothing that was forgotten would be recognised.
CREATE TABLE secret (
    id         INTEGER NOT NULL PRIMARY KEY,
    check_hash BLOB    NOT NULL
) STRICT;

-- The directory's state, one row.
CREATE TABLE state (
    id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    -- Grows with every committed change.
    generation   INTEGER NOT NULL,
    -- The id of the next subject. An id is never given twice, also when its subject is gone.
    next_subject INTEGER NOT NULL,
    -- The id of the next source.
    next_source  INTEGER NOT NULL
) STRICT;
INSERT INTO state (id, generation, next_subject, next_source) VALUES (1, 0, 1, 1);

-- The sources that records were taken from.
CREATE TABLE source (
    id       INTEGER NOT NULL PRIMARY KEY,
    name     TEXT    NOT NULL UNIQUE,
    -- How many different records were taken.
    records  INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL
) STRICT;

-- Companies and people, each laid out for one read.
CREATE TABLE subject (
    id      INTEGER NOT NULL PRIMARY KEY,
    -- 1 company, 2 person.
    kind    INTEGER NOT NULL,
    -- JSON, read and written by `directory/profile.rs`.
    profile TEXT    NOT NULL
) STRICT;

-- What a source says of a subject: one row an attribute, value and source, in first-seen order.
-- Clustered by subject, so that an import of new subjects appends.
CREATE TABLE fact (
    subject       INTEGER NOT NULL,
    ordinal       INTEGER NOT NULL,
    -- Which attribute: the numbers of `directory/codes.rs`.
    attribute     INTEGER NOT NULL,
    value         TEXT    NOT NULL,
    -- The country that a site is for, alpha-2.
    country       TEXT,
    source        INTEGER NOT NULL,
    -- The source's own id for the record that said so first.
    source_record TEXT,
    confidence    INTEGER NOT NULL,
    at            INTEGER NOT NULL,
    PRIMARY KEY (subject, ordinal)
) STRICT, WITHOUT ROWID;

-- What a source says of a domain, whoever owns it.
CREATE TABLE domain_fact (
    domain        TEXT    NOT NULL,
    ordinal       INTEGER NOT NULL,
    attribute     INTEGER NOT NULL,
    value         TEXT    NOT NULL,
    source        INTEGER NOT NULL,
    source_record TEXT,
    confidence    INTEGER NOT NULL,
    at            INTEGER NOT NULL,
    PRIMARY KEY (domain, ordinal)
) STRICT, WITHOUT ROWID;

-- From everything exact to the subjects that have it. The order of the key is the order in which
-- several holders count: those of tier 0 (a main domain, a current name) before those of tier 1.
CREATE TABLE identifier (
    -- Which kind of identifier: the numbers of `directory/codes.rs`.
    kind       INTEGER NOT NULL,
    key        TEXT    NOT NULL,
    tier       INTEGER NOT NULL,
    subject    INTEGER NOT NULL,
    confidence INTEGER NOT NULL,
    PRIMARY KEY (kind, key, tier, subject)
) STRICT, WITHOUT ROWID;

-- Who works where, in first-seen order: people's ids grow.
CREATE TABLE employee (
    company INTEGER NOT NULL,
    person  INTEGER NOT NULL,
    PRIMARY KEY (company, person)
) STRICT, WITHOUT ROWID;

-- Which subject a record became. The same record again changes nothing, whatever came between; a
-- subject that is no longer there was forgotten, and its records stay out.
CREATE TABLE record (
    source  INTEGER NOT NULL,
    -- A keyed hash of the record's content, or of the source's own id for it (`intake/origins.rs`).
    hash    BLOB    NOT NULL,
    subject INTEGER NOT NULL,
    PRIMARY KEY (source, hash)
) STRICT, WITHOUT ROWID;

-- Keyed hashes of what must be neither imported nor answered (`intake/suppression.rs`).
CREATE TABLE suppressed (
    hash BLOB    NOT NULL PRIMARY KEY,
    at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
