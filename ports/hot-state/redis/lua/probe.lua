-- Shows that Redis answers and takes writes, and that it still holds what it held: whoever empties it takes the mark away.
-- KEYS[1]  prefix; reads and writes epoch
-- ARGV     clock or '', a fresh mark
-- Returns  the mark that stands

redis.call('SET', PREFIX .. 'epoch', ARGV[2], 'NX')
return redis.call('GET', PREFIX .. 'epoch')
