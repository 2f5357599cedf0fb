-- Keeps the answer to an install event and what it means for its installation; ignored if another caller holds or settled it.
-- KEYS[1]  prefix; reads and writes e:<event>; reads, writes and deletes v:<installation>
-- ARGV     clock or '', event (16 bytes), installation (16 bytes), owner, memory (ms), answer, '1' if it is pending,
--          when the event was received (Unix ms), visit or ''
-- Returns  nothing

local key = PREFIX .. 'e:' .. ARGV[2]
local held = kept(key)
if held and (is_settled(held) or is_held_by_other(held, ARGV[4])) then return end
local is_open = ARGV[7] == '1'
local memory_ms = tonumber(ARGV[5])
keep(key, (is_open and OPEN or SETTLED) .. ARGV[6], memory_ms)
local installation = PREFIX .. 'v:' .. ARGV[3]
if not is_open and ARGV[9] == '' then await_no_more(installation, ARGV[2]) end
if is_open then note_installation(installation, tonumber(ARGV[8]), AWAITS, ARGV[2], memory_ms) end
if ARGV[9] ~= '' then note_installation(installation, tonumber(ARGV[8]), MATCHED, ARGV[9], memory_ms) end
