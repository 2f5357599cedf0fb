-- Begins a session, with the number of times that its person has signed out everywhere.
-- KEYS[1]  prefix; writes s:<session>, adds it to p:<person>, reads and keeps g:<person>
-- ARGV     clock or '', session, person, record, how long (ms), how long that number is kept (ms)
-- Returns  nothing

local generation_key = PREFIX .. 'g:' .. ARGV[3]
local generation = kept(generation_key)
if generation then keep(generation_key, generation, tonumber(ARGV[6])) end
local head = struct.pack('>I4', tonumber(generation or '0')) .. string.char(#ARGV[3]) .. ARGV[3]
keep(PREFIX .. 's:' .. ARGV[2], head .. ARGV[4], tonumber(ARGV[5]))
-- Those that have ended leave the list here. It outlives every session in it.
local sessions_key = PREFIX .. 'p:' .. ARGV[3]
local sessions = { ARGV[2] }
for session in string.gmatch(kept(sessions_key) or '', '[^\n]+') do
  if session ~= ARGV[2] and kept(PREFIX .. 's:' .. session) then sessions[#sessions + 1] = session end
end
keep(sessions_key, table.concat(sessions, '\n'), tonumber(ARGV[6]))
