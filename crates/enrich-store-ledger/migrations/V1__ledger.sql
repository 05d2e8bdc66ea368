-- Accounts, keys, credits and idempotency records.
--
-- Ids are UUIDs v7 in 16 bytes and are made by the program, as are times: microseconds since 1970
-- (UTC). Every key of the ledger begins with the account. `secret` is the number of the secret, in
-- secret.key, that a hash or a sealed value was made with.

-- Which secrets the rest was made with: a keyed hash of nothing for each, so that a wrong
-- secret.key is noticed before anything is read or written with it.
CREATE TABLE secret (
    id          INTEGER NOT NULL PRIMARY KEY,
    check_hash  BLOB    NOT NULL
) STRICT;

-- The owners of credits.
CREATE TABLE account (
    id          BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The keys that speak for them.
CREATE TABLE api_key (
    id              BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    account         BLOB    NOT NULL REFERENCES account (id),
    label           TEXT    NOT NULL,
    -- The beginning of the key, to recognise it by.
    hint            TEXT    NOT NULL,
    -- A keyed hash of the key, to find it by.
    hash            BLOB    NOT NULL UNIQUE,
    -- The key itself, encrypted; opens only together with the row's id.
    sealed          BLOB    NOT NULL,
    secret          INTEGER NOT NULL REFERENCES secret (id),
    -- A limit of its own; what is absent comes from the server's settings.
    requests        INTEGER,
    window_seconds  INTEGER,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER,
    last_used_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_of_account ON api_key (account, created_at, id);

-- The ledger: a log of what was granted and charged. Rows are added at its end, never changed or
-- removed, so that charges of a thousand accounts fill a few pages and not a thousand. There are no
-- foreign keys: every row is checked by `ledger verify`, and looking each parent up would cost more
-- than writing the row.
CREATE TABLE entry (
    -- The row's place in the log, from 1 without gaps.
    position    INTEGER NOT NULL PRIMARY KEY,
    account     BLOB    NOT NULL,
    -- The row's place in its account, from 1 without gaps.
    sequence    INTEGER NOT NULL CHECK (sequence > 0),
    -- The position of the account's row before it; 0 for the first.
    previous    INTEGER NOT NULL CHECK (previous < position),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    -- 'grant', 'charge' or 'adjustment'.
    kind        TEXT    NOT NULL,
    -- The row that an adjustment corrects.
    corrects    BLOB,
    -- What it adds to the balance; negative for a charge.
    credits     INTEGER NOT NULL,
    -- The balance after it. The last row's is the account's.
    balance     INTEGER NOT NULL CHECK (balance >= 0),
    -- Of a charge: what was asked where, how many items were found, and the rule of the price.
    endpoint    TEXT,
    items       INTEGER,
    price       TEXT,
    api_key     BLOB,
    request_id  TEXT,
    generation  INTEGER,
    -- What the operator noted.
    note        TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    secret      INTEGER NOT NULL,
    -- A keyed hash of this row and of the hash in the account's row before it.
    chain       BLOB    NOT NULL
) STRICT;

-- An id is never charged twice, and a correction finds what it corrects. Ids begin with their time,
-- so that new ones come to stand side by side.
CREATE UNIQUE INDEX entry_id ON entry (id);

-- Where each account stood at the last checkpoint: a balance is read from here and from the few
-- rows behind the checkpoint, however long the log is.
CREATE TABLE head (
    account     BLOB    NOT NULL PRIMARY KEY CHECK (length(account) = 16),
    -- Of its last row.
    sequence    INTEGER NOT NULL,
    balance     INTEGER NOT NULL CHECK (balance >= 0),
    position    INTEGER NOT NULL,
    chain       BLOB    NOT NULL,
    secret      INTEGER NOT NULL,
    -- A keyed hash of the columns before it.
    hash        BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

-- The position of every 256th row of an account: where reading its rows begins.
CREATE TABLE mark (
    account     BLOB    NOT NULL,
    sequence    INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    PRIMARY KEY (account, sequence)
) STRICT, WITHOUT ROWID;

-- The end of the log, one row, written with every group of rows: without it nobody could tell that
-- the newest rows were cut off.
CREATE TABLE seal (
    id              INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    -- The last row's.
    position        INTEGER NOT NULL,
    -- A keyed hash of the last row's `chain` and of this hash at the row before it, and so of the
    -- whole log in its order.
    digest          BLOB    NOT NULL,
    -- Every account's row at or before this position is in `head`, or an older one of its.
    checkpoint      INTEGER NOT NULL,
    checkpoint_digest BLOB  NOT NULL,
    secret          INTEGER NOT NULL,
    -- A keyed hash of the columns before it.
    hash            BLOB    NOT NULL
) STRICT;

-- The answers kept for repeats (idempotency). Answers may be long and their hashes are scattered:
-- only a slim index is in their order, the answers themselves are written one behind the other.
CREATE TABLE kept (
    account     BLOB    NOT NULL REFERENCES account (id),
    -- A keyed hash of the caller's key.
    key_hash    BLOB    NOT NULL,
    -- A keyed hash of what was asked.
    asked_hash  BLOB    NOT NULL,
    -- The answer, encrypted; opens only together with the account and the key's hash.
    sealed      BLOB    NOT NULL,
    secret      INTEGER NOT NULL REFERENCES secret (id),
    -- The balance that the answer named.
    balance     INTEGER NOT NULL,
    -- The id of its charge; absent where nothing was found.
    charge      BLOB,
    at          INTEGER NOT NULL,
    PRIMARY KEY (account, key_hash)
) STRICT;

-- What is to be pruned, oldest first.
CREATE INDEX kept_at ON kept (at);

-- How often what was asked and what came of it, also what cost nothing.
CREATE TABLE used (
    account     BLOB    NOT NULL,
    -- Days since 1970-01-01 (UTC).
    day         INTEGER NOT NULL,
    api_key     BLOB    NOT NULL,
    endpoint    TEXT    NOT NULL,
    -- 'found', 'not_found', 'replayed' or 'refused'.
    outcome     TEXT    NOT NULL,
    calls       INTEGER NOT NULL,
    credits     INTEGER NOT NULL,
    PRIMARY KEY (account, day, api_key, endpoint, outcome)
) STRICT, WITHOUT ROWID;
