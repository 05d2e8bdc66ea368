-- Signing in to the accounts' pages.

-- Who signs in: at most one address an account, and one account an address.
CREATE TABLE sign_in (
    account         BLOB    NOT NULL PRIMARY KEY REFERENCES account (id),
    -- A keyed hash of the address, to find it by.
    email_hash      BLOB    NOT NULL UNIQUE,
    -- The address itself, encrypted; opens only together with the account.
    email           BLOB    NOT NULL,
    -- What these two were made with.
    secret          INTEGER NOT NULL REFERENCES secret (id),
    -- The password's Argon2id hash, encrypted; opens only together with the account. So who has a
    -- copy of this file and not secret.key cannot try passwords against it, and a hash put into
    -- another account's row opens nothing. Absent until an invitation was used to set it.
    password        BLOB,
    password_secret INTEGER REFERENCES secret (id),
    -- When the address was given to the account.
    created_at      INTEGER NOT NULL,
    CHECK ((password IS NULL) = (password_secret IS NULL))
) STRICT, WITHOUT ROWID;

-- The invitations to set a password: one an account, gone when it is used.
CREATE TABLE invitation (
    account     BLOB    NOT NULL PRIMARY KEY REFERENCES sign_in (account),
    -- A keyed hash of the token in the link.
    token_hash  BLOB    NOT NULL UNIQUE,
    secret      INTEGER NOT NULL REFERENCES secret (id),
    -- It is good before then.
    until       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who is signed in.
CREATE TABLE session (
    -- A keyed hash of the token in the cookie.
    token_hash  BLOB    NOT NULL PRIMARY KEY,
    secret      INTEGER NOT NULL REFERENCES secret (id),
    account     BLOB    NOT NULL REFERENCES sign_in (account),
    started_at  INTEGER NOT NULL,
    -- When it was last used, to within a minute.
    seen_at     INTEGER NOT NULL,
    ends_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What ends with its account's password, and what has ended by itself.
CREATE INDEX session_of_account ON session (account);
CREATE INDEX session_end ON session (ends_at);
