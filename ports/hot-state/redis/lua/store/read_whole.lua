-- Whether the store is complete. A process that was not heard for a time and did not say that it ended may have died with answers
-- that it could not write here: then they are missing.
-- KEYS[1]  prefix; reads and writes whole, since, losses, alive; reads heard
-- ARGV     clock or '', generation, after how long (ms) a process counts as gone
-- Returns  the generation of the store that is complete, or ''; since when (Unix ms) answers are missing, or '' for everything; how
--          often something was lost

local real_ms, after_ms = clock_ms(''), tonumber(ARGV[3])
-- While Redis itself was away, no process was heard.
if real_ms - woke_ms() >= after_ms then
  local oldest, left = gone_processes(real_ms - after_ms)
  if oldest then
    note_loss(ARGV[2], oldest)
    keep_alive(left)
  end
end
return {
  redis.call('GET', PREFIX .. 'whole') or '',
  redis.call('GET', PREFIX .. 'since') or '',
  redis.call('GET', PREFIX .. 'losses') or '0',
}
