"""The Python SDK as a server: over stdio, or over HTTP on a port that it prints, until stdin ends."""

import os
import socket
import sys
import threading
from typing import Annotated

import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("python-sdk", log_level="WARNING")


class Sum(BaseModel):
    total: float
    words: list[str]


class Count(BaseModel):
    count: int


async def how_many() -> Elicit[Count]:
    return Elicit("How many?", Count)


@server.tool()
def add(numbers: list[float], word: str) -> Sum:
    """Adds numbers."""
    return Sum(total=sum(numbers), words=[word])


@server.tool()
def fail() -> str:
    """Fails."""
    raise ToolError("it failed")


@server.tool()
async def ask(answer: Annotated[Count, Resolve(how_many)]) -> str:
    """Asks the client how many."""
    return f"{answer.count} it is"


@server.tool()
async def steps(ctx: Context) -> str:
    """Makes progress."""
    for i in range(3):
        await ctx.report_progress(i + 1, 3)
    return "finished"


@server.resource("memo://note")
def note() -> str:
    """A note."""
    return "grüße"


@server.prompt()
def greet(whom: str) -> str:
    """Greets."""
    return f"hello {whom}"


def end_with_stdin():
    sys.stdin.buffer.read()
    os._exit(0)


def serve(app):
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


match sys.argv[1]:
    case "stdio":
        server.run()
    case "http":
        serve(server.streamable_http_app())
    case "sse":
        serve(server.sse_app())
