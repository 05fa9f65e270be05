"""The Python SDK logs in to a bridge, and again when a call needs another scope."""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

REDIRECT = "http://127.0.0.1:9/callback"
authorizations = []
callbacks = []


class Storage:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def browse(address):
    """Follows redirects like a browser until the client's own address."""
    authorizations.append(parse_qs(urlparse(address).query).get("scope", [None])[0])
    async with httpx2.AsyncClient() as browser:
        while not address.startswith(REDIRECT):
            answer = await browser.get(address)
            assert answer.is_redirect, (answer.status_code, answer.text)
            address = str(answer.url.join(answer.headers["location"]))
    callbacks.append(parse_qs(urlparse(address).query))


async def callback():
    parameters = callbacks.pop()
    return AuthorizationCodeResult(
        code=parameters["code"][0],
        state=parameters["state"][0],
        iss=parameters.get("iss", [None])[0],
    )


async def main(url):
    metadata = OAuthClientMetadata(
        client_name="test",
        redirect_uris=[REDIRECT],
        token_endpoint_auth_method="none",
        application_type="native",
    )
    auth = OAuthClientProvider(url, metadata, Storage(), browse, callback)
    async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            tools = await client.list_tools()
            echo = await client.call_tool("echo", {"text": "grüße"})
    print(
        json.dumps(
            {
                "tools": len(tools.tools),
                "echo": echo.model_dump(by_alias=True, mode="json"),
                "authorizations": authorizations,
            }
        )
    )


asyncio.run(main(sys.argv[1]))
