#!/bin/sh
# An MCP server in a shell, small enough to be read: it looks, remembers, and runs what it is told.

answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }

text() {
  said=$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g' | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }')
  answer "{\"content\":[{\"type\":\"text\",\"text\":\"$said\"}]}"
}

argument() {
  printf '%b' "$(printf '%s' "$line" | sed -n "s/.*\"$1\":\"\(\([^\"\\\\]\|\\\\.\)*\)\".*/\1/p" | sed 's/\\"/"/g')"
}

tool() {
  printf '{"name":"%s","description":"%s","inputSchema":{"type":"object","properties":{%s},"required":[%s]}}' "$@"
}

while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer "{\"tools\":[$(tool look 'What is remembered' '' ''),$(
        tool remember 'Keeps a note' '"text":{"type":"string"}' '"text"'),$(
        tool run 'Runs a command in a shell' '"command":{"type":"string"}' '"command"')]}" ;;
    *'"method":"tools/call","params":{"name":"look"'*) text "$(cat /tmp/notes 2>/dev/null || echo nothing)" ;;
    *'"method":"tools/call","params":{"name":"remember"'*)
      argument text >> /tmp/notes && echo >> /tmp/notes
      text remembered ;;
    *'"method":"tools/call","params":{"name":"run"'*) text "$(sh -c "$(argument command)" 2>&1)" ;;
    *'"method":"ping"'*) answer '{}' ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
  esac
done
