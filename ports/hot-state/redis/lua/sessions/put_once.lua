-- Puts a value that can be taken once, unless the key holds one.
-- KEYS[1]  prefix; reads and writes o:<key>
-- ARGV     clock or '', key, value, how long (ms)
-- Returns  1 if it was put, else 0

local key = PREFIX .. 'o:' .. ARGV[2]
if kept(key) then return 0 end
keep(key, ARGV[3], tonumber(ARGV[4]))
return 1
