-- Shows that Redis answers and accepts writes, and that it was not emptied, which would remove the mark.
-- KEYS[1]  prefix; reads and writes epoch
-- ARGV     clock or '', a fresh mark
-- Returns  the mark that is stored

redis.call('SET', PREFIX .. 'epoch', ARGV[2], 'NX')
return redis.call('GET', PREFIX .. 'epoch')
