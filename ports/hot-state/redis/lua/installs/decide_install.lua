-- Replaces the answer of a pending install event by the decision, even if another process handles the event; a final answer stays.
-- KEYS[1]  prefix; reads and writes e:<event>; reads, writes and deletes v:<installation>
-- ARGV     clock or '', event (16 bytes), installation (16 bytes), memory (ms), answer, when the event was received (Unix
--          ms), visit or ''
-- Returns  nothing

local key = PREFIX .. 'e:' .. ARGV[2]
local held = kept(key)
if held and string.sub(held, 1, 1) == SETTLED then return end
keep(key, SETTLED .. ARGV[5], tonumber(ARGV[4]))
local installation = PREFIX .. 'v:' .. ARGV[3]
await_no_more(installation, ARGV[2])
if ARGV[7] ~= '' then note_installation(installation, tonumber(ARGV[6]), MATCHED, ARGV[7], tonumber(ARGV[4])) end
