"""Generates a client from the shop's document, and calls the shop with it.

Arguments: the document's file, a folder for what is generated, the bridge's address.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

document, folder, address = sys.argv[1:]
programs = Path(sys.executable).parent
subprocess.run(
    [programs / "openapi-python-client", "generate", "--meta", "none", "--fail-on-warning",
     "--path", document, "--output-path", folder],
    env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
    stdout=sys.stderr,
    check=True,
)
sys.path.insert(0, str(Path(folder).parent))
package = importlib.import_module(Path(folder).name)
models = importlib.import_module(f"{package.__name__}.models")
client = package.Client(base_url=address)
total = importlib.import_module(f"{package.__name__}.api.shop.total")
refund = importlib.import_module(f"{package.__name__}.api.shop.refund")
result = total.sync(client=client, body=models.TotalInput.from_dict({"currency": "EUR"}))
asked = refund.sync(client=client, body=models.RefundInput())
decision = {"confirm": True, "token": asked.token}
answer = client.get_httpx_client().post(f"/confirmations/{asked.confirmation_id}", json=decision)
refunded = models.ToolResult.from_dict(answer.raise_for_status().json())
said = {
    "total": {
        "type": type(result).__name__,
        "currency": result.structured_content.arguments.currency,
    },
    "refund": {"type": type(asked).__name__, "tool": asked.tool_name},
    "refunded": {"type": type(refunded).__name__},
}
print(json.dumps(said))
