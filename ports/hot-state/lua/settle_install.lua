-- Keeps the answer to an install event and the installation's visit; ignored where another caller holds or settled it.
-- KEYS[1]  prefix; reads and writes e:<event>, writes v:<installation>
-- ARGV     clock or '', event (16 bytes), installation (16 bytes), owner, memory (ms), answer, visit or ''
-- Returns  nothing

local key = PREFIX .. 'e:' .. ARGV[2]
local held = kept(key)
if held and held ~= 'L' .. ARGV[4] then return end
keep(key, 'A' .. ARGV[6], tonumber(ARGV[5]))
if ARGV[7] ~= '' then keep(PREFIX .. 'v:' .. ARGV[3], ARGV[7], tonumber(ARGV[5])) end
