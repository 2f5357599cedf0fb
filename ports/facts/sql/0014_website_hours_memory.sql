-- Horizontal merges keep buffers of all 120 streams of a row's columns for each part: up to 390 MiB, of the 512 that the embedded
-- engine has. Vertical ones take one column after the other, at most 200 MiB with all else.
ALTER TABLE website_hours {{onCluster}} MODIFY SETTING vertical_merge_algorithm_min_rows_to_activate = 1, vertical_merge_algorithm_min_columns_to_activate = 1, min_bytes_for_wide_part = 1048576;
