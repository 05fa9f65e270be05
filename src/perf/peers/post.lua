-- Posts BODY with the header lines of HEADERS; ID in it is another number each time.
local id = 1
local body = os.getenv("BODY")
local headers = {}
for name, value in os.getenv("HEADERS"):gmatch("([^:\n]+): ([^\n]+)") do
  headers[name] = value
end

request = function()
  id = id + 1
  local text = body:gsub("ID", tostring(id))
  return wrk.format("POST", nil, headers, text)
end

done = function(summary, latency)
  local failed = summary.errors.status + summary.errors.connect + summary.errors.read
    + summary.errors.write + summary.errors.timeout
  io.write(string.format("%.0f %.2f %.2f %d\n", summary.requests / (summary.duration / 1e6),
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
