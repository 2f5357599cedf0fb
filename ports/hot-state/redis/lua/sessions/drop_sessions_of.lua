-- Ends all sessions that a person has now: they carry a lower number than the new one.
-- KEYS[1]  prefix; reads and writes g:<person>
-- ARGV     clock or '', person, how long the number is kept (ms)
-- Returns  nothing

local key = PREFIX .. 'g:' .. ARGV[2]
keep(key, tostring(tonumber(kept(key) or '0') + 1), tonumber(ARGV[3]))
