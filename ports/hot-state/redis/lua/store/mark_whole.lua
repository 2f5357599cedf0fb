-- Records which generation of the store is complete again; ignored if the store was emptied meanwhile.
-- KEYS[1]  prefix; reads epoch, writes whole
-- ARGV     clock or '', mark in epoch, generation
-- Returns  nothing

if redis.call('GET', PREFIX .. 'epoch') == ARGV[2] then redis.call('SET', PREFIX .. 'whole', ARGV[3]) end
