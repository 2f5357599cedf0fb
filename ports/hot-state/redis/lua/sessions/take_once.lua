-- Reads and deletes a value, so that only one caller gets it.
-- KEYS[1]  prefix; reads and deletes o:<key>
-- ARGV     clock or '', key
-- Returns  the value, or nothing

local key = PREFIX .. 'o:' .. ARGV[2]
local value = kept(key)
redis.call('DEL', key)
return value
