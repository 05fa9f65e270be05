// The TypeScript SDK logs in to a bridge, and again when a call needs another scope.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [url, mode] = process.argv.slice(2);
const REDIRECT = 'http://127.0.0.1:9/callback';

/** Follows redirects like a browser until the client's own address. */
async function browse(address) {
  const cookies = new Map();
  for (let next = address; ;) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name, ...value] = set.split(';')[0].split('=');
      cookies.set(name, value.join('='));
    }
    const location = answer.headers.get('location');
    if (!location) throw new Error(`${answer.status} ${await answer.text()}`);
    next = new URL(location, next);
    if (next.href.startsWith(REDIRECT)) return next.searchParams;
  }
}

const login = {
  authorizations: [],
  redirectUrl: REDIRECT,
  clientMetadata: {
    client_name: 'test', redirect_uris: [REDIRECT], grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'], token_endpoint_auth_method: 'none', application_type: 'native',
  },
  clientInformation() { return this.information; },
  saveClientInformation(information) { this.information = information; },
  tokens() { return this.saved; },
  saveTokens(tokens) { this.saved = tokens; },
  saveCodeVerifier(verifier) { this.verifier = verifier; },
  codeVerifier() { return this.verifier; },
  async redirectToAuthorization(address) {
    this.authorizations.push(address.searchParams.get('scope'));
    this.callback = await browse(address);
  },
};

let transport;
let client;
async function connect() {
  client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: login });
  await client.connect(transport);
}

/** Does something, after another log-in if it needs one. */
async function withLogin(action) {
  try {
    return await action();
  } catch (failure) {
    if (!login.callback) throw failure;
    const parameters = login.callback;
    login.callback = undefined;
    await transport.finishAuth(parameters);
    return await action();
  }
}

await withLogin(connect);
const { tools } = await client.listTools();
const echo = await withLogin(() => client.callTool({ name: 'echo', arguments: { text: 'grüße' } }));
console.log(JSON.stringify({ tools: tools.length, echo, authorizations: login.authorizations }));
await client.close();
