-- Releases a job, if its owner still holds it.
-- KEYS[1]  prefix; reads and deletes j:<job>
-- ARGV     clock or '', job, owner
-- Returns  nothing

local key = PREFIX .. 'j:' .. ARGV[2]
if kept(key) == ARGV[3] then redis.call('DEL', key) end
