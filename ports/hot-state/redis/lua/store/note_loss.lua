-- Answers to installs may be missing here although nothing else is.
-- KEYS[1]  prefix; reads and writes whole, since, losses
-- ARGV     clock or '', generation, since when they were received (Unix ms)
-- Returns  nothing

note_loss(ARGV[2], tonumber(ARGV[3]))
