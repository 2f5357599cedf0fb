-- What somebody asked about another policy, and what came out; both are kept for a week.
CREATE TABLE IF NOT EXISTS decision_replays {{onCluster}}
(
    website LowCardinality(String),
    id String,
    organization LowCardinality(String),
    asked_at DateTime64(3, 'UTC'),
    policy LowCardinality(String),
    window_ms UInt64,
    is_tokens_only Bool,
    since DateTime64(3, 'UTC'),
    until DateTime64(3, 'UTC'),
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, website, id)
TTL toDateTime(asked_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

-- The latest row of a replay says how far it is; that of a finished one holds the result.
CREATE TABLE IF NOT EXISTS decision_replay_results {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    id String,
    made_at DateTime64(3, 'UTC'),
    state LowCardinality(String) COMMENT 'running, done or failed',
    installs UInt64,
    reached DateTime64(3, 'UTC') COMMENT 'Installs that were received before are decided again',
    result String COMMENT 'JSON; empty unless it is done',
    retention_days UInt16,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, website, id)
TTL toDateTime(made_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};
