"""A server with one tool, from nothing but the standard library."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    results = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": sys.version},
        },
        "ping": {},
        "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [], "structuredContent": request.get("params", {}).get("arguments", {})},
    }
    method = request["method"]
    answer = {"result": results[method]} if method in results else {"error": {"code": -32601, "message": method}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
