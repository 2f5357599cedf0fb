-- Records that a receipt is active or revoked; an active one revokes the one it replaced. States only move forward.
-- KEYS[1]  prefix; reads and writes r:<day>:<bucket>, deletes i:<id> of both receipts
-- ARGV     clock or '', ID, day, how long states are kept past their day (ms), 'active' or 'revoked', previous or ''
-- Returns  nothing

local day, keep_ms = tonumber(ARGV[3]), tonumber(ARGV[4])
if ARGV[5] == 'revoked' then
  move_state(ARGV[2], day, keep_ms, revoked_from, string.sub(ARGV[6], 21) ~= UNKNOWN)
else
  make_active(ARGV[2], day, ARGV[6], keep_ms)
end
