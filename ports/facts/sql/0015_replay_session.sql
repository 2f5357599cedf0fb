-- Whoever looks after a replay asks whether the session from which it was requested may still have it. Empty in rows of earlier releases.

ALTER TABLE decision_replays {{onCluster}}
    ADD COLUMN IF NOT EXISTS session String COMMENT 'Digest of the cookie of the session from which it was requested' AFTER until;
