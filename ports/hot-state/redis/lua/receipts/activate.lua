-- Makes an issued receipt active and revokes the one it replaces, both at once.
-- KEYS[1]  prefix; reads and writes r:<day>:<bucket>, i:<id> of both receipts
-- ARGV     clock or '', ID, day, how long states are kept past their day (ms)
-- Returns  kind; with 'activated' and 'already_active' the reference of the revoked receipt, '', or zeros (unknown)

local id, day = ARGV[2], tonumber(ARGV[3])
local state = find_state(id, day)
if is_revoked(state) then return { 'revoked' } end
if state then return { 'already_active', state == ACTIVE and '' or state } end
local previous = kept(issued_key(id))
if not previous then return { 'unknown' } end
make_active(id, day, previous, tonumber(ARGV[4]))
return { 'activated', string.sub(previous, 21) }
