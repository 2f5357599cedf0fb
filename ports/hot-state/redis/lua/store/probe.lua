-- Shows that Redis answers and accepts writes, and that it was not emptied, which would remove the mark; and that the caller is alive.
-- KEYS[1]  prefix; reads and writes epoch, heard, alive
-- ARGV     clock or '', a fresh mark, process (16 bytes) or '', since when it has kept answers back (Unix ms, by its own clock; now if
--          it keeps none)
-- Returns  the mark that is stored

note_heard()
if ARGV[3] ~= '' then
  store_processes(without_process(ARGV[3]) .. ARGV[3] .. struct.pack('>I6I6', NOW, tonumber(ARGV[4])))
end
redis.call('SET', PREFIX .. 'epoch', ARGV[2], 'NX')
return redis.call('GET', PREFIX .. 'epoch')
