-- Raises the tracked events of an organisation in a month to a number, if they are fewer.
-- KEYS[1]  prefix; reads and writes u:<month>:<organisation>
-- ARGV     clock or '', month and organisation, number, how long the month is remembered (ms)
-- Returns  nothing

local key = PREFIX .. 'u:' .. ARGV[2]
local stored = redis.call('GET', key)
local count, is_over = count_of(stored)
local missing = ARGV[3] - count
if missing <= 0 then return end
if stored then
  redis.call('INCRBY', key, is_over and -missing or missing)
else
  redis.call('SET', key, ARGV[3], 'PX', ARGV[4])
end
