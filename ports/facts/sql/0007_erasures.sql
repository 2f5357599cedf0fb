-- What was erased, as a digest of website and ID: no row names it, and every writer leaves out what does. Kept for ever, so
-- that nothing that is replayed or restored brings it back.

CREATE TABLE IF NOT EXISTS erasures {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    digest String COMMENT 'SHA-256 of website, line feed and ID, in hex',
    reference UInt64 COMMENT 'What lines of Logs that name it are found by (domain/logs/references.ts)',
    erased_at DateTime64(3, 'UTC'),
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, website, digest)
SETTINGS {{durable}};
