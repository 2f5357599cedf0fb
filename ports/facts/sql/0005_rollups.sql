-- Figures by hour, made from the facts by the role `rollup` and replaced whole: what vanished cannot stay. No materialised
-- views, which count a repeated insert again.

-- Belt for questions by time that do not use the order of visit IDs.
ALTER TABLE visits {{onCluster}} ADD INDEX IF NOT EXISTS issued issued_at TYPE minmax GRANULARITY 1;

ALTER TABLE visits {{onCluster}} MATERIALIZE INDEX issued;

-- The installs of a range of visits.
ALTER TABLE installs {{onCluster}} ADD PROJECTION IF NOT EXISTS by_visit (SELECT organization, website, visit_id, event_id ORDER BY organization, website, visit_id);

ALTER TABLE installs {{onCluster}} MATERIALIZE PROJECTION by_visit;

ALTER TABLE install_decisions {{onCluster}} MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild';

ALTER TABLE install_decisions {{onCluster}} ADD PROJECTION IF NOT EXISTS by_visit (SELECT organization, website, visit_id, event_id ORDER BY organization, website, visit_id);

ALTER TABLE install_decisions {{onCluster}} MATERIALIZE PROJECTION by_visit;

-- One row for each website and hour, with a column for each dimension: at most 500 values in each, the rest follows from
-- the total. The six counts of visits' dimensions are visits, activated, copied, started, completed, first run; those of
-- installs' dimensions started, completed, first run, matched, unmatched, counted.
CREATE TABLE IF NOT EXISTS website_hours {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    hour DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    marks_read Array(String) COMMENT 'Marks of the hour that were there before the facts were read',
    visits Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    source Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    medium Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    campaign Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    referrer Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    page Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    agent_page Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    installs Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    path Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    platform Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    policy Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    reason Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    agent Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    time_to_install Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    delivery Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    retention_days UInt16,
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(hour)
ORDER BY (organization, website, hour)
TTL toDateTime(hour) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

-- Hours whose facts have changed. Each writer counts its marks, so that what a version has read needs no clock; the row
-- version is that count. The lifetime counts from the making of a mark, not from the hour that it marks.
CREATE TABLE IF NOT EXISTS hour_marks {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    hour DateTime64(3, 'UTC'),
    writer String,
    made_at DateTime64(3, 'UTC'),
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, website, hour, writer)
TTL toDateTime(made_at) + toIntervalDay(14)
SETTINGS {{durable}}, {{granules}};
