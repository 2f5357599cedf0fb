-- Shows that Redis answers and accepts writes, and that it was not emptied, which would remove the mark; and that the caller is alive.
-- KEYS[1]  prefix; reads and writes epoch, heard, alive
-- ARGV     clock or '', a fresh mark, process (16 bytes) or '', since when it has kept answers back (Unix ms, by its own clock; now if
--          it keeps none), '1' if it keeps some, '1' if Redis was away for it until now; earlier releases send neither of the last two
-- Returns  the mark that is stored

note_heard(ARGV[6] == '1')
if ARGV[3] ~= '' then note_process(ARGV[3], tonumber(ARGV[4]), ARGV[5] == '1') end
redis.call('SET', PREFIX .. 'epoch', ARGV[2], 'NX')
return redis.call('GET', PREFIX .. 'epoch')
