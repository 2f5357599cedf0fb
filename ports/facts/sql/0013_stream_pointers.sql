-- Where the records lie that log streams have still to send, without their texts: these are in `request_logs` and `attempts`, by
-- website, time and ID. One row for up to 500 records of a batch of the facts-writer that agree in organisation, website, kind and
-- status; values at equal positions belong together. Rows may overlap if a batch was repeated with other borders: readers count
-- each offset of a lane once. Rows of `stream_backlog` are still read; nothing writes there any more.
CREATE TABLE IF NOT EXISTS stream_pointers {{onCluster}}
(
    organization LowCardinality(String),
    lane LowCardinality(String) COMMENT 'As in stream_backlog, but of other lanes (domain/streams/lane.ts)',
    last_offset UInt64,
    first_offset UInt64,
    appended_at DateTime64(3, 'UTC') COMMENT 'Of the last record; a function of lane and last offset' CODEC(Delta, LZ4),
    website LowCardinality(String),
    kind LowCardinality(String),
    status UInt16,
    ids String COMMENT 'Separated by commas',
    offsets Array(UInt64) COMMENT 'Above the first offset, ascending',
    oldest_at DateTime64(3, 'UTC') COMMENT 'When the oldest request came, or the oldest attempt began' CODEC(Delta, LZ4),
    times Array(UInt64) COMMENT 'Milliseconds after oldest_at',
    sizes Array(UInt64) COMMENT 'Bytes of the texts, about',
    row_version UInt64,
    INDEX first_offset first_offset TYPE minmax GRANULARITY 1
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMMDD(appended_at)
ORDER BY (organization, lane, last_offset, first_offset)
TTL toDateTime(appended_at) + toIntervalDay(8)
SETTINGS index_granularity = 32, ttl_only_drop_parts = 1, {{durable}};
