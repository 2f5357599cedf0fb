-- Reads a session that has not expired, if its person has not signed out everywhere since.
-- KEYS[1]  prefix; reads s:<session> and g:<person>
-- ARGV     clock or '', session
-- Returns  its record, or nothing

local session = kept(PREFIX .. 's:' .. ARGV[2])
if not session then return end
local person = string.sub(session, 6, 5 + string.byte(session, 5))
local generation = tonumber(kept(PREFIX .. 'g:' .. person) or '0')
if struct.unpack('>I4', session) ~= generation then return end
return string.sub(session, 6 + #person)
