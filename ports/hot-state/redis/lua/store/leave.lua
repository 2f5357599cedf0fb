-- The caller ends, and has written everything here that it had to write.
-- KEYS[1]  prefix; reads and writes alive
-- ARGV     clock or '', process (16 bytes)
-- Returns  nothing

store_processes((without_process(ARGV[2])))
