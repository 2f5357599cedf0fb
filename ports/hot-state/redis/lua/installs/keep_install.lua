-- Keeps the decision about an install event under its claim, for the next try; ignored if another caller holds or settled it.
-- KEYS[1]  prefix; reads and writes e:<event>
-- ARGV     clock or '', event (16 bytes), owner, lease (ms), memory (ms), decision
-- Returns  nothing

local key = PREFIX .. 'e:' .. ARGV[2]
local held = kept(key)
if held and (is_settled(held) or is_held_by_other(held, ARGV[3])) then return end
keep_decision(key, ARGV[3], NOW + tonumber(ARGV[4]), ARGV[6], tonumber(ARGV[5]))
