-- Who did what activity tells of, and what of an object changed. All three are empty in rows of earlier releases.

ALTER TABLE activity {{onCluster}}
    ADD COLUMN IF NOT EXISTS actor LowCardinality(String) COMMENT 'Pseudonym of the person, if that is proven; empty otherwise' AFTER message,
    ADD COLUMN IF NOT EXISTS manager LowCardinality(String) COMMENT 'Who wrote the fields of an object, as the API server calls them, or the file' AFTER actor,
    ADD COLUMN IF NOT EXISTS fields Array(String) COMMENT 'JSON pointers of the fields that changed; no values' AFTER manager;
