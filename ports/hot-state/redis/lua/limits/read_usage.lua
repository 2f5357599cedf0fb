-- Reads how many tracked events an organisation has in a month.
-- KEYS[1]  prefix; reads u:<month>:<organisation>
-- ARGV     clock or '', month and organisation
-- Returns  the number

return (count_of(redis.call('GET', PREFIX .. 'u:' .. ARGV[2])))
