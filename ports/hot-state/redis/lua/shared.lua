-- The beginning of the combined script: the clock of all verbs, and the form of receipts, leases and answers in Redis. The text of
-- each verb's file becomes a function of the verb's own arguments, ARGV; run.lua comes last.
--
-- Every value that expires begins with the time when it does (6 bytes, Unix ms). That time decides; the expiry of the key only
-- frees memory, a minute later. Every key of a verb begins with KEYS[1], and is named in its header.

local PREFIX = KEYS[1]
-- Begins the mark of the store. Until 0.1.0 is published, the form is changed in place.
local FORM = '1:'
local DAY_MS = 86400000
local GRACE_MS = 60000
-- A hash of at most this many short fields stays one flat block of memory (hash-max-listpack-entries).
local FULL = 128
-- States, as in domain/receipt-states.ts: active with nothing replaced, or the reference of the receipt that an active one replaced;
-- revoked; the same while it is not known which one it had replaced, or whether it was active at all.
local ACTIVE, REVOKED, REVOKED_OPEN, REVOKED_UNSEEN = '1', '2', '3', '4'
-- In place of that reference: it is not known yet which receipt was replaced.
local UNKNOWN = string.rep('\0', 16)

-- The server's clock is the clock of all processes; only tests pass another one.
local SERVER_MS = nil
local function clock_ms(given)
  if given ~= '' then return tonumber(given) end
  if not SERVER_MS then
    local time = redis.call('TIME')
    SERVER_MS = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return SERVER_MS
end

-- For the verb that is running; set before each.
local NOW = 0

local function until_of(value)
  return (struct.unpack('>I6', value))
end

-- Writes a value that expires after `for_ms`.
local function keep(key, value, for_ms)
  redis.call('SET', key, struct.pack('>I6', NOW + for_ms) .. value, 'PX', for_ms + GRACE_MS)
end

-- What `keep` wrote, if it has not expired; else nil.
local function kept(key)
  local value = redis.call('GET', key)
  if value and until_of(value) > NOW then return string.sub(value, 7) end
  return nil
end

local function issued_key(id)
  return PREFIX .. 'i:' .. id
end

-- The bucket that holds a receipt's state; or false, and the bucket where it belongs. A day has 4,096 hashes. A full one is
-- continued by 16 others, and each of these by 16 more, so that hashes are neither long nor many, however many receipts a day has.
local function find_state(id, day)
  local field = string.sub(id, 1, 8)
  local name = PREFIX .. 'r:' .. day .. ':' .. string.sub(string.format('%02x%02x%02x', string.byte(id, 9, 11)), 1, 5)
  for cut = -3, -2 do
    local bucket = string.sub(name, 1, cut)
    local state = redis.call('HGET', bucket, field)
    if state then return state, bucket end
    if redis.call('HLEN', bucket) < FULL then return false, bucket end
  end
  return redis.call('HGET', name, field), name
end

-- The state replaces the entry of the issued receipt. All states in a bucket expire together.
local function set_state(id, bucket, state, expires_in_ms)
  redis.call('HSET', bucket, string.sub(id, 1, 8), state)
  if redis.call('HLEN', bucket) == 1 then redis.call('PEXPIRE', bucket, expires_in_ms) end
  redis.call('DEL', issued_key(id))
end

local function expires_in_ms(day, keep_ms)
  return (day + 1) * DAY_MS + keep_ms - NOW
end

local function is_revoked(state)
  return state == REVOKED or state == REVOKED_OPEN or state == REVOKED_UNSEEN
end

-- What a state becomes if the receipt was replaced; `is_seen`: it is known whether it had been active.
local function revoked_from(state, is_seen)
  if state == UNKNOWN then return REVOKED_OPEN end
  if not state and not is_seen then return REVOKED_UNSEEN end
  if not is_revoked(state) or (state == REVOKED_UNSEEN and is_seen) then return REVOKED end
  return state
end

-- What a state becomes if the receipt is active, or was, and replaced what `replaced` says.
local function active_from(state, replaced)
  if not state then return replaced end
  if replaced == UNKNOWN then return state == REVOKED_UNSEEN and REVOKED_OPEN or state end
  if is_revoked(state) then return REVOKED end
  return state == UNKNOWN and replaced or state
end

local function move_state(id, day, keep_ms, become, with)
  local left_ms = expires_in_ms(day, keep_ms)
  if left_ms <= 0 then return end
  local state, bucket = find_state(id, day)
  local next = become(state, with)
  if next ~= state then set_state(id, bucket, next, left_ms) end
end

-- `previous` is empty or the ID (16 bytes), day (4 bytes) and reference of the receipt that this one revokes; zeros if
-- that one is unknown. An unknown predecessor is filled in; a known one stays.
local function make_active(id, day, previous, keep_ms)
  local replaced = previous == '' and ACTIVE or string.sub(previous, 21)
  move_state(id, day, keep_ms, active_from, replaced)
  if previous == '' or replaced == UNKNOWN then return end
  move_state(string.sub(previous, 1, 16), (struct.unpack('>I4', string.sub(previous, 17, 20))), keep_ms, revoked_from, false)
end

-- A count is a whole number; once a request was refused, it is stored as -(count + 1).
local function count_of(stored)
  local number = tonumber(stored or 0)
  if number < 0 then return -number - 1, true end
  return number, false
end

