"""The Python SDK as a client of the bridge: lists, calls, and accepts what it is asked."""

import asyncio
import json
import sys

from mcp import Client
from mcp.types import ElicitResult


async def main(url, mode):
    asked = []

    async def accept(context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    async with Client(url, mode=mode, elicitation_callback=accept) as client:
        tools = (await client.list_tools()).tools
        echo = await client.call_tool("s__echo", {"text": "grüße"})
        gated = await client.call_tool("other__big", {"size": 3})
        results = {
            name: result.model_dump(mode="json", by_alias=True)
            for name, result in {"echo": echo, "gated": gated}.items()
        }
        print(json.dumps({"tools": len(tools), "asked": asked, **results}))


asyncio.run(main(*sys.argv[1:]))
