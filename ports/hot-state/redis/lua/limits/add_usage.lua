-- Counts tracked events of an organisation in a month, unless that would exceed the quota.
-- KEYS[1]  prefix; reads and writes u:<month>:<organisation>
-- ARGV     clock or '', month and organisation, quota or '', how many, how long the month is remembered (ms)
-- Returns  how many there are now, 1 if the quota was used up, 1 if that happened for the first time

local key = PREFIX .. 'u:' .. ARGV[2]
local stored = redis.call('GET', key)
local count, is_over = count_of(stored)
if ARGV[3] ~= '' and count >= tonumber(ARGV[3]) then
  if not is_over then redis.call('SET', key, -count - 1, 'PX', ARGV[5]) end
  return { count, 1, is_over and 0 or 1 }
end
if stored then
  redis.call('INCRBY', key, is_over and -ARGV[4] or ARGV[4])
else
  redis.call('SET', key, ARGV[4], 'PX', ARGV[5])
end
return { count + ARGV[4], 0, 0 }
