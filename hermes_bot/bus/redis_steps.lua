-- The way of a delivery: leased, settled, handed back, recovered, promoted. Follows redis_records.lua.

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

-- Put a delivery that was leased back in its stream, unless its context was cancelled and nobody heard of that.
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
-- was lost. What is `postponed` is retried without having used up an attempt.
function run.settle(n, turn, state, err, retry_in_s, result, outputs, postponed)
  local f, v = read(n)
  if not f then return 0 end
  if v[TURN] ~= turn then return v[LAST] == turn and 1 or 0 end
  end_turn(f[AGENT], turn)
  v[LAST] = turn
  if state == 'retrying' then
    move(f, v, state)
    v[TURN], v[ERROR], v[UPDATED] = '', err, now
    if postponed then v[ATTEMPT] = v[ATTEMPT] - 1 end -- it begins this one anew
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
    if begun then -- its queued_at is now, so an earlier cancellation does not count: the worker was told of that
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
