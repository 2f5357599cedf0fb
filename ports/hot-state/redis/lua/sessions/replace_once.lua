-- Puts a value that can be taken once, in place of what the key holds.
-- KEYS[1]  prefix; writes o:<key>
-- ARGV     clock or '', key, value, how long (ms)
-- Returns  nothing

keep(PREFIX .. 'o:' .. ARGV[2], ARGV[3], tonumber(ARGV[4]))
