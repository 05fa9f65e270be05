"""The OpenAI Agents SDK as a client of an SSE door: lists and calls."""

import asyncio
import json
import sys

from agents.mcp import MCPServerSse


async def main(url):
    async with MCPServerSse({"url": url}, name="bridge") as server:
        tools = await server.list_tools()
        echo = await server.call_tool("echo", {"text": "grüße"})
        print(json.dumps({"tools": len(tools), "echo": echo.model_dump(mode="json", by_alias=True)}))


asyncio.run(main(*sys.argv[1:]))
