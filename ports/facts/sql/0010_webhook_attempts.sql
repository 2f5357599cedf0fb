-- What came of telling event webhooks. A message ID begins with the time of its event, so that the newest of a webhook are
-- found by the order of the table; the body is there so that what failed can be sent again.
CREATE TABLE IF NOT EXISTS webhook_attempts {{onCluster}}
(
    organization LowCardinality(String),
    webhook LowCardinality(String) COMMENT 'Namespace and name of the Webhook',
    message_id String COMMENT '12 hex digits of the time of the event, 16 of a digest: the header webhook-id',
    number UInt32 COMMENT 'Counts from 1',
    type LowCardinality(String),
    website LowCardinality(String) COMMENT 'Empty if the event concerns none',
    happened_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    started_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    duration_ms Float64,
    state LowCardinality(String) COMMENT 'delivered, retrying, failed, expired or waiting',
    status UInt16 COMMENT '0 if there was no answer',
    error LowCardinality(String) COMMENT 'Empty if it was taken',
    answer String COMMENT 'How the answer begins' CODEC(ZSTD(1)),
    next_attempt_at Nullable(DateTime64(3, 'UTC')),
    body String COMMENT 'JSON, as it is posted' CODEC(ZSTD(1)),
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(happened_at)
ORDER BY (organization, webhook, message_id, number)
TTL toDateTime(happened_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};
