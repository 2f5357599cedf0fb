-- Runs several verbs in turn. They are atomic together; if one fails, none is answered.
-- KEYS[1]  prefix
-- ARGV     for each verb its name, the number of its arguments, and the arguments, of which the first is the clock or ''
-- Returns  what each verb returns; null for nothing

local replies, at = {}, 1
while at <= #ARGV do
  local last = at + 1 + ARGV[at + 1]
  local reply = VERBS[ARGV[at]]({ unpack(ARGV, at + 2, last) })
  if reply == nil then reply = false end
  replies[#replies + 1] = reply
  at = last + 1
end
return replies
