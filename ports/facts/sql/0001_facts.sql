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
    landing_page String COMMENT 'Origin and path; empty if it is not known',
    ref String COMMENT 'ref or source of the address of the landing',
    click LowCardinality(String) COMMENT 'Name of the parameter of an advertising click; never its value',
    is_carried Bool COMMENT 'The landing was on an earlier page view',
    sitting String COMMENT 'Empty if the page has no memory',
    is_entry Nullable(Bool) COMMENT 'Whether it began its sitting; null if the page did not say',
    identities String COMMENT 'JSON: what the providers know the visitor by',
    client String COMMENT 'JSON: coarse hints of the browser',
    gpc Bool,
    is_handoff_only Bool,
    is_test Bool,
    previous_visit_id String COMMENT 'Empty where the page held no receipt',
    source LowCardinality(String) COMMENT 'Empty: Direct',
    medium LowCardinality(String) COMMENT 'Empty if there is none',
    channel LowCardinality(String),
    campaign LowCardinality(String) COMMENT 'Empty if there is none',
    visitor_platform LowCardinality(String) COMMENT 'Empty if it is not known',
    visitor_kind LowCardinality(String) COMMENT 'An agent, automation or bot; empty for a person',
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64,
    -- Belt for questions by time that do not use the order of visit IDs.
    INDEX issued issued_at TYPE minmax GRANULARITY 1
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
    is_copied Bool COMMENT 'False if the page has only asked for the token; a row that says true wins',
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
    agent LowCardinality(String) COMMENT 'Coding agent that ran the install; empty for a person',
    product_version LowCardinality(String),
    place LowCardinality(String) COMMENT 'Where the command stood, as the command says',
    country LowCardinality(String) COMMENT 'Of the time zone; empty if that names none',
    is_ci Bool,
    is_container Bool,
    is_test Bool,
    resolution LowCardinality(String),
    selection_policy LowCardinality(String),
    candidate_count UInt16,
    visit_id String COMMENT 'Empty where no visit was matched',
    visit_issued_at Nullable(DateTime64(3, 'UTC')),
    gpc Bool,
    verdicts String COMMENT 'JSON: every examined receipt with its verdict',
    reason LowCardinality(String) COMMENT 'Why it is unmatched; empty if it is not',
    deliveries String COMMENT 'JSON: the plan of deliveries as it was answered',
    answer String COMMENT 'JSON: the whole answer, for repeats',
    request_id String,
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64,
    INDEX installation installation_id TYPE bloom_filter(0.001) GRANULARITY 1,
    -- The installs of a range of visits.
    PROJECTION by_visit (SELECT organization, website, visit_id, event_id ORDER BY organization, website, visit_id),
    -- By the time of their arrival, with every column that lists filter by.
    PROJECTION by_arrival
    (
        SELECT organization, website, received_at, event_id, installation_id, event_type, install_path, platform, agent, product_version, place,
            country, is_ci, is_container, is_test, resolution, selection_policy, reason, visit_id
        ORDER BY organization, website, received_at
    )
)
ENGINE = {{replacing}}
ORDER BY (organization, website, event_id)
TTL toDateTime(received_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}}, deduplicate_merge_projection_mode = 'rebuild';

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
    reason LowCardinality(String) COMMENT 'Why it is unmatched; empty if it is not',
    deliveries String COMMENT 'JSON: the plan of deliveries',
    answer String COMMENT 'JSON: the whole answer, for repeats',
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64,
    PROJECTION by_visit (SELECT organization, website, visit_id, event_id ORDER BY organization, website, visit_id)
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
    install_received_at DateTime64(3, 'UTC') COMMENT 'Which record of the event it comes from: an earlier one takes its place',
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64,
    PROJECTION by_arrival (SELECT organization, website, install_received_at, event_id, destination, provider, status, reason, row_version ORDER BY organization, website, install_received_at)
)
ENGINE = {{replacing}}
ORDER BY (organization, website, event_id, destination)
TTL toDateTime(changed_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}}, deduplicate_merge_projection_mode = 'rebuild';

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
    refs Array(UInt64) COMMENT 'Hashes of the event, installation and visit IDs and of the receipt hashes that it names (domain/logs/references.ts)',
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64,
    INDEX refs refs TYPE bloom_filter(0.01) GRANULARITY 1
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
    actor LowCardinality(String) COMMENT 'Pseudonym of the person, if that is proven; empty otherwise',
    manager LowCardinality(String) COMMENT 'Who wrote the fields of an object, as the API server calls them, or the file',
    fields Array(String) COMMENT 'JSON pointers of the fields that changed; no values',
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

