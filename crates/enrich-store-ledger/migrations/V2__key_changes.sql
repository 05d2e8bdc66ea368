-- A number that grows with every change of a key, whichever process makes it. What a server
-- remembers of keys counts for as long as the number is the same.
CREATE TABLE key_changes (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    number  INTEGER NOT NULL
) STRICT;

INSERT INTO key_changes (id, number) VALUES (1, 0);

-- Its last use is no change of a key. A new key needs none either: that a key is not there is never
-- remembered.
CREATE TRIGGER api_key_changed
AFTER UPDATE OF id, account, label, hint, hash, requests, window_seconds, created_at, expires_at
ON api_key
BEGIN
    UPDATE key_changes SET number = number + 1;
END;

CREATE TRIGGER api_key_removed AFTER DELETE ON api_key
BEGIN
    UPDATE key_changes SET number = number + 1;
END;
