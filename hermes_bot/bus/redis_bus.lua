-- Every step of the redis backend, as a library of redis functions; LIBRARY stands for its name, which changes with
-- this text. One call takes a batch of operations and runs them as one atomic step.
--
-- keys[1]  the prefix of all keys of one bus; its {hash tag} keeps them in one slot of a cluster
-- args[1]  now in seconds since the epoch; empty: the server's clock
-- args[2]  the consumer (process) that calls
-- args[3]  '1' when an earlier call may have been carried out without its answer having arrived
-- args[4]  the operations, msgpack: a list of {name, argument ...}
-- Returns {one result for each operation, {agent, unfinished, not delayed, ...} for each agent whose queue changed}
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

-- Begin a turn; return the row, or nil where nothing is to be done.
local function begin(n, turn)
  local record = call('HMGET', P .. 'd:' .. n, 'b', 'f', 'v')
  if not record[3] then return nil end -- purged meanwhile
  local f, v = cmsgpack.unpack(record[2]), cmsgpack.unpack(record[3])
  if v[STATE] == 'retrying' then
    v[ATTEMPT] = v[ATTEMPT] + 1
    v[AGAIN] = true
  elseif v[STATE] ~= 'queued' then
    return nil -- cancelled meanwhile
  end
  move(f, v, 'running')
  v[TURN] = turn
  local variable = cmsgpack.pack(v)
  call('HSET', P .. 'd:' .. n, 'v', variable)
  return {n, record[1], record[2], variable}
end

