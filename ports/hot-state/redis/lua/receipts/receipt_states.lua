-- Reads the states of receipts.
-- KEYS[1]  prefix; reads r:<day>:<bucket>, i:<id>, o:<id>, n:<id>, heard, alive
-- ARGV     clock or '', then for each receipt its ID and day
-- Returns  for each receipt 0 unknown, 1 issued, 2 active, 3 revoked, 4 active with an unknown predecessor, 5 the same
--          of a revoked one. While a process may hold activations, an issued one is unknown, and
--          a revoked one that nobody has called active counts as 5

local function is_open(id)
  return kept(open_key(id)) or (kept(unseen_key(id)) and may_lack_news())
end

local states = {}
for index = 2, #ARGV, 2 do
  local state = find_state(ARGV[index], ARGV[index + 1])
  local code = 0
  if state then
    code = state == UNKNOWN and 4 or 2
    if state == REVOKED then code = is_open(ARGV[index]) and 5 or 3 end
  elseif kept(issued_key(ARGV[index])) then
    code = may_lack_news() and 0 or 1
  end
  states[#states + 1] = code
end
return states
