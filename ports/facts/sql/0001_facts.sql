-- What happened, one table per kind of fact.
--
-- Every table is a ReplacingMergeTree on the natural key: a repeated insert replaces its own row. `row_version` decides
-- between rows of one key (the greater wins); delivery/facts-writer/fact-rows.ts says how it is made. A partition key is only ever a
-- function of the natural key, so two rows of one key can never lie in two partitions, where they would not meet.
-- Parts are synced to disk before an insert is acknowledged, and merged parts before the old ones are removed.
-- {{replacing}}, {{onCluster}}, {{durable}} and {{granules}} are filled in by ports/facts/migrate.ts.

CREATE TABLE IF NOT EXISTS visits {{onCluster}}
(
    website LowCardinality(String),
    visit_id String,
    organization LowCardinality(String),
    issued_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    url_id LowCardinality(String),
    origin LowCardinality(String),
    page_url String,
    referrer String,
    source_referrer String,
    landed_at Nullable(DateTime64(3, 'UTC')),
    utm_source String,
    utm_medium String,
    utm_campaign String,
    utm_term String,
    utm_content String,
    utm_id String,
    identities String COMMENT 'JSON: what the providers know the visitor by',
    client String COMMENT 'JSON: coarse hints of the browser',
    gpc Bool,
    is_handoff_only Bool,
    previous_visit_id String COMMENT 'Empty where the page held no receipt',
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(issued_at)
ORDER BY (organization, website, visit_id)
TTL toDateTime(issued_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

-- Two rows for an activation that revoked: one for each receipt whose state it moved, so that the state of a receipt is
-- read in one place, by its own visit ID.
CREATE TABLE IF NOT EXISTS activations {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    visit_id String,
    effect Enum8('activated' = 1, 'revoked' = 2),
    issued_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    effective_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    caused_by_visit_id String COMMENT 'The receipt whose activation revoked this one; itself where it was activated',
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(issued_at)
ORDER BY (organization, website, visit_id, effect)
TTL toDateTime(issued_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

CREATE TABLE IF NOT EXISTS handoffs {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    visit_id String,
    issued_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    asked_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    gpc Bool,
    is_handoff_only Bool,
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(issued_at)
ORDER BY (organization, website, visit_id)
TTL toDateTime(issued_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

-- Not partitioned: a crash can append one event twice with two times of receipt.
CREATE TABLE IF NOT EXISTS installs {{onCluster}}
(
    website LowCardinality(String),
    event_id String,
    organization LowCardinality(String),
    installation_id String,
    event_type LowCardinality(String),
    received_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    install_path LowCardinality(String) COMMENT 'Empty where the organisation has none',
    platform LowCardinality(String),
    arch LowCardinality(String),
    browsers Array(String),
    default_browser LowCardinality(String),
    timezone LowCardinality(String),
    language LowCardinality(String),
    resolution LowCardinality(String),
    selection_policy LowCardinality(String),
    candidate_count UInt16,
    visit_id String COMMENT 'Empty where no visit was matched',
    visit_issued_at Nullable(DateTime64(3, 'UTC')),
    gpc Bool,
    verdicts String COMMENT 'JSON: every examined receipt with its verdict',
    deliveries String COMMENT 'JSON: the plan of deliveries as it was answered',
    answer String COMMENT 'JSON: the whole answer, for repeats',
    request_id String,
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64,
    INDEX installation installation_id TYPE bloom_filter(0.001) GRANULARITY 1,
    PROJECTION by_time
    (
        SELECT organization, website, received_at, event_id, installation_id, resolution
        ORDER BY organization, website, received_at
    )
)
ENGINE = {{replacing}}
ORDER BY (organization, website, event_id)
TTL toDateTime(received_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}}, deduplicate_merge_projection_mode = 'rebuild';

CREATE TABLE IF NOT EXISTS deliveries {{onCluster}}
(
    website LowCardinality(String),
    event_id String,
    destination LowCardinality(String),
    job_id String,
    organization LowCardinality(String),
    provider LowCardinality(String),
    status LowCardinality(String),
    reason LowCardinality(String),
    session_mode LowCardinality(String),
    detail String,
    attempts UInt32,
    changed_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    next_attempt_at Nullable(DateTime64(3, 'UTC')),
    deadline_at Nullable(DateTime64(3, 'UTC')),
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, website, event_id, destination)
TTL toDateTime(changed_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

CREATE TABLE IF NOT EXISTS attempts {{onCluster}}
(
    website LowCardinality(String),
    event_id String,
    destination LowCardinality(String),
    attempt_id String,
    job_id String,
    organization LowCardinality(String),
    provider LowCardinality(String),
    number UInt32,
    started_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    duration_ms Float64,
    request_url String,
    request_body String,
    response_status UInt16,
    response_body String,
    outcome LowCardinality(String),
    code LowCardinality(String),
    next_step String,
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(started_at)
ORDER BY (organization, website, event_id, destination, attempt_id)
TTL toDateTime(started_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

CREATE TABLE IF NOT EXISTS request_logs {{onCluster}}
(
    website LowCardinality(String) COMMENT 'Empty where the request named no website that exists',
    received_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    id String,
    organization LowCardinality(String),
    kind LowCardinality(String) COMMENT 'The fact it left: visit, activation, handoff, install, or request for none',
    duration_ms Float64,
    method LowCardinality(String),
    path LowCardinality(String),
    status UInt16,
    code LowCardinality(String),
    origin String,
    user_agent String,
    address_hash String,
    body String,
    body_form LowCardinality(String),
    body_bytes UInt32,
    is_redacted Bool,
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (organization, website, received_at, id)
TTL toDateTime(received_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

CREATE TABLE IF NOT EXISTS activity {{onCluster}}
(
    organization LowCardinality(String),
    noticed_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    id String,
    website LowCardinality(String),
    type LowCardinality(String),
    subject String,
    message String,
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, noticed_at, id)
TTL toDateTime(noticed_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

-- Entries that could not become facts. `fact_table` is empty where the entry could not even be read.
CREATE TABLE IF NOT EXISTS poison_records {{onCluster}}
(
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    fact_table LowCardinality(String),
    reason String,
    value String,
    found_at DateTime64(3, 'UTC'),
    retention_days UInt16,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (log_topic, log_partition, log_offset, fact_table)
TTL toDateTime(found_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};
