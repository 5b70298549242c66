-- The load generator's side of one workload, for wrk. What stands before this file when it runs:
-- file_name (all requests, one after the other), lengths and sources (one entry a request).
-- The threads of one run start at different places of the list, so that they do not march in step.
local requests, threads, made = {}, {}, 0
local ffi = require('ffi')
ffi.cdef 'typedef struct { long s; long us; } bench_time; int gettimeofday(bench_time *, void *);'
local time = ffi.new('bench_time')

local function now()
  ffi.C.gettimeofday(time, nil)
  return tonumber(time.s) + tonumber(time.us) / 1e6
end

function setup(thread)
  thread:set('number', made)
  made = made + 1
  table.insert(threads, thread)
end

-- Arguments: count or fast, number of threads, seconds after which to drain (0: never), mean pause
-- of a connection in milliseconds (0: none).
function init(args)
  local counting, share, seconds = args[1] == 'count', tonumber(args[2]), tonumber(args[3])
  local pause = tonumber(args[4])
  statuses, sent, open, probes = {}, {}, 0, number == 0 and 1 or 0
  local file = assert(io.open(file_name, 'rb'))
  for i, length in ipairs(lengths) do requests[i] = file:read(length) end
  file:close()
  at = math.floor(number * #lengths / share)
  began = now()
  ending = began + seconds
  if pause > 0 then
    math.randomseed(number + 1)
    -- wrk waits whole milliseconds: the rest of one is a chance of one more.
    delay = function() return math.floor(-math.log(1 - math.random()) * pause + math.random()) end
  elseif seconds == 0 then
    delay = nil
  end
  if not counting then
    response = nil
    request = function()
      at = at % #requests + 1
      return requests[at]
    end
  end
end

function request()
  at = at % #requests + 1
  if probes > 0 then
    -- The load generator looks at one request before it starts.
    probes = probes - 1
    return requests[at]
  end
  local source = tostring(sources[at])
  sent[source] = (sent[source] or 0) + 1
  open = open + 1
  return requests[at]
end

function delay()
  if now() < ending then return 0 end
  return 3600000
end

function response(status)
  local name = tostring(status)
  statuses[name] = (statuses[name] or 0) + 1
  open = open - 1
  if delay and open == 0 and now() >= ending then
    io.write(string.format('DRAINED %d\n', (now() - began) * 1e6))
    io.flush()
  end
end

local function object(name)
  local sums, parts = {}, {}
  for _, thread in ipairs(threads) do
    for key, value in pairs(thread:get(name) or {}) do sums[key] = (sums[key] or 0) + value end
  end
  for key, value in pairs(sums) do parts[#parts + 1] = string.format('"%s":%d', key, value) end
  return '{' .. table.concat(parts, ',') .. '}'
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\nREPORT {"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"p999Us":%d,',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    latency:percentile(99.9)))
  io.write(string.format(
    '"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d},',
    e.connect, e.read, e.write, e.timeout, e.status))
  io.write('"statuses":' .. object('statuses') .. ',"sent":' .. object('sent') .. '}\n')
end
