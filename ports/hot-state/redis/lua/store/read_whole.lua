-- Whether the store is complete. A process that was not heard for a time and did not say that it ended may have died with answers
-- that it could not write here: then they are missing.
-- KEYS[1]  prefix; reads and writes whole, since, losses, alive; reads heard
-- ARGV     clock or '', generation, after how long (ms) a process counts as gone
-- Returns  the generation of the store that is complete, or ''; since when (Unix ms) answers are missing, or '' for everything; how
--          often something was lost

local real_ms, after_ms = clock_ms(''), tonumber(ARGV[3])
local _, steady_ms = read_heard()
-- While Redis itself was away, no process was heard.
if steady_ms and real_ms - steady_ms >= after_ms then
  local oldest, left = gone_processes(real_ms - after_ms)
  if oldest then
    note_loss(ARGV[2], oldest)
    store_processes(left)
  end
end
local since_ms = missing_since(ARGV[2])
return {
  redis.call('GET', PREFIX .. 'whole') or '',
  since_ms and string.format('%.0f', since_ms) or '',
  redis.call('GET', PREFIX .. 'losses') or '0',
}
