-- Releases a claim, if its owner still holds it and it is not settled. A decision under it stays for the next try.
-- KEYS[1]  prefix; reads, writes and deletes e:<event>
-- ARGV     clock or '', event (16 bytes), owner, memory (ms)
-- Returns  nothing

local key = PREFIX .. 'e:' .. ARGV[2]
local held = kept(key)
if held == CLAIMED .. ARGV[3] then redis.call('DEL', key) end
if held and string.sub(held, 1, 1) == DECIDED and owner_of(held) == ARGV[3] then
  keep_decision(key, ARGV[3], 0, decision_of(held), tonumber(ARGV[4]))
end
