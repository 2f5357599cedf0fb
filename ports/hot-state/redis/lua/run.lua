-- Runs one verb after another. They are atomic to each other; if one fails, none is answered.
-- KEYS[1]  prefix
-- ARGV     for each verb its name, the number of its arguments, and these, of which the first is its clock or ''
-- Returns  what each returns, nothing as null

local replies, at = {}, 1
while at <= #ARGV do
  local last = at + 1 + ARGV[at + 1]
  local reply = VERBS[ARGV[at]]({ unpack(ARGV, at + 2, last) })
  if reply == nil then reply = false end
  replies[#replies + 1] = reply
  at = last + 1
end
return replies
