-- What a line of Logs is found by. Lines of earlier releases have none; their text can still be searched.

ALTER TABLE request_logs {{onCluster}}
    ADD COLUMN IF NOT EXISTS refs Array(UInt64) COMMENT 'Hashes of the event, installation and visit IDs and of the receipt hashes that it names (domain/logs/references.ts)' AFTER is_redacted;

ALTER TABLE request_logs {{onCluster}}
    ADD INDEX IF NOT EXISTS refs refs TYPE bloom_filter(0.01) GRANULARITY 1;
