-- Replaces the answer of a pending install event by the decision, even if another process handles the event; a final answer stays.
-- KEYS[1]  prefix; reads and writes e:<event>; reads, writes and deletes v:<installation>
-- ARGV     clock or '', event (16 bytes), installation (16 bytes), memory (ms), answer, when the event was received (Unix
--          ms), visit or '', '1' if the installation gets the visit even if another answer is final
-- Returns  nothing

local key = PREFIX .. 'e:' .. ARGV[2]
local held = kept(key)
local is_final = held and string.sub(held, 1, 1) == SETTLED
if is_final and ARGV[8] ~= '1' then return end
if not is_final then keep(key, SETTLED .. ARGV[5], tonumber(ARGV[4])) end
local installation = PREFIX .. 'v:' .. ARGV[3]
await_no_more(installation, ARGV[2])
if ARGV[7] ~= '' then note_installation(installation, tonumber(ARGV[6]), MATCHED, ARGV[7], tonumber(ARGV[4])) end
