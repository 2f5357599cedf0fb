-- A row of figures has up to 60 KB. Merged in blocks of thousands of rows, as is usual, some hundred of them took more memory than the
-- embedded engine has, and were tried for ever.
ALTER TABLE website_hours {{onCluster}} MODIFY SETTING merge_max_block_size = 32, merge_max_block_size_bytes = 1048576, min_compress_block_size = 16384, max_compress_block_size = 65536;
