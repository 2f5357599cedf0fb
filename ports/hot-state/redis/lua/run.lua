-- Runs several verbs in turn. They are atomic together; if one fails, none is answered.
-- KEYS[1]  prefix
-- ARGV[1]  for each verb its name, the number of its arguments, and the arguments, of which the first is the clock or ''; as
--          `verb-call.ts` writes them: one argument of Redis for all, since a client spends more on each than on its bytes
-- Returns  what each verb returns; null for nothing

local call, replies, at = ARGV[1], {}, 1
while at <= #call do
  local name, count
  name, count, at = struct.unpack('>Bc0I2', call, at)
  local args = {}
  for place = 1, count do
    args[place], at = struct.unpack('>I4c0', call, at)
  end
  local reply = VERBS[name](args)
  if reply == nil then reply = false end
  replies[#replies + 1] = reply
end
return replies
