-- Makes the caller the first for an install event, or says what the first one was answered or that it is not done.
-- KEYS[1]  prefix; reads and writes e:<event>, reads v:<installation>
-- ARGV     clock or '', event (16 bytes), installation (16 bytes), owner, lease (ms)
-- Returns  'settled' and the answer; 'busy'; or 'first' and the installation's visit or ''

local key = PREFIX .. 'e:' .. ARGV[2]
local held = kept(key)
if held and string.sub(held, 1, 1) == 'A' then return { 'settled', string.sub(held, 2) } end
if held and held ~= 'L' .. ARGV[4] then return { 'busy' } end
keep(key, 'L' .. ARGV[4], tonumber(ARGV[5]))
return { 'first', kept(PREFIX .. 'v:' .. ARGV[3]) or '' }
