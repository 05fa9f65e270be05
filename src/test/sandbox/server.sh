#!/bin/busybox sh
# An MCP server in a shell, for containers that hold nothing else. Its tools try what a container
# must not allow, and say how far they came.

answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
text() {
  escaped=$(printf '%s' "$1" | busybox sed 's/\\/\\\\/g;s/"/\\"/g;s/\t/ /g' | busybox tr '\n' '|')
  answer "{\"content\":[{\"type\":\"text\",\"text\":\"$escaped\"}]}"
}
tool() { printf '{"name":"%s","inputSchema":{"type":"object"}}' "$1"; }
# A value without quotes or commas in it; no process is started for it, so that benches can use it.
argument() {
  value=
  case "$line" in *"\"$1\":"*) value=${line#*\"$1\":}; value=${value#\"}; value=${value%%[,\"\}]*} ;; esac
}

while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%[!0-9]*}
  case "$line" in
    *'"method":"server/discover"'*)
      printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      list=
      for name in echo pid sleep exit status write read root network environment memory forks disk spin stderr progress ask; do
        list="$list${list:+,}$(tool $name)"
      done
      answer "{\"tools\":[$list]}" ;;
    *'"method":"ping"'*) answer '{}' ;;
    *'"method":"tools/call"'*)
      name=${line#*\"params\":{\"name\":\"}
      name=${name%%\"*}
      case "$name" in
        echo) argument text; answer "{\"content\":[{\"type\":\"text\",\"text\":\"$value\"}]}" ;;
        pid) text "$(busybox hostname)" ;;
        sleep) argument seconds; busybox sleep "$value"; text slept ;;
        exit) busybox echo "the last words" >&2; argument code; exit "$value" ;;
        status) text "$(busybox grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp|Uid|Gid)' /proc/self/status) $(busybox id -u):$(busybox id -g)" ;;
        write) argument path; path=$value; argument text; text "$( (busybox echo "$value" > "$path") 2>&1 && busybox echo written)" ;;
        read) argument path; text "$(busybox cat "$value" 2>&1)" ;;
        root) text "$(busybox ls -a / /run /var 2>&1; busybox cat /proc/mounts)" ;;
        network) argument port; text "$(busybox ip addr 2>&1; printf "GET /health HTTP/1.0\r\n\r\n" | busybox nc -w 2 192.0.2.1 80 2>&1; printf "GET /health HTTP/1.0\r\n\r\n" | busybox nc -w 2 127.0.0.1 "$value" 2>&1)" ;;
        environment) text "$(busybox env)" ;;
        memory) busybox dd if=/dev/zero of=/dev/null bs=8G count=1 2>&1; x=$(busybox dd if=/dev/zero bs=1M count=8192 2>/dev/null | busybox tr '\0' 'x'); text "${#x}" ;;
        forks) n=0; while [ $n -lt 5000 ] && busybox sleep 60 & do n=$((n+1)); done 2>/dev/null; text "$n" ;;
        disk) text "$(busybox dd if=/dev/zero of=/tmp/big bs=1M count=10240 2>&1)" ;;
        spin) argument seconds; busybox timeout "$value" busybox sh -c 'while :; do :; done'; text spun ;;
        progress)
          token=$(printf '%s' "$line" | busybox sed -n 's/.*"progressToken":\([0-9]*\).*/\1/p')
          [ -n "$token" ] && printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2}}\n' "$token"
          text "done" ;;
        ask)
          argument what
          case "$value" in
            sampling/*) params='{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":9}' ;;
            elicitation/*) params='{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}' ;;
            *) params='{}' ;;
          esac
          printf '{"jsonrpc":"2.0","id":"q","method":"%s","params":%s}\n' "$value" "$params"
          IFS= read -r line
          text "$line" ;;
        stderr) busybox echo "words of warning" >&2; text said ;;
      esac ;;
  esac
done