-- Who ended a mail of an organisation, and who wants it again: the latest counts. Kept as long as the organisation, so that whoever ended a mail gets
-- none years later.
CREATE TABLE IF NOT EXISTS mail_choices {{onCluster}}
(
    organization LowCardinality(String),
    digest String COMMENT 'Of the person and the mail (domain/people/mail-choice.ts)',
    chosen_at DateTime64(3, 'UTC'),
    is_ended Bool,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, digest)
SETTINGS {{durable}};

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

-- Figures by hour, made from the facts by the role `rollup` and replaced whole: what vanished cannot stay. No materialised
-- views, which count a repeated insert again.
--
-- One row for each website and hour, with a column for each dimension: at most 500 values in each, the rest follows from
-- the total. The counts of visits' dimensions are those of VISIT_STEPS (domain/figures/cells.ts); of the others only the first counts: page views,
-- install events, and deliveries. Figures of installs come from counted_installs.
--
-- A row has up to 60 KB and 120 streams of columns. Merged in blocks of thousands of rows, and all columns at once, as is usual, some
-- hundred of them took more memory than the embedded engine has, and were tried for ever: hence small blocks, and column after column.
CREATE TABLE IF NOT EXISTS website_hours {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    hour DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    marks_read Array(String) COMMENT 'Marks of the hour that were there before the facts were read',
    visits Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    source Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    medium Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    channel Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    campaign Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    term Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    content Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    referrer Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    landing_page Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    page Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    pages_seen Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    visitor_platform Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    source_campaign Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    page_views Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    visitor_kind Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    events Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    delivery Array(Tuple(String, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)),
    retention_days UInt16,
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(hour)
ORDER BY (organization, website, hour)
TTL toDateTime(hour) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}},
    merge_max_block_size = 32, merge_max_block_size_bytes = 1048576, min_compress_block_size = 16384, max_compress_block_size = 65536,
    vertical_merge_algorithm_min_rows_to_activate = 1, vertical_merge_algorithm_min_columns_to_activate = 1, min_bytes_for_wide_part = 1048576;

-- What visits that began in an earlier hour did in this one, one row for each, made from the facts by the role `rollup` with the figures of the hour. A visit
-- counts in its first hour, which is thus counted without reading those after it.
CREATE TABLE IF NOT EXISTS visit_hours {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    began DateTime64(3, 'UTC') COMMENT 'Start of the first hour of the visit' CODEC(Delta, LZ4),
    sitting String,
    hour DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    is_gone Bool COMMENT 'It did nothing in this hour after all',
    pages Array(String) COMMENT 'Origin and path of the pages that it saw; at most 100',
    is_activated Bool,
    is_copied Bool,
    is_started Bool,
    has_first_run Bool,
    installed_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the first install was received that one of these page views led to',
    agents Array(String) COMMENT 'That ran such installs',
    retention_days UInt16,
    row_version UInt64
)
ENGINE = {{replacing}}
PARTITION BY toYYYYMM(began)
ORDER BY (organization, website, began, sitting, hour)
TTL toDateTime(began) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

-- Install events as figures count them, one row for each: its kind, and where the visit of its install came from. Made from the facts
-- (delivery/counting/count-installs.ts), and kept as long as they are, so that a visit or an earlier event that expires changes no figure.
CREATE TABLE IF NOT EXISTS counted_installs {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    received_at DateTime64(3, 'UTC') CODEC(Delta, LZ4),
    event_id String,
    installation_id String,
    event_type LowCardinality(String),
    kind LowCardinality(String) COMMENT 'install, upgrade, reinstall or none; superseded: another record of the event counts',
    installed_before Nullable(DateTime64(3, 'UTC')) COMMENT 'When the install before this event was received',
    is_begun_by_run Bool COMMENT 'A first run was that install',
    version_before LowCardinality(String) COMMENT 'The last version named before this event',
    is_completed Bool COMMENT 'Of an install: an installer came to its end',
    has_run Bool COMMENT 'Of such an install: it ran for the first time within seven days of that',
    product_version LowCardinality(String),
    install_path LowCardinality(String),
    platform LowCardinality(String),
    agent LowCardinality(String),
    country LowCardinality(String),
    place LowCardinality(String),
    is_left_out Bool COMMENT 'From CI or a container, or a test: in no figure',
    is_test Bool COMMENT 'It changes the kind of no other event',
    resolution LowCardinality(String) COMMENT 'Of an install without a visit, that of a later event which had one',
    selection_policy LowCardinality(String),
    reason LowCardinality(String),
    visit_id String,
    visit_issued_at Nullable(DateTime64(3, 'UTC')),
    is_visit_of_later Bool COMMENT 'The decision is that of a later event',
    is_visit_known Bool COMMENT 'The facts had the visit; the columns below are its own',
    source LowCardinality(String),
    medium LowCardinality(String),
    channel LowCardinality(String),
    campaign LowCardinality(String),
    term LowCardinality(String),
    content LowCardinality(String),
    referrer LowCardinality(String),
    landing_page LowCardinality(String),
    page LowCardinality(String),
    visitor_platform LowCardinality(String),
    retention_days UInt16,
    row_version UInt64,
    INDEX installation installation_id TYPE bloom_filter(0.001) GRANULARITY 1,
    PROJECTION by_visit (SELECT organization, website, visit_id, received_at, event_id ORDER BY organization, website, visit_id)
)
ENGINE = {{replacing}}
ORDER BY (organization, website, received_at, event_id)
TTL toDateTime(received_at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}}, deduplicate_merge_projection_mode = 'rebuild';

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
    session String COMMENT 'Digest of the cookie of the session from which it was requested',
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

