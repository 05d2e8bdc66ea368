-- What has ended stays ended, wherever the clock is set.

-- Whether the key's end is final: it was revoked, or its end was seen to have come.
ALTER TABLE api_key ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;

UPDATE api_key SET ended = 1 WHERE expires_at <= unixepoch() * 1000000;

-- The keys whose end is still to be seen.
CREATE INDEX api_key_end ON api_key (expires_at) WHERE ended = 0;

DROP TRIGGER api_key_changed;

CREATE TRIGGER api_key_changed
AFTER UPDATE OF id, account, label, hint, hash, requests, window_seconds, created_at, expires_at,
    ended
ON api_key
BEGIN
    UPDATE key_changes SET number = number + 1;
END;

-- The earliest and the latest time among the 256 rows that end with the marked one. Rows are in the
-- order of their arrival, which is not that of their times where the clock was set back: so a time
-- is looked for in these, and then in the rows of one mark.
ALTER TABLE mark ADD COLUMN earliest INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mark ADD COLUMN latest INTEGER NOT NULL DEFAULT 0;

UPDATE mark SET earliest = block.earliest, latest = block.latest
FROM (SELECT account, (sequence + 255) / 256 * 256 AS sequence, min(at) AS earliest,
          max(at) AS latest
      FROM entry GROUP BY 1, 2) AS block
WHERE mark.account = block.account AND mark.sequence = block.sequence;
