-- Gives a claim back, where it is still its owner's and not settled.
-- KEYS[1]  prefix; reads and deletes e:<event>
-- ARGV     clock or '', event (16 bytes), owner
-- Returns  nothing

local key = PREFIX .. 'e:' .. ARGV[2]
if kept(key) == 'L' .. ARGV[3] then redis.call('DEL', key) end
