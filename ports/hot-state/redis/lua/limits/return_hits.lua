-- Takes hits back from the windows that they were counted in; never below zero, and not from windows that have ended.
-- KEYS[1]  prefix; reads and writes h:<key>:<window in s>:<number of the window>
-- ARGV     clock or '', how long ago they were counted (ms), then for each hit its key and window (s)
-- Returns  nothing

for index = 3, #ARGV, 2 do
  local number = math.floor((NOW - ARGV[2]) / (ARGV[index + 1] * 1000))
  local name = PREFIX .. 'h:' .. ARGV[index] .. ':' .. ARGV[index + 1] .. ':' .. number
  local count, is_refused = count_of(redis.call('GET', name))
  if count > 0 then redis.call('INCRBY', name, is_refused and 1 or -1) end
end
