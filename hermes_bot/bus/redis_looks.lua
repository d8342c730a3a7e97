-- What people do and look for, and the entry points. Follows redis_steps.lua.

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

-- Put `body` in place of a finished delivery's message, with no error and no result; a dead letter is dropped.
function run.blank(n, body)
  local f, v = read(n)
  if not f then return 0 end
  for _, state in ipairs(UNFINISHED) do
    if v[STATE] == state then return 0 end
  end
  if DEAD[v[STATE]] then
    call('ZREM', P .. 'dead', n)
    finish(n, f, v, 'cancelled', '')
  else
    v[ERROR] = ''
    write(n, v)
  end
  call('HSET', P .. 'd:' .. n, 'b', body)
  call('HDEL', P .. 'd:' .. n, 'r')
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

-- The time comes first: answers of two connections may be read in another order than they were given.
local function sizes()
  local time = call('TIME')
  local told = {time[1] * 1000000 + time[2]}
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
