// An OpenID provider whose user is logged in as alice, or as the cookie "user" says. The first time
// that a client asks for alice, it gets the scope mcp:read only; from the second time on, and for
// other users, what it asks for. The user dana is in the group developers.
// Called with the redirect URIs of its clients "app" (that of "other" too) and "pages", of which the latter has several. Prints its issuer.
import http from 'node:http';
import Provider from 'oidc-provider';

const [app = 'http://127.0.0.1:9/app', pages = 'http://127.0.0.1:9/pages'] = process.argv.slice(2);
const server = http.createServer();
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;
const asked = new Set();

const provider = new Provider(issuer, {
  clients: [
    { client_id: 'machine', client_secret: 'machine-secret', redirect_uris: [], response_types: [],
      grant_types: ['client_credentials'] },
    { client_id: 'bridge', client_secret: 'bridge-secret', redirect_uris: [], response_types: [],
      grant_types: [] },
    { client_id: 'app', client_secret: 'app-secret', redirect_uris: [app], application_type: 'native' },
    { client_id: 'other', client_secret: 'other-secret', redirect_uris: [app], application_type: 'native' },
    { client_id: 'pages', client_secret: 'pages-secret', redirect_uris: pages.split(' '),
      application_type: 'native' },
  ],
  scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:call'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    registration: { enabled: true },
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (ctx, resource) => ({
        scope: 'mcp:read mcp:call',
        audience: resource,
        accessTokenFormat: resource.endsWith('/opaque') ? 'opaque' : 'jwt',
      }),
    },
  },
  extraTokenClaims: (ctx, token) => (token.accountId === 'dana' ? { groups: ['developers'] } : {}),
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
});

provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) {
    await next();
    return;
  }
  const { params } = await provider.interactionDetails(ctx.req, ctx.res);
  const accountId = ctx.cookies.get('user') ?? 'alice';
  const grant = new provider.Grant({ accountId, clientId: params.client_id });
  const wanted = asked.has(params.client_id) || accountId !== 'alice' ? params.scope : 'mcp:read';
  asked.add(params.client_id);
  const refused = params.scope.split(' ')
    .filter((scope) => scope.startsWith('mcp:') && !wanted.includes(scope)).join(' ');
  grant.addOIDCScope(`openid offline_access ${wanted}`);
  grant.rejectOIDCScope(refused);
  for (const resource of [params.resource ?? []].flat()) {
    grant.addResourceScope(resource, wanted);
    grant.rejectResourceScope(resource, refused);
  }
  const result = { login: { accountId }, consent: { grantId: await grant.save() } };
  ctx.respond = false;
  await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
});
server.on('request', provider.callback());
console.log(JSON.stringify({ issuer }));
