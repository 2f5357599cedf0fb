-- What log streams have still to send: one row for each record of Logs of an organisation that has a stream. Readers go by
-- the offset on the log, never by time: what arrives late must not be passed over. A stream may be seven days behind; the
-- eighth day is there so that what is dropped can be counted first.
CREATE TABLE IF NOT EXISTS stream_backlog {{onCluster}}
(
    organization LowCardinality(String),
    lane LowCardinality(String) COMMENT 'Topic, partition and life of the topic (domain/streams/lane.ts): order holds within it',
    log_offset UInt64,
    id String,
    at DateTime64(3, 'UTC') COMMENT 'When the request came or the attempt began, so that repeats meet in one partition' CODEC(Delta, LZ4),
    appended_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    website LowCardinality(String),
    kind LowCardinality(String),
    status UInt16,
    record String COMMENT 'JSON, as it is sent' CODEC(ZSTD(1)),
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMMDD(at)
ORDER BY (organization, lane, log_offset)
TTL toDateTime(at) + toIntervalDay(8)
SETTINGS index_granularity = 256, ttl_only_drop_parts = 1, {{durable}};

-- How far each stream is. Only the role `streams` writes it; the row version is the time of the lease and a counter.
CREATE TABLE IF NOT EXISTS stream_progress {{onCluster}}
(
    organization LowCardinality(String),
    stream String COMMENT 'Namespace and name of the LogStream',
    seen_at DateTime64(3, 'UTC') COMMENT 'When the role last looked after it; the facts-writer writes its backlog for seven days more',
    state LowCardinality(String),
    behind UInt64,
    oldest_at Nullable(DateTime64(3, 'UTC')),
    delivered_at Nullable(DateTime64(3, 'UTC')),
    failing_since Nullable(DateTime64(3, 'UTC')),
    last_error String,
    delivered UInt64,
    dropped UInt64,
    progress String COMMENT 'JSON (domain/streams/progress.ts): what is done, and the plan of the batch that is being sent',
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, stream)
TTL toDateTime(seen_at) + toIntervalDay(30)
SETTINGS {{durable}}, {{granules}};
