#!/usr/bin/env bash
# Three nodes and a load balancer on this machine; needs nginx, and a bridge that was built.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT

node() {
  exec target/mcp-bridge serve --config conf/cluster.json --cluster \
    --node "node$1" --cluster-port "78$(($1 - 1))0" --port "300$1" >"$work/node$1.log" 2>&1
}
for n in 1 2 3; do node "$n" & pids[n]=$!; done

cat >"$work/nginx.conf" <<NGINX
daemon off;
pid $work/nginx.pid;
error_log $work/nginx.log;
events {}
http {
  access_log off;
  upstream bridge {
    hash \$remote_addr\$http_mcp_session_id consistent;
    server 127.0.0.1:3001 max_fails=1 fail_timeout=2s;
    server 127.0.0.1:3002 max_fails=1 fail_timeout=2s;
    server 127.0.0.1:3003 max_fails=1 fail_timeout=2s;
  }
  server {
    listen 127.0.0.1:3000;
    location / {
      proxy_pass http://bridge;
      proxy_http_version 1.1;
      proxy_set_header Host 127.0.0.1:3000;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 1h;
      # a call is never sent twice: only a connection that was not made goes to the next node
      proxy_next_upstream error non_idempotent;
      proxy_next_upstream_tries 1;
    }
  }
}
NGINX
for n in 1 2 3; do
  until curl -sf "http://127.0.0.1:300$n/health/ready" >/dev/null; do sleep 0.2; done
done
nginx -c "$work/nginx.conf" &

url=http://127.0.0.1:3000
until curl -s "$url/health/live" >/dev/null; do sleep 0.2; done
curl -s "$url/servers/git" | grep -o '"node":"[^"]*"'
owner=$(curl -s "$url/servers/git" | grep -o '"node":"node[0-9]' | grep -o '[0-9]$')
echo "killing node $owner, which runs it"
kill -9 "${pids[owner]}"
for other in 1 2 3; do
  [ "$other" = "$owner" ] && continue
  curl -s --max-time 20 -X POST "http://127.0.0.1:300$other/servers/git/tools/list_repositories"
  echo
done
curl -s "http://127.0.0.1:300$other/servers/git" | grep -o '"node":"[^"]*"'
