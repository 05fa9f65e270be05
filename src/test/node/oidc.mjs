// An OpenID provider whose user is logged in as alice. The first time that a client asks, it gets
// the scope mcp:read only; from the second time on what it asks for. Prints its issuer.
import http from 'node:http';
import Provider from 'oidc-provider';

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
  ],
  scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:call'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    registration: { enabled: true },
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
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
});

provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) {
    await next();
    return;
  }
  const { params } = await provider.interactionDetails(ctx.req, ctx.res);
  const grant = new provider.Grant({ accountId: 'alice', clientId: params.client_id });
  const wanted = asked.has(params.client_id) ? params.scope : 'mcp:read';
  asked.add(params.client_id);
  const refused = params.scope.split(' ')
    .filter((scope) => scope.startsWith('mcp:') && !wanted.includes(scope)).join(' ');
  grant.addOIDCScope(`openid offline_access ${wanted}`);
  grant.rejectOIDCScope(refused);
  for (const resource of [params.resource].flat()) {
    grant.addResourceScope(resource, wanted);
    grant.rejectResourceScope(resource, refused);
  }
  const result = { login: { accountId: 'alice' }, consent: { grantId: await grant.save() } };
  ctx.respond = false;
  await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
});
server.on('request', provider.callback());
console.log(JSON.stringify({ issuer }));