-- Take up to `limit` entries from the most urgent band; several only where there is no other band.
local function take(agent, limit, found)
  local ready = P .. 'ready:' .. agent
  local bands = call('ZRANGE', ready, 0, 1)
  local band = bands[1]
  if not band then return false end
  local stream = stream_of(agent, band)
  local some = bands[2] and 1 or limit
  local got = call('XREADGROUP', 'GROUP', GROUP, me, 'COUNT', some, 'STREAMS', stream, '>')
  local after
  for _, entry in ipairs(got and got[1][2] or {}) do
    after = entry[1]
    local turn = band .. '/' .. after
    local leased = begin(entry[2][2], turn)
    if leased then found[#found + 1] = leased else end_turn(agent, turn) end
  end
  local head = after and call('XRANGE', stream, '(' .. after, '+', 'COUNT', 1)[1]
  if head then call('ZADD', ready, head[2][4], band) else call('ZREM', ready, band) end
  return true
end

-- Put a delivery that was leased back in its stream, unless its context was cancelled while it ran.
local function again(n, f, v)
  end_turn(f[AGENT], v[TURN])
  if was_cancelled(f, v) then
    finish(n, f, v, 'cancelled', '')
    leave_lane(f)
    return
  end
  v[TURN] = ''
  move(f, v, 'queued')
  write(n, v)
  offer(n, f)
end

-- Call `act(n, f, v)` for each (n, turn) that is still that turn.
local function still_leased(n, turn, act)
  local f, v = read(n)
  if f and v[TURN] == turn then act(n, f, v) end
end

local function each_stream(act)
  for _, name in ipairs(call('SMEMBERS', P .. 'streams')) do
    local agent, band = string.match(name, '^(.*)\n(%d+)$')
    act(agent, band, stream_of(agent, band))
  end
end

local run = {}

function run.open()
  call('HSETNX', P .. 'meta', 'version', VERSION)
  return call('HGET', P .. 'meta', 'version')
end

-- Since when nothing may be handled ('' for not at all), the id of the last order, and {context, when} for each after `id`.
function run.orders(id)
  local found, last = {}, id
  if id == '' then
    local newest = call('XREVRANGE', P .. 'orders', '+', '-', 'COUNT', 1)[1]
    last = newest and newest[1] or '0-0'
  else
    for _, entry in ipairs(call('XRANGE', P .. 'orders', '(' .. id, '+')) do
      last = entry[1]
      found[#found + 1] = {entry[2][2], entry[2][4]}
    end
  end
  return {call('HGET', P .. 'meta', 'paused') or '', last, found}
end

function run.pause(paused)
  if paused then
    call('HSETNX', P .. 'meta', 'paused', now)
  else
    call('HDEL', P .. 'meta', 'paused')
  end
  call('PUBLISH', P .. 'orders', '')
  return 1
end

-- {fixed, body, not_before} for each delivery; return which were new.
function run.publish(deliveries)
  local new = {}
  for i, each in ipairs(deliveries) do
    new[i] = add(each[1], each[2], each[3])
  end
  return new
end

function run.lease(agent, limit)
  local found = {}
  while #found < limit and take(agent, limit - #found, found) do end
  if #found < limit then
    call('SADD', P .. 'wait:' .. agent, me)
  else
    call('SREM', P .. 'wait:' .. agent, me)
  end
  return found
end

-- End a turn: state, error, result and outputs together; the lane is free unless it is retried. Return 0 where the lease
-- was lost.
function run.settle(n, turn, state, err, retry_in_s, result, outputs)
  local f, v = read(n)
  if not f then return 0 end
  if v[TURN] ~= turn then return v[LAST] == turn and 1 or 0 end
  end_turn(f[AGENT], turn)
  v[LAST] = turn
  if state == 'retrying' then
    move(f, v, state)
    v[TURN], v[ERROR], v[UPDATED] = '', err, now
    write(n, v)
    call('ZADD', P .. 'later', now + retry_in_s, n)
    return 1
  end
  finish(n, f, v, state, err)
  if result ~= '' then call('HSET', P .. 'd:' .. n, 'r', result) end
  run.publish(outputs)
  leave_lane(f)
  return 1
end

-- Return a delivery unfinished; `begun` says whether a handler may have seen it.
function run.hand_back(n, turn, begun)
  still_leased(n, turn, function(_, f, v)
    if begun and not was_cancelled(f, v) then
      v[AGAIN], v[QUEUED] = true, now
      call('ZADD', P .. 'since:' .. f[AGENT], now, n)
    end
    again(n, f, v)
  end)
  return 1
end

-- Return what this consumer was given without hearing of it: all its turns but the ones in `known`.
function run.reconcile(known)
  local heard = {}
  for _, turn in ipairs(known) do heard[turn] = true end
  each_stream(function(agent, band, stream)
    for _, pending in ipairs(call('XPENDING', stream, GROUP, '-', '+', 1000, me)) do
      local turn = band .. '/' .. pending[1]
      local entry = not heard[turn] and call('XRANGE', stream, pending[1], pending[1])[1]
      if entry then run.hand_back(entry[2][2], turn, false) end
    end
  end)
  return 1
end

-- Hold on to the turns: {agent, band, entry ...} for each stream.
function run.extend(held)
  for _, each in ipairs(held) do
    local command = {'XCLAIM', stream_of(each[1], each[2]), GROUP, me, 0}
    for i = 3, #each do command[#command + 1] = each[i] end
    command[#command + 1] = 'JUSTID'
    call(unpack(command))
  end
  return 1
end

-- Put what a consumer has held on to no longer than `lease_ms` back, with one more attempt; return how many.
function run.recover(lease_ms, limit)
  local recovered = 0
  each_stream(function(agent, band, stream)
    local claimed = call('XAUTOCLAIM', stream, GROUP, me, lease_ms, '0', 'COUNT', limit)[2]
    for _, entry in ipairs(claimed) do
      still_leased(entry[2][2], band .. '/' .. entry[1], function(n, f, v)
        v[AGAIN], v[ATTEMPT] = true, v[ATTEMPT] + 1
        again(n, f, v)
        recovered = recovered + 1
      end)
    end
  end)
  return recovered
end

-- Move what is due into its lane; return in how many milliseconds the next is due, -1 for none.
function run.promote(limit)
  for _, n in ipairs(call('ZRANGEBYSCORE', P .. 'later', '-inf', now, 'LIMIT', 0, limit)) do
    call('ZREM', P .. 'later', n)
    local f, v = read(n)
    if f and v[STATE] == 'delayed' then
      move(f, v, 'queued')
      write(n, v)
      touched[f[AGENT]] = true
      call('SREM', P .. 'delayed:' .. f[CONTEXT], n)
      join_lane(n, f)
    elseif f then
      offer(n, f)
    end
  end
  local first = call('ZRANGE', P .. 'later', 0, 0, 'WITHSCORES')
  return first[2] and math.max(0, math.ceil((first[2] - now) * 1000)) or -1
end

local function number_of(message_id, subscription)
  for _, name in ipairs(call('ZRANGEBYLEX', P .. 'ids', '[' .. message_id .. '\0', '(' .. message_id .. '\1')) do
    local n = string.match(name, '%z(%d+)$')
    local f, v = read(n)
    if f and f[SUBSCRIPTION] == subscription and DEAD[v[STATE]] then return n, f, v end
  end
end

-- Put a dead letter back at the end of its lane, as attempt 1.
function run.requeue(message_id, subscription)
  local n, f, v = number_of(message_id, subscription)
  if not n then return 0 end
  call('ZREM', P .. 'dead', n)
  move(f, v, 'queued')
  v[ATTEMPT], v[AGAIN], v[ERROR], v[QUEUED], v[UPDATED], v[LAST] = 1, true, '', now, 0, ''
  write(n, v)
  call('ZADD', P .. 'since:' .. f[AGENT], now, n)
  touched[f[AGENT]] = true
  join_lane(n, f)
  return 1
end

function run.drop(message_id, subscription)
  local n, f, v = number_of(message_id, subscription)
  if not n then return 0 end
  call('ZREM', P .. 'dead', n)
  finish(n, f, v, 'cancelled', v[ERROR])
  return 1
end

local function agents_of_all()
  local names, found = {}, {}
  for _, field in ipairs(call('HKEYS', P .. 'counts')) do
    local agent = string.match(field, '^(.*)\n')
    if not names[agent] then
      names[agent] = true
      found[#found + 1] = agent
    end
  end
  return found
end

-- Cancel what waits in the context; return how many. Who runs one of it is told by the order.
function run.cancel(context)
  local number = 0
  local function cancel(n)
    local f, v = read(n)
    if not f or v[STATE] == 'running' then return false end
    call('ZREM', P .. 'later', n)
    finish(n, f, v, 'cancelled', '')
    number = number + 1
    return true
  end
  for _, agent in ipairs(agents_of_all()) do
    local lane = P .. 'lane:' .. agent .. '\n' .. context
    for _, n in ipairs(call('LRANGE', lane, 0, -1)) do
      if cancel(n) then call('LREM', lane, 1, n) end
    end
  end
  for _, n in ipairs(call('SMEMBERS', P .. 'delayed:' .. context)) do cancel(n) end
  call('DEL', P .. 'delayed:' .. context)
  call('ZADD', P .. 'cancelled', now, context)
  call('XADD', P .. 'orders', 'MAXLEN', '~', 1000, '*', 'c', context, 'at', now)
  call('PUBLISH', P .. 'orders', '')
  return number
end

-- Forget what ended before now - keep_s; return how many.
function run.purge(keep_s, limit)
  local old = call('ZRANGEBYSCORE', P .. 'finals', '-inf', now - keep_s, 'LIMIT', 0, limit)
  for _, n in ipairs(old) do
    local f, v = read(n)
    call('ZREM', P .. 'finals', n)
    call('ZREM', P .. 'order', n)
    if f then
      call('HDEL', P .. 't:' .. f[TASK], f[SUBSCRIPTION])
      call('ZREM', P .. 'ids', f[ID] .. '\0' .. n)
      count(f[AGENT], v[STATE], -1)
      call('DEL', P .. 'd:' .. n)
    end
  end
  call('ZREMRANGEBYSCORE', P .. 'cancelled', '-inf', now - keep_s)
  return #old
end

-- Have the sizes of these agents' queues told, of all where none is named.
function run.sizes(agents)
  if #agents == 0 then agents = agents_of_all() end
  for _, agent in ipairs(agents) do touched[agent] = true end
  return 1
end

function run.counts()
  return call('HGETALL', P .. 'counts')
end

-- {agent, since when, ...}: what has waited longest of what is in no final state.
function run.oldest()
  local found = {}
  for _, agent in ipairs(agents_of_all()) do
    local first = call('ZRANGE', P .. 'since:' .. agent, 0, 0, 'WITHSCORES')
    if first[2] then
      found[#found + 1] = agent
      found[#found + 1] = first[2]
    end
  end
  return found
end

function run.result(task, subscription)
  local n = call('HGET', P .. 't:' .. task, subscription)
  return n and call('HGET', P .. 'd:' .. n, 'r') or ''
end

-- One page, newest first, of `index` (order or dead), from number `below` on down.
function run.page(index, below, limit)
  return rows(call('ZREVRANGEBYSCORE', P .. index, below, '-inf', 'LIMIT', 0, limit))
end

-- One page of what is in no final state for the agent, from `start` on.
function run.waiting(agent, start, limit)
  return rows(call('ZRANGE', P .. 'since:' .. agent, start, start + limit - 1))
end

-- All deliveries whose message id is between `first` and `last`, as ZRANGEBYLEX has it.
function run.named(first, last)
  local numbers = {}
  for _, name in ipairs(call('ZRANGEBYLEX', P .. 'ids', first, last)) do
    numbers[#numbers + 1] = string.match(name, '%z(%d+)$')
  end
  return rows(numbers)
end

-- Wake another consumer for what this one was rung for and has no idle worker to take.
function run.ring(agent)
  offered[agent] = (offered[agent] or 0) + 1
  return 1
end

-- Say goodbye: wait for nothing more; leave the groups where nothing is held.
function run.leave(agents)
  for _, agent in ipairs(agents) do call('SREM', P .. 'wait:' .. agent, me) end
  each_stream(function(_, _, stream)
    if #call('XPENDING', stream, GROUP, '-', '+', 1, me) == 0 then
      call('XGROUP', 'DELCONSUMER', stream, GROUP, me)
    end
  end)
  return 1
end

local function ring()
  for agent, times in pairs(offered) do
    while times > 0 do
      local waiter = call('SPOP', P .. 'wait:' .. agent)
      if not waiter then break end
      if call('PUBLISH', P .. 'bell:' .. waiter, agent) > 0 then times = times - 1 end
    end
  end
end

local function sizes()
  local told = {}
  for agent in pairs(touched) do
    local fields = {}
    for i, state in ipairs(UNFINISHED) do fields[i] = agent .. '\n' .. state end
    local numbers = call('HMGET', P .. 'counts', unpack(fields))
    local active = (numbers[1] or 0) + (numbers[2] or 0) + (numbers[3] or 0)
    told[#told + 1] = agent
    told[#told + 1] = active + (numbers[4] or 0)
    told[#told + 1] = active
  end
  return told
end

local function invoke(keys, args)
  P, me, repeated, now, call = keys[1] .. ':', args[2], args[3] == '1', tonumber(args[1]), redis.call
  if not now then
    local time = call('TIME')
    now = time[1] + time[2] / 1000000
  end
  changed, touched, offered = {}, {}, {}
  local results = {}
  for i, operation in ipairs(cmsgpack.unpack(args[4])) do
    results[i] = run[operation[1]](unpack(operation, 2))
  end
  for field, by in pairs(changed) do
    if by ~= 0 then call('HINCRBY', P .. 'counts', field, by) end
  end
  ring()
  return {results, sizes()}
end

-- The second runs also when redis is out of memory: what it does makes room in the end.
redis.register_function{function_name = 'LIBRARY_publish', callback = invoke}
redis.register_function{function_name = 'LIBRARY_work', callback = invoke, flags = {'allow-oom'}}
