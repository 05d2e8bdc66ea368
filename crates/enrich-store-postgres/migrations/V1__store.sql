-- Accounts, keys, credits, idempotency records, sign-ins and what nodes share.
--
-- Portable SQL: no triggers, sequences, foreign keys, advisory locks or defaults that read the clock.
-- Ids are UUIDs v7 and are made by the program, as are times: microseconds since 1970 (UTC), unless
-- the type is timestamptz, which is the database's clock. `secret` is the number of the secret, in
-- secret.key, that a hash or a sealed value was made with.

-- What every node polls. One row.
CREATE TABLE state (
    id          int     PRIMARY KEY CHECK (id = 1),
    -- 'serving', 'read-only' or 'copying'.
    mode        text    NOT NULL,
    -- Grows with every change of a key or of an account's status.
    key_changes bigint  NOT NULL,
    -- The number of idempotency records, counted from time to time.
    kept        bigint  NOT NULL,
    -- The current directory snapshot; 0 for none.
    snapshot    bigint  NOT NULL,
    -- The newest suppression; 0 for none.
    forgotten   bigint  NOT NULL,
    -- Another one after data loss was accepted.
    lineage     uuid    NOT NULL
);

-- Which secrets the rest was made with: a keyed hash of nothing for each, so that a wrong secret.key
-- is noticed before anything is read or written with it.
CREATE TABLE secret (
    id          int     PRIMARY KEY,
    check_hash  bytea   NOT NULL
);

-- The owners of credits.
CREATE TABLE account (
    id              uuid    PRIMARY KEY,
    name            text    NOT NULL,
    created_at      bigint  NOT NULL,
    -- 'active', 'suspended' or 'closed'.
    status          text    NOT NULL,
    -- Why it is suspended, for its owner to read; empty otherwise.
    status_reason   text    NOT NULL,
    -- The alpha-2 code of the country that its national phone numbers are read with.
    country         text
);

-- For listing accounts, the oldest first.
CREATE INDEX account_by_age ON account (created_at, id);

-- One row an account, locked by the transaction that adds ledger rows, and never updated: so that
-- no long snapshot makes it slow.
CREATE TABLE purse (
    account     uuid    PRIMARY KEY
);

CREATE TABLE api_key (
    id              uuid    PRIMARY KEY,
    account         uuid    NOT NULL,
    label           text    NOT NULL,
    -- The beginning of the key, to recognise it by.
    hint            text    NOT NULL,
    -- A keyed hash of the key, to find it by.
    hash            bytea   NOT NULL UNIQUE,
    -- The key itself, encrypted; opens only together with the row's id.
    sealed          bytea   NOT NULL,
    secret          int     NOT NULL,
    -- A limit of its own; what is absent comes from the server's settings.
    requests        bigint,
    window_seconds  bigint,
    created_at      bigint  NOT NULL,
    expires_at      bigint,
    -- Whether the key's end is final.
    ended           boolean NOT NULL
);

CREATE INDEX api_key_of_account ON api_key (account, created_at, id);
CREATE INDEX api_key_end ON api_key (expires_at);

-- The last use of keys. A last use is no change of a key, so it has a table of its own.
CREATE TABLE key_used (
    api_key     uuid    PRIMARY KEY,
    at          bigint  NOT NULL
);

-- The ledger: grants and charges. Rows are added, never changed or removed.
CREATE TABLE entry (
    account     uuid    NOT NULL,
    -- The row's place in its account, from 1 without gaps.
    sequence    bigint  NOT NULL CHECK (sequence > 0),
    id          uuid    NOT NULL,
    -- 'grant', 'charge' or 'adjustment'.
    kind        text    NOT NULL,
    -- The row that an adjustment corrects.
    corrects    uuid,
    -- What it adds to the balance; negative for a charge.
    credits     bigint  NOT NULL,
    -- The balance after it. The last row's is the account's.
    balance     bigint  NOT NULL CHECK (balance >= 0),
    -- Of a charge: the endpoint, the number of items found, and the price rule.
    endpoint    text,
    items       bigint,
    price       text,
    api_key     uuid,
    request_id  text,
    generation  bigint,
    -- What the operator noted.
    note        text    NOT NULL,
    at          bigint  NOT NULL,
    secret      int     NOT NULL,
    -- A keyed hash of this row and of the hash in the account's row before it.
    chain       bytea   NOT NULL,
    PRIMARY KEY (account, sequence)
);

-- An id is never charged twice, also when a charge is submitted again after its reply was lost.
CREATE UNIQUE INDEX entry_id ON entry (id);

-- The answers kept for repeats (idempotency).
CREATE TABLE kept (
    account     uuid    NOT NULL,
    -- A keyed hash of the caller's key.
    key_hash    bytea   NOT NULL,
    -- A keyed hash of the question.
    asked_hash  bytea   NOT NULL,
    -- The answer, encrypted, and a keyed hash of balance and charge.
    sealed      bytea   NOT NULL,
    secret      int     NOT NULL,
    -- The balance that the answer named.
    balance     bigint  NOT NULL,
    -- The id of its charge; absent if nothing was found.
    charge      uuid,
    at          bigint  NOT NULL,
    PRIMARY KEY (account, key_hash)
);

-- For removing expired records, the oldest first.
CREATE INDEX kept_at ON kept (at);

-- The processes that use this database.
CREATE TABLE node (
    id          uuid        PRIMARY KEY,
    name        text        NOT NULL,
    build       text        NOT NULL,
    seen_at     timestamptz NOT NULL,
    -- The last flush of usage counters that is written, so that none is counted twice.
    flush       bigint      NOT NULL,
    -- The directory snapshot that it answers from; absent without one.
    snapshot    bigint
);

