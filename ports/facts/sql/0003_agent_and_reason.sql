-- Which coding agent ran an install, and why an install has no visit. Both are empty in rows of earlier releases.

ALTER TABLE installs {{onCluster}}
    ADD COLUMN IF NOT EXISTS agent LowCardinality(String) COMMENT 'Coding agent that ran the install; empty for a person' AFTER language,
    ADD COLUMN IF NOT EXISTS reason LowCardinality(String) COMMENT 'Why it is unmatched; empty if it is not' AFTER verdicts;

ALTER TABLE install_decisions {{onCluster}}
    ADD COLUMN IF NOT EXISTS reason LowCardinality(String) COMMENT 'Why it is unmatched; empty if it is not' AFTER verdicts;
