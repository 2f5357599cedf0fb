-- Records that a receipt was issued, unless its state is known already.
-- KEYS[1]  prefix; reads r:<day>:<bucket>, writes i:<id>
-- ARGV     clock or '', ID, day, how long it is remembered (ms), previous or ''
-- Returns  nothing

if not find_state(ARGV[2], ARGV[3]) then keep(issued_key(ARGV[2]), ARGV[5], tonumber(ARGV[4])) end
