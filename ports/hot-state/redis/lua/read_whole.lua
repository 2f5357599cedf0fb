-- KEYS[1]  prefix; reads whole
-- ARGV     clock or ''
-- Returns  which life of the store knows all that it was ever told, or ''

return redis.call('GET', PREFIX .. 'whole') or ''
