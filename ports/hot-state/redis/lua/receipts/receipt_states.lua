-- Reads the states of receipts.
-- KEYS[1]  prefix; reads r:<day>:<bucket>, i:<id>, heard, alive
-- ARGV     clock or '', then for each receipt its ID and day
-- Returns  for each receipt 0 unknown, 1 issued, 2 active, 3 revoked, 4 active with an unknown predecessor, 5 the same
--          of a revoked one, 6 revoked and unseen. While a process may hold activations, an issued one is unknown, and
--          a revoked one that nobody has called active is unseen

-- Asked at most once: it reads every process.
local lacks_news = nil
local function is_unsure()
  if lacks_news == nil then lacks_news = may_lack_news() end
  return lacks_news
end

local function code_of(state)
  if state == UNKNOWN then return 4 end
  if not is_revoked(state) then return 2 end
  if state == REVOKED_OPEN then return 5 end
  return state == REVOKED_UNSEEN and is_unsure() and 6 or 3
end

local states = {}
for index = 2, #ARGV, 2 do
  local state = find_state(ARGV[index], ARGV[index + 1])
  local code = 0
  if state then
    code = code_of(state)
  elseif kept(issued_key(ARGV[index])) then
    code = is_unsure() and 0 or 1
  end
  states[#states + 1] = code
end
return states