-- What log streams have still to send: where the records lie, without their texts, which are in `request_logs` and `attempts`, by
-- website, time and ID. Readers go by the offset on the log, never by time: what arrives late must not be passed over. A stream
-- may be seven days behind; the eighth day is there so that what is dropped can be counted first.
--
-- One row for up to 500 records of a batch of the facts-writer that agree in organisation, website, kind and status; values at equal
-- positions belong together. Rows may overlap if a batch was repeated with other borders: readers count each offset of a lane once.
CREATE TABLE IF NOT EXISTS stream_pointers {{onCluster}}
(
    organization LowCardinality(String),
    lane LowCardinality(String) COMMENT 'Topic, partition and life of the topic (domain/streams/lane.ts): order holds within it',
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

-- What advertising cost, as it was imported from files: one row for each line. Of a day and source the rows of the latest import count that is
-- in spend_imports and not removed; those of others stay, so that nothing depends on the order in which entries of the log arrive, and a removal
-- shows again what the import had replaced.
CREATE TABLE IF NOT EXISTS spend_rows {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    day DateTime64(3, 'UTC') COMMENT 'Of the ad account; when it begins in UTC' CODEC(Delta, LZ4),
    import_id String COMMENT '28 hex digits, ascending with time',
    line UInt32 COMMENT 'Of the file, from 1',
    source LowCardinality(String),
    campaign String COMMENT 'Empty: of none',
    currency LowCardinality(String) COMMENT 'Code of ISO 4217',
    amount UInt64 COMMENT 'In the smallest unit of the currency',
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, website, day, import_id, line)
TTL toDateTime(day) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

-- Imports of such files. A row is there only once all rows of the file are.
CREATE TABLE IF NOT EXISTS spend_imports {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String),
    id String,
    imported_at DateTime64(3, 'UTC'),
    imported_by String COMMENT 'The person; empty for a command line',
    file_name String,
    rows UInt32,
    first_day DateTime64(3, 'UTC'),
    last_day DateTime64(3, 'UTC'),
    totals String COMMENT 'JSON: amounts by currency',
    is_removed Bool,
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, website, id)
TTL toDateTime(last_day) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};

-- Alerts: one row when it was opened, one when it was closed. The ID is a digest of organisation, website, rule and period, so that whatever was
-- judged twice is here once. Numbers of days, and nothing of anybody.
CREATE TABLE IF NOT EXISTS alerts {{onCluster}}
(
    organization LowCardinality(String),
    website LowCardinality(String) COMMENT 'Empty: about the organisation',
    id String COMMENT '32 hex digits',
    state LowCardinality(String) COMMENT 'opened or closed',
    rule LowCardinality(String),
    arrival LowCardinality(String) COMMENT 'What does not arrive; empty for other rules',
    period LowCardinality(String) COMMENT 'The day that opened it, or the month',
    at DateTime64(3, 'UTC'),
    value Float64,
    expected Float64,
    threshold Float64,
    end LowCardinality(String) COMMENT 'Why it was closed',
    catalog_number UInt64,
    retention_days UInt16,
    log_topic LowCardinality(String),
    log_partition UInt32,
    log_offset UInt64,
    row_version UInt64
)
ENGINE = {{replacing}}
ORDER BY (organization, id, state)
TTL toDateTime(at) + toIntervalDay(retention_days)
SETTINGS {{durable}}, {{granules}};
