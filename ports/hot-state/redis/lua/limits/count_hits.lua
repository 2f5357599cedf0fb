-- Counts all hits in the current windows of the server's clock, or none if one is at its limit.
-- KEYS[1]  prefix; reads and writes h:<key>:<window in s>:<number of the window>
-- ARGV     clock or '', then for each hit its key, limit and window (s)
-- Returns  0 and the counts; or 1, the seconds to wait, 1 for the first refusal or 0, and the places of exceeded hits

local names, ends, values = {}, {}, {}
for index = 2, #ARGV, 3 do
  local window_ms = ARGV[index + 2] * 1000
  local number = math.floor(NOW / window_ms)
  names[#names + 1] = PREFIX .. 'h:' .. ARGV[index] .. ':' .. ARGV[index + 2] .. ':' .. number
  ends[#ends + 1] = (number + 1) * window_ms
end
if #names == 0 then return { 0 } end
values = redis.call('MGET', unpack(names))

local counted, refused = { 0 }, { 1, 1, 0 }
for place, stored in ipairs(values) do
  local count, is_refused = count_of(stored)
  if count >= tonumber(ARGV[place * 3]) then
    refused[#refused + 1] = place - 1
    refused[2] = math.max(refused[2], math.ceil((ends[place] - NOW) / 1000))
    if not is_refused then
      refused[3] = 1
      redis.call('SET', names[place], -count - 1, 'PX', ends[place] - NOW + GRACE_MS)
    end
  end
  counted[#counted + 1] = count + 1
end
if #refused > 3 then return refused end

for place, stored in ipairs(values) do
  if not stored then
    redis.call('SET', names[place], 1, 'PX', ends[place] - NOW + GRACE_MS)
  else
    redis.call('INCRBY', names[place], tonumber(stored) < 0 and -1 or 1)
  end
end
return counted
