-- Reads a value that can be taken once, without deleting it.
-- KEYS[1]  prefix; reads o:<key>
-- ARGV     clock or '', key
-- Returns  the value, or nothing

return kept(PREFIX .. 'o:' .. ARGV[2])
