-- Gives a job to one owner for a time; an owner that has it already keeps it for longer.
-- KEYS[1]  prefix; reads and writes j:<job>
-- ARGV     clock or '', job, owner, lease (ms)
-- Returns  1 if the caller has it, else 0

local key = PREFIX .. 'j:' .. ARGV[2]
local owner = kept(key)
if owner and owner ~= ARGV[3] then return 0 end
keep(key, ARGV[3], tonumber(ARGV[4]))
return 1
