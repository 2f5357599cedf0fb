-- Records which generation of the store is complete again; ignored if the store was emptied or has lost something meanwhile.
-- KEYS[1]  prefix; reads epoch, losses; writes whole; deletes since
-- ARGV     clock or '', mark in epoch, generation, how often something had been lost
-- Returns  nothing

if redis.call('GET', PREFIX .. 'epoch') == ARGV[2] and (redis.call('GET', PREFIX .. 'losses') or '0') == ARGV[4] then
  redis.call('SET', PREFIX .. 'whole', ARGV[3])
  redis.call('DEL', PREFIX .. 'since')
end