-- The value of an event: its claim; a decision (with the claim's end and owner, if any); the answer; or an answer that a
-- decision will replace.
local CLAIMED, DECIDED, SETTLED, OPEN = 'L', 'D', 'A', 'P'

local function owner_of(held)
  if string.sub(held, 1, 1) == CLAIMED then return string.sub(held, 2) end
  return string.sub(held, 9, 8 + string.byte(held, 8))
end

local function decision_of(held)
  return string.sub(held, 9 + string.byte(held, 8))
end

local function is_settled(held)
  local kind = string.sub(held, 1, 1)
  return kind == SETTLED or kind == OPEN
end

-- For an event that is not settled.
local function is_held_by_other(held, owner)
  if owner_of(held) == owner then return false end
  return string.sub(held, 1, 1) == CLAIMED or until_of(string.sub(held, 2)) > NOW
end

local function keep_decision(key, owner, held_until, decision, for_ms)
  keep(key, DECIDED .. struct.pack('>I6', held_until) .. string.char(#owner) .. owner .. decision, for_ms)
end

-- The value of an installation: its kind, when the deciding event was received, and the matched visit or the event that is awaited.
local MATCHED, AWAITS = '\2', '\3'

local function note_installation(key, received_ms, kind, what, for_ms)
  local known = kept(key)
  local known_ms = known and until_of(string.sub(known, 2)) or 0
  if known_ms <= received_ms then keep(key, kind .. struct.pack('>I6', received_ms) .. what, for_ms) end
end

-- A decision that is kept may have been stored. Until that is known, what is known of the installation counts.
local function await_event(key, event, for_ms)
  redis.call('SET', key, struct.pack('>I6', NOW + for_ms) .. AWAITS .. struct.pack('>I6', 0) .. event, 'NX', 'PX', for_ms + GRACE_MS)
end

local function await_no_more(key, event)
  local known = kept(key)
  if known and string.sub(known, 1, 1) == AWAITS and string.sub(known, 8) == event then redis.call('DEL', key) end
end

-- Processes that keep answers in their own memory while Redis is away: for each its ID (16 bytes), when it was last heard to keep
-- nothing back, or 0 (6 bytes), and since when it kept answers back as it said last (6 bytes). What it said may have waited in a
-- connection while Redis hung.
local PROCESS_BYTES = 28
-- Probes come every second from each process: after so long none came from any, and one of them has missed some.
local SILENT_MS, MISSED_MS = 5000, 3000

local function processes()
  return redis.call('GET', PREFIX .. 'alive') or ''
end

local function store_processes(all)
  if all == '' then redis.call('DEL', PREFIX .. 'alive') else redis.call('SET', PREFIX .. 'alive', all) end
end

-- The others; and when this one was heard, or 0.
local function without_process(id)
  local all = processes()
  for at = 1, #all, PROCESS_BYTES do
    if string.sub(all, at, at + 15) == id then
      local others = string.sub(all, 1, at - 1) .. string.sub(all, at + PROCESS_BYTES)
      return others, until_of(string.sub(all, at + 16, at + 21))
    end
  end
  return all, 0
end

-- Since when those that were not heard since `before_ms` may have kept answers back, or nil if there are none; and the others.
local function gone_processes(before_ms)
  local all, oldest, left = processes(), nil, ''
  for at = 1, #all, PROCESS_BYTES do
    local heard_ms, since_ms = struct.unpack('>I6I6', string.sub(all, at + 16, at + 27))
    if heard_ms < before_ms then
      oldest = math.min(oldest or since_ms, since_ms)
    else
      left = left .. string.sub(all, at, at + PROCESS_BYTES - 1)
    end
  end
  return oldest, left
end

-- When the latest probe came, since when they have come without a pause, and when a process last came back from being away, or 0;
-- nil before the first probe.
local function read_heard()
  local heard = redis.call('GET', PREFIX .. 'heard')
  if not heard then return end
  local latest_ms, steady_ms, back_ms = struct.unpack('>I6I6I6', heard)
  return latest_ms, steady_ms, back_ms
end

local function note_heard(was_away)
  local latest_ms, steady_ms, back_ms = read_heard()
  local was_silent = not latest_ms or NOW - latest_ms > SILENT_MS
  back_ms = was_away and NOW or back_ms or 0
  redis.call('SET', PREFIX .. 'heard', struct.pack('>I6I6I6', NOW, was_silent and NOW or steady_ms, back_ms))
end

-- A process that keeps something back was last heard when it kept nothing.
local function note_process(id, since_ms, keeps)
  local others, heard_ms = without_process(id)
  store_processes(others .. id .. struct.pack('>I6I6', keeps and heard_ms or NOW, since_ms))
end

-- Whether a process may hold answers and states that are not here: it has not been heard for some seconds, or not since another
-- one came back that had not reached Redis either. Until it is heard again, or restored, what is not here may still exist.
local function may_lack_news()
  local _, _, back_ms = read_heard()
  local all, before_ms = processes(), math.max(back_ms or 0, clock_ms('') - MISSED_MS)
  for at = 17, #all, PROCESS_BYTES do
    if until_of(string.sub(all, at, at + 5)) < before_ms then return true end
  end
  return false
end

-- Since when (Unix ms) answers are missing in this generation of the store, or nil if everything may be missing.
local function missing_since(generation)
  local since, of = string.match(redis.call('GET', PREFIX .. 'since') or '', '^(%d+) (.*)$')
  if of == generation then return tonumber(since) end
end

-- If everything must be restored already, that includes these answers.
local function note_loss(generation, since_ms)
  redis.call('INCRBY', PREFIX .. 'losses', 1)
  local is_whole = redis.call('GET', PREFIX .. 'whole') == generation
  local since = missing_since(generation)
  if is_whole then redis.call('DEL', PREFIX .. 'whole') end
  if is_whole or (since and since > since_ms) then
    redis.call('SET', PREFIX .. 'since', string.format('%.0f %s', since_ms, generation))
  end
end
