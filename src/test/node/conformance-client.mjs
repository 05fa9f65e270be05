// The client that the conformance suite starts. The client under test runs in the JVM of the test,
// which listens at the port of the first argument; the suite appends the URL of its server.
const [port, url] = process.argv.slice(2);
const answer = await fetch(`http://127.0.0.1:${port}/`, {
  method: 'POST',
  body: JSON.stringify({
    url,
    scenario: process.env.MCP_CONFORMANCE_SCENARIO,
    context: JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'),
  }),
});
console.error(await answer.text());
process.exit(answer.ok ? 0 : 1);
