-- Ends one session.
-- KEYS[1]  prefix; deletes s:<session>
-- ARGV     clock or '', session
-- Returns  nothing

redis.call('DEL', PREFIX .. 's:' .. ARGV[2])
