-- Takes one tracked event back; never below zero.
-- KEYS[1]  prefix; reads and writes u:<month>:<organisation>
-- ARGV     clock or '', month and organisation
-- Returns  nothing

local key = PREFIX .. 'u:' .. ARGV[2]
local count, is_over = count_of(redis.call('GET', key))
if count > 0 then redis.call('INCRBY', key, is_over and 1 or -1) end
