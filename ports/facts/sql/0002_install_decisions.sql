-- What became of installs that were pending when they were reported, one row for each event. The row of the install stays
-- as it was; ports/facts/queries.ts joins the two. Of several decisions about one event the earliest wins.

CREATE TABLE IF NOT EXISTS install_decisions {{onCluster}}
(
    website LowCardinality(String),
    event_id String,
    organization LowCardinality(String),
    installation_id String,
    received_at DateTime64(3, 'UTC') COMMENT 'When the event was received' CODEC(Delta, LZ4),
    decided_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    resolution LowCardinality(String),
    selection_policy LowCardinality(String),
    candidate_count UInt16,
    visit_id String COMMENT 'Empty where no visit was matched',
    visit_issued_at Nullable(DateTime64(3, 'UTC')),
    gpc Bool,
    verdicts String COMMENT 'JSON: every examined receipt with its verdict',
    deliveries String COMMENT 'JSON: the plan of deliveries',
    answer String COMMENT 'JSON: the whole answer, for repeats',
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, website, event_id)
TTL toDateTime(received_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

-- Which record of an event a delivery comes from: an earlier one takes its place. 1970 in rows of the first release.
ALTER TABLE deliveries {{onCluster}}
    ADD COLUMN IF NOT EXISTS install_received_at DateTime64(3, 'UTC') DEFAULT 0 AFTER deadline_at;