-- The seals of a node: the last rows of the accounts that it has charged, and the newest seals of the
-- other nodes. They show when rows or seals are removed.
CREATE TABLE seal (
    node        uuid    NOT NULL,
    -- From 1 without gaps.
    number      bigint  NOT NULL,
    -- The state's lineage when it was made.
    lineage     uuid    NOT NULL,
    -- Accounts, each with the sequence (little-endian) and the hash of its last row: 56 bytes each.
    places      bytea   NOT NULL,
    -- Other nodes, each with the number (little-endian) and the hash of its newest seal: 56 bytes each.
    seen        bytea   NOT NULL,
    at          bigint  NOT NULL,
    secret      int     NOT NULL,
    -- A keyed hash of this row and of the hash in the node's row before it in the same lineage.
    hash        bytea   NOT NULL,
    PRIMARY KEY (node, number)
);

-- Usage: the number of calls by day (since 1970-01-01, UTC), key, endpoint and outcome.
CREATE TABLE used (
    account     uuid    NOT NULL,
    day         bigint  NOT NULL,
    api_key     uuid    NOT NULL,
    endpoint    text    NOT NULL,
    -- 'found', 'not_found', 'replayed' or 'refused'.
    outcome     text    NOT NULL,
    calls       bigint  NOT NULL,
    credits     bigint  NOT NULL,
    PRIMARY KEY (account, day, api_key, endpoint, outcome)
);

-- Requests in rate-limit windows. `scope` is a key or an account; `number` counts windows of that
-- many seconds since 1970, by the database's clock.
CREATE TABLE rate_count (
    scope       uuid    NOT NULL,
    seconds     bigint  NOT NULL,
    number      bigint  NOT NULL,
    taken       bigint  NOT NULL,
    PRIMARY KEY (scope, seconds, number)
);

-- Work that one node at a time does for all, such as removing expired rows. `turn` grows with every
-- new holder.
CREATE TABLE lease (
    name        text        PRIMARY KEY,
    node        uuid        NOT NULL,
    turn        bigint      NOT NULL,
    until       timestamptz NOT NULL
);

-- Lists of the account page whose files all nodes see, and that any node runs.
CREATE TABLE job (
    id              uuid        PRIMARY KEY,
    account         uuid        NOT NULL,
    -- 'idle', 'waiting', 'running', 'stopping' or 'removing'.
    phase           text        NOT NULL,
    -- What the list is and what was ordered, and how far it is; both JSON.
    record          text        NOT NULL,
    progress        text        NOT NULL,
    -- Grows with every change and every holder, so that an earlier holder changes nothing.
    turn            bigint      NOT NULL,
    -- The end of the holder's lease; absent when the last holder has ended it.
    until           timestamptz,
    -- When it began to wait, and when it was last taken to run.
    waiting_since   timestamptz,
    taken_at        timestamptz
);

CREATE INDEX job_of_account ON job (account);
CREATE INDEX job_by_phase ON job (phase);

-- Lists whose files only one node sees, so that other nodes can say where they are.
CREATE TABLE local_job (
    -- The id of the folder with the files.
    folder      uuid        NOT NULL,
    id          uuid        NOT NULL,
    account     uuid        NOT NULL,
    -- What other nodes show; JSON.
    summary     text        NOT NULL,
    -- The name of the node.
    node        text        NOT NULL,
    seen_at     timestamptz NOT NULL,
    PRIMARY KEY (folder, id)
);

CREATE INDEX local_job_of_account ON local_job (account);

-- Published directory snapshots.
CREATE TABLE snapshot (
    number      bigint  PRIMARY KEY,
    generation  bigint  NOT NULL,
    bytes       bigint  NOT NULL,
    blake3      bytea   NOT NULL,
    location    text    NOT NULL,
    schema      int     NOT NULL,
    derived_by  int     NOT NULL,
    at          bigint  NOT NULL
);

-- Suppressed values, as keyed hashes, for nodes whose snapshot is older.
CREATE TABLE forgotten (
    number      bigint  PRIMARY KEY,
    hash        bytea   NOT NULL UNIQUE,
    at          bigint  NOT NULL
);

-- Owners' sign-ins to the account page: at most one address an account, and one account an address.
CREATE TABLE sign_in (
    account         uuid    PRIMARY KEY,
    -- A keyed hash of the address, to find it by.
    email_hash      bytea   NOT NULL UNIQUE,
    -- The address itself, encrypted; opens only together with the account.
    email           bytea   NOT NULL,
    secret          int     NOT NULL,
    -- The password's Argon2id hash, encrypted. Absent until an invitation was used to set it.
    password        bytea,
    password_secret int,
    created_at      bigint  NOT NULL
);

-- The invitations to set a password: at most one an account. The end of a used one is long past; it
-- is deleted with the expired ones, so that a repeated use is recognised until then.
CREATE TABLE invitation (
    account     uuid    PRIMARY KEY,
    token_hash  bytea   NOT NULL UNIQUE,
    secret      int     NOT NULL,
    until       bigint  NOT NULL
);

CREATE TABLE session (
    -- A keyed hash of the token in the cookie.
    token_hash  bytea   PRIMARY KEY,
    secret      int     NOT NULL,
    account     uuid    NOT NULL,
    started_at  bigint  NOT NULL,
    seen_at     bigint  NOT NULL,
    ends_at     bigint  NOT NULL
);

CREATE INDEX session_of_account ON session (account);
CREATE INDEX session_end ON session (ends_at);

-- Company names that were not found, if the operator counts them.
CREATE TABLE missed_name (
    day     bigint  NOT NULL,
    hash    bytea   NOT NULL,
    name    text,
    calls   bigint  NOT NULL,
    PRIMARY KEY (day, hash)
);
