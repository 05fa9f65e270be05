// The TypeScript SDK as a client of the bridge: lists tools, calls them, and accepts elicitations.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, mode] = process.argv.slice(2);
const client = new Client(
  { name: 'test', version: '1.0.0' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode } });
const asked = [];
client.setRequestHandler('elicitation/create', (request) => {
  asked.push(request.params.message);
  return { action: 'accept', content: { confirm: true } };
});
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools();
const echo = await client.callTool({ name: 's__echo', arguments: { text: 'grüße' } });
const gated = await client.callTool({ name: 'other__big', arguments: { size: 3 } });
console.log(JSON.stringify({ tools: tools.length, echo, gated, asked }));
await client.close();
