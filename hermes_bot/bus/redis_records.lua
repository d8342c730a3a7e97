-- Every step of the redis backend, as a library of redis functions: redis_records.lua, redis_steps.lua and
-- redis_looks.lua, one after the other. LIBRARY stands for its name, which changes with the text. One call takes a batch of operations and runs them as one atomic step.
--
-- keys[1]  the prefix of all keys of one bus; its {hash tag} keeps them in one slot of a cluster
-- args[1]  now in seconds since the epoch; empty: the server's clock
-- args[2]  the consumer (process) that calls
-- args[3]  '1' when an earlier call may have been carried out without its answer having arrived
-- args[4]  the operations, msgpack: a list of {name, argument ...}
-- Returns {one result for each operation, {time in us, {agent, unfinished, not delayed} for each agent whose queue
-- changed, without the inner braces}}
--
-- Every operation can be repeated: it finds that it was done already and answers the same.
--
-- A delivery has a number n, given in publish order. Keys, each after the prefix:
--   d:<n>             hash: b = message (JSON), f = fixed and v = variable fields (msgpack, see below), r = result (JSON)
--   t:<task>          hash: subscription -> n; what is known, so that it is not added twice
--   q:<agent>:<band>  stream: heads of lanes that may run, one band for each priority; group `workers` leases them
--   ready:<agent>     sorted set: band -> urgency of its first entry that nobody has
--   lane:<agent>\n<context>  list: the deliveries of a lane in publish order; the first one holds the lane
--   later             sorted set: n -> when it is due (delayed or to be retried)
--   delayed:<context> set: n of those that will join their lane later
--   since:<agent>     sorted set: n -> since when it waits, or will; what is in no final state
--   order, dead       sorted sets: n; all, and the dead letters
--   finals            sorted set: n -> when it ended, for the purge
--   ids               sorted set by name: <message id>\0<n>
--   wait:<agent>      set: consumers with an idle worker; each is rung on its channel bell:<consumer>
--   counts            hash: <agent>\n<state> -> how many
--   streams           set: <agent>\n<band>;   seq: the last n
--   meta              hash: the version of all this; paused, since when nothing may be handled
--   cancelled         sorted set: context -> when it was cancelled;   orders: stream of the same, for who works now

local P, me, repeated, now, call -- of the call under way
local changed, touched, offered

local VERSION = 1
local GROUP = 'workers'
local STEP_S = 5 -- what one step of priority is worth in seconds of waiting
local HIGHEST = 10
local ID, TASK, SUBSCRIPTION, AGENT, CONTEXT, PRIORITY = 1, 2, 3, 4, 6, 7 -- fixed; 5 is the branch
local STATE, ATTEMPT, AGAIN, ERROR, QUEUED, UPDATED, TURN, LAST = 1, 2, 3, 4, 5, 6, 7, 8 -- variable
local DEAD = {dead = true, expired = true, suspended = true}
local UNFINISHED = {'queued', 'running', 'retrying', 'delayed'}

local function read(n)
  local record = call('HMGET', P .. 'd:' .. n, 'f', 'v')
  if not record[2] then return nil end
  return cmsgpack.unpack(record[1]), cmsgpack.unpack(record[2])
end

local function write(n, v)
  call('HSET', P .. 'd:' .. n, 'v', cmsgpack.pack(v))
end

local function count(agent, state, by)
  local field = agent .. '\n' .. state
  changed[field] = (changed[field] or 0) + by
end

-- Change the state, in the record's table and in the counts.
local function move(f, v, state)
  count(f[AGENT], v[STATE], -1)
  count(f[AGENT], state, 1)
  v[STATE] = state
end

local function stream_of(agent, band)
  return P .. 'q:' .. agent .. ':' .. band
end

local function lane_of(f)
  return P .. 'lane:' .. f[AGENT] .. '\n' .. f[CONTEXT]
end

-- Put the head of a lane in its stream.
local function offer(n, f)
  local agent = f[AGENT]
  local band = math.max(0, math.min(HIGHEST, f[PRIORITY]))
  local stream = stream_of(agent, band)
  local urgency = now - band * STEP_S
  if not call('XADD', stream, 'NOMKSTREAM', '*', 'n', n, 'u', urgency) then
    call('XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM')
    call('SADD', P .. 'streams', agent .. '\n' .. band)
    call('XADD', stream, '*', 'n', n, 'u', urgency)
  end
  call('ZADD', P .. 'ready:' .. agent, 'NX', urgency, band)
  offered[agent] = (offered[agent] or 0) + 1
end

local function join_lane(n, f)
  if call('RPUSH', lane_of(f), n) == 1 then offer(n, f) end
end

local function leave_lane(f)
  local lane = lane_of(f)
  call('LPOP', lane)
  local head = call('LINDEX', lane, 0)
  if head then offer(head, (read(head))) end
end

-- A turn is '<band>/<stream entry>': one lease of one delivery. It ends when the entry leaves the stream.
local function end_turn(agent, turn)
  local band, entry = string.match(turn, '^(%d+)/(.+)$')
  local stream = stream_of(agent, band)
  call('XACK', stream, GROUP, entry)
  call('XDEL', stream, entry)
end

-- Return 1 when the delivery is new. `not_before` is in seconds, 0 for at once.
local function add(f, body, not_before)
  local agent = f[AGENT]
  local task = P .. 't:' .. f[TASK]
  local n = string.format('%d', call('INCR', P .. 'seq'))
  if call('HSETNX', task, f[SUBSCRIPTION], n) == 0 then
    if not repeated then return 0 end
    local same = read(call('HGET', task, f[SUBSCRIPTION]))
    return same and same[ID] == f[ID] and 1 or 0
  end
  local delayed = not_before > now
  local v = {delayed and 'delayed' or 'queued', 1, false, '', now, 0, '', ''}
  call('HSET', P .. 'd:' .. n, 'b', body, 'f', cmsgpack.pack(f), 'v', cmsgpack.pack(v))
  call('ZADD', P .. 'order', n, n)
  call('ZADD', P .. 'ids', 0, f[ID] .. '\0' .. n)
  call('ZADD', P .. 'since:' .. agent, math.max(now, not_before), n)
  count(agent, v[STATE], 1)
  touched[agent] = true
  if delayed then
    call('ZADD', P .. 'later', not_before, n)
    call('SADD', P .. 'delayed:' .. f[CONTEXT], n)
  else
    join_lane(n, f)
  end
  return 1
end

-- Bring a delivery to a final state. Its lane is the caller's business.
local function finish(n, f, v, state, err)
  move(f, v, state)
  v[TURN], v[ERROR], v[UPDATED] = '', err, now
  write(n, v)
  call('ZREM', P .. 'since:' .. f[AGENT], n)
  if DEAD[state] then call('ZADD', P .. 'dead', n, n) else call('ZADD', P .. 'finals', now, n) end
  touched[f[AGENT]] = true
end

local function was_cancelled(f, v)
  local at = call('ZSCORE', P .. 'cancelled', f[CONTEXT])
  return at and v[QUEUED] <= tonumber(at)
end

-- Return the delivery whole, for a reader: {n, body, fixed, variable}.
local function row(n)
  local record = call('HMGET', P .. 'd:' .. n, 'b', 'f', 'v')
  return record[3] and {n, record[1], record[2], record[3]} or nil
end

local function rows(numbers)
  local found = {}
  for _, n in ipairs(numbers) do
    found[#found + 1] = row(n)
  end
  return found
end
