-- Ends all sessions that a person has now: they carry a lower number than the new one, and their records are deleted.
-- KEYS[1]  prefix; reads and writes g:<person>, deletes each s:<session> of p:<person>, and that list
-- ARGV     clock or '', person, how long the number is kept (ms)
-- Returns  nothing

local key = PREFIX .. 'g:' .. ARGV[2]
keep(key, tostring(tonumber(kept(key) or '0') + 1), tonumber(ARGV[3]))
local sessions_key = PREFIX .. 'p:' .. ARGV[2]
for session in string.gmatch(kept(sessions_key) or '', '[^\n]+') do
  redis.call('DEL', PREFIX .. 's:' .. session)
end
redis.call('DEL', sessions_key)
