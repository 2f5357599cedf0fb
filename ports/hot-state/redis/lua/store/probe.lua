-- Shows that Redis answers and accepts writes, and that it was not emptied, which would remove the mark; and that the caller is alive.
-- KEYS[1]  prefix; reads and writes epoch, heard, alive
-- ARGV     clock or '', a fresh mark, process (16 bytes) or '', since when it has kept answers back (Unix ms, by its own clock; now if
--          it keeps none), '1' if it keeps some, '1' if Redis was away for it until now
-- Returns  the mark that is stored; '' if it is of another form, in which nothing is written

redis.call('SET', PREFIX .. 'epoch', FORM .. ARGV[2], 'NX')
local mark = redis.call('GET', PREFIX .. 'epoch')
if string.sub(mark, 1, #FORM) ~= FORM then return '' end
note_heard(ARGV[6] == '1')
if ARGV[3] ~= '' then note_process(ARGV[3], tonumber(ARGV[4]), ARGV[5] == '1') end
return mark
