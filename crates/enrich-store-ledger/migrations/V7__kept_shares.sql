-- How many answers are kept for each account, so that none takes the room of all others. It is counted
-- with the answers, whoever writes them.
CREATE TABLE kept_count (
    account     BLOB    NOT NULL PRIMARY KEY,
    answers     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO kept_count (account, answers) SELECT account, count(*) FROM kept GROUP BY account;

CREATE TRIGGER kept_added AFTER INSERT ON kept
BEGIN
    INSERT INTO kept_count (account, answers) VALUES (NEW.account, 1)
    ON CONFLICT (account) DO UPDATE SET answers = answers + 1;
END;

CREATE TRIGGER kept_removed AFTER DELETE ON kept
BEGIN
    UPDATE kept_count SET answers = answers - 1 WHERE account = OLD.account;
END;
