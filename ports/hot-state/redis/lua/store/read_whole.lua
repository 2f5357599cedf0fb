-- KEYS[1]  prefix; reads whole
-- ARGV     clock or ''
-- Returns  the generation of the store that is complete, or ''

return redis.call('GET', PREFIX .. 'whole') or ''
