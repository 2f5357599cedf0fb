-- Makes the caller the first for an install event, or returns the first caller's answer, or that it is not finished.
-- KEYS[1]  prefix; reads and writes e:<event>, reads v:<installation>, whole, heard and alive
-- ARGV     clock or '', event (16 bytes), installation (16 bytes), owner, lease (ms), memory (ms)
-- Returns  'settled' and the answer; 'busy'; or 'first', the decision of an earlier try or '', what is known of the
--          installation or '', and which generation of the store is complete. That is '' if none is, and while another
--          process may hold an answer or a match that is not known here

local key = PREFIX .. 'e:' .. ARGV[2]
local held = kept(key)
local kind = held and string.sub(held, 1, 1)
if kind == SETTLED or kind == OPEN then return { 'settled', string.sub(held, 2) } end
if held and is_held_by_other(held, ARGV[4]) then return { 'busy' } end
local decision = kind == DECIDED and decision_of(held) or ''
if decision == '' then
  keep(key, CLAIMED .. ARGV[4], tonumber(ARGV[5]))
else
  keep_decision(key, ARGV[4], NOW + tonumber(ARGV[5]), decision, tonumber(ARGV[6]))
end
local known = kept(PREFIX .. 'v:' .. ARGV[3]) or ''
local whole = redis.call('GET', PREFIX .. 'whole') or ''
if whole ~= '' and may_lack_news() then whole = '' end
return { 'first', decision, known, whole }
