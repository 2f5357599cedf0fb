-- Keeps the decision about an install event under its claim, for the next try; ignored if another caller holds or settled it.
-- Until the event is settled the installation awaits it, unless something else is known of the installation.
-- KEYS[1]  prefix; reads and writes e:<event>, v:<installation>
-- ARGV     clock or '', event (16 bytes), installation (16 bytes), owner, lease (ms), memory (ms), decision
-- Returns  nothing

local key = PREFIX .. 'e:' .. ARGV[2]
local held = kept(key)
if held and (is_settled(held) or is_held_by_other(held, ARGV[4])) then return end
keep_decision(key, ARGV[4], NOW + tonumber(ARGV[5]), ARGV[7], tonumber(ARGV[6]))
await_event(PREFIX .. 'v:' .. ARGV[3], ARGV[2], tonumber(ARGV[6]))
