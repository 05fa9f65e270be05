// An MCP server with the tools, resources and prompts that the conformance suite requires.
// Supports both eras over stdio; with --http over Streamable HTTP (/mcp) and HTTP+SSE (/sse,
// /messages) on a free port, which it prints. Exits when its stdin is closed.
import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable, pipeline } from 'node:stream';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import {
  Server, WebStandardStreamableHTTPServerTransport, createMcpHandler, inputRequired, isLegacyRequest,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const object = (properties = {}, required = []) => ({ type: 'object', properties, required });
const string = (description) => ({ type: 'string', description });

const person = object({ username: string('Name'), email: string('Address') }, ['username', 'email']);
const defaults = object({
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
});
const titled = (pairs) => pairs.map(([value, title]) => ({ const: value, title }));
const three = [['value1', 'First Option'], ['value2', 'Second Option'], ['value3', 'Third Option']];
const enums = object({
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled(three) },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled(three) } },
});
const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

async function elicit(ctx, message, requestedSchema) {
  const answer = await ctx.mcpReq.elicitInput({ message, requestedSchema });
  return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
}

const SECRET = 'only this process knows it';
const signed = (state) => `${state}.${createHmac('sha256', SECRET).update(state).digest('hex')}`;
function verified(state) {
  const plain = String(state).split('.')[0];
  if (signed(plain) !== state) throw failure(-32602, 'requestState was modified');
  return plain;
}
const form = (message, name, type = 'string') =>
  inputRequired.elicit({ message, requestedSchema: object({ [name]: { type } }, [name]) });
const say50 = () => inputRequired.createMessage({
  messages: [{ role: 'user', content: { type: 'text', text: 'Generate a greeting' } }], maxTokens: 50 });
const inputOf = (ctx, key) => ctx.mcpReq.inputResponses?.[key];
/** A handler that requires input until all responses are present, then returns them as text. */
const requiring = (requests, state) => (args, ctx) => {
  if (state && ctx.mcpReq.requestState() !== undefined) verified(ctx.mcpReq.requestState());
  if (!Object.keys(requests).every((key) => inputOf(ctx, key))) {
    return inputRequired({
      inputRequests: Object.fromEntries(Object.entries(requests).map(([key, make]) => [key, make()])),
      ...(state ? { requestState: signed(state) } : {}),
    });
  }
  return text(`state-ok ${JSON.stringify(ctx.mcpReq.inputResponses)}`);
};
const declared = (ctx) => ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};

const tools = {
  test_input_required_result_elicitation: ['Requests a name', object(), (args, ctx) =>
    inputOf(ctx, 'user_name')
      ? text(`Hello, ${inputOf(ctx, 'user_name').content?.name}!`)
      : inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } })],
  test_input_required_result_sampling: ['Requests a completion', object(),
    requiring({ capital_question: say50 })],
  test_input_required_result_list_roots: ['Requests the roots', object(),
    requiring({ client_roots: () => inputRequired.listRoots() })],
  test_input_required_result_request_state: ['Stores its state at the client', object(),
    requiring({ confirm: () => form('Please confirm', 'ok', 'boolean') }, 'request-state')],
  test_input_required_result_tampered_state: ['Signs its state', object(),
    requiring({ confirm: () => form('Please confirm', 'ok', 'boolean') }, 'tampered-state')],
  test_input_required_result_multiple_inputs: ['Requests three inputs', object(),
    requiring({ user_name: () => form('What is your name?', 'name'), greeting: say50,
      client_roots: () => inputRequired.listRoots() }, 'multiple-inputs')],
  test_input_required_result_multi_round: ['Requests input twice', object(), (args, ctx) => {
    const state = ctx.mcpReq.requestState();
    const round = state === undefined ? 'none' : verified(state);
    if (round === 'none') {
      return inputRequired({ inputRequests: { step1: form('Step 1: What is your name?', 'name') },
        requestState: signed('round-1') });
    }
    if (round === 'round-1') {
      return inputRequired({ inputRequests: { step2: form('Step 2: What is your favorite color?', 'color') },
        requestState: signed('round-2') });
    }
    return text('both rounds are over');
  }],
  test_input_required_result_capabilities: ['Requests only supported input', object(), (args, ctx) => {
    const requests = {};
    if (declared(ctx).elicitation) requests.name = form('What is your name?', 'name');
    if (declared(ctx).sampling) requests.greeting = say50();
    return inputOf(ctx, 'greeting') ? text('asked') : inputRequired({ inputRequests: requests });
  }],
  test_missing_capability: ['Requires sampling', object(), (args, ctx) => {
    if (!declared(ctx).sampling) {
      throw failure(-32021, 'Sampling is required', { requiredCapabilities: { sampling: {} } });
    }
    return text('fine');
  }],
  test_streaming_elicitation: ['Requests input on a stream', object(), (args, ctx) =>
    inputOf(ctx, 'user_name')
      ? text('asked')
      : inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } })],
  test_logging_tool: ['Logs a message', object(), async (args, ctx) => {
    await ctx.mcpReq.log('info', 'a line');
    return text('logged');
  }],
  test_trigger_prompt_change: ['Notifies of changed prompts', object(), async (args, ctx, server) => {
    prompts[`grown_${Object.keys(prompts).length}`] = [[], () => say('grown')];
    await server.sendPromptListChanged();
    return text('changed');
  }],
  test_trigger_resource_change: ['Notifies of changed resources', object(), async (args, ctx, server) => {
    resources[`test://grown_${Object.keys(resources).length}`] = { mimeType: 'text/plain', text: 'grown' };
    await server.sendResourceListChanged();
    return text('changed');
  }],
  test_simple_text: ['Returns a text', object(), () =>
    text('This is a simple text response for testing.')],
  test_image_content: ['Returns an image', object(), () => ({
    content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] })],
  test_audio_content: ['Returns an audio clip', object(), () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] })],
  test_embedded_resource: ['Returns a resource', object(), () => ({
    content: [{ type: 'resource', resource: {
      uri: 'test://embedded-resource', mimeType: 'text/plain',
      text: 'This is an embedded resource content.' } }] })],
  test_multiple_content_types: ['Returns several content types', object(), () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'resource', resource: {
        uri: 'test://mixed-content-resource', mimeType: 'application/json',
        text: '{"test":"data","value":123}' } }] })],
  test_tool_with_logging: ['Logs while it runs', object(), async (args, ctx) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', line);
      await pause(10);
    }
    return text('Tool with logging executed successfully');
  }],
  test_tool_with_progress: ['Reports progress', object(), async (args, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` },
        });
      }
      await pause(10);
    }
    return text(String(progressToken));
  }],
  test_error_handling: ['Fails on purpose', object(), () => ({
    ...text('This tool intentionally returns an error for testing'), isError: true })],
  test_sampling: ['Requests a completion of the client', object({ prompt: string('The prompt') }, ['prompt']),
    async ({ prompt }, ctx) => {
      const answer = await ctx.mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 });
      return text(`LLM response: ${answer.content.text}`);
    }],
  test_elicitation: ['Elicits input of the user', object({ message: string('The message') }, ['message']),
    ({ message }, ctx) => elicit(ctx, message, person)],
  test_elicitation_sep1034_defaults: ['Elicits input with defaults', object(), (args, ctx) =>
    elicit(ctx, 'Please review and update the form fields with defaults', defaults)],
  test_elicitation_sep1330_enums: ['Elicits choices', object(), (args, ctx) =>
    elicit(ctx, 'Please select options from the enum fields', enums)],
  json_schema_2020_12_tool: ['Has a schema with many keywords', schema2020, (args) =>
    text(`called with ${JSON.stringify(args)}`)],
  test_x_mcp_header: ['Mirrors an argument in a header',
    object({ region: { ...string('The region'), 'x-mcp-header': 'Region' } }), ({ region }) => text(`${region}`)],
  test_trigger_tool_change: ['Notifies of changed tools', object(), async (args, ctx, server) => {
    tools[`grown_${Object.keys(tools).length}`] = ['Has grown', object(), () => text('grown')];
    await server.sendToolListChanged();
    return text('changed');
  }],
  test_update_resource: ['Notifies of an updated resource', object({ uri: string('The resource') }), async (args, ctx, server) => {
    await server.sendResourceUpdated({ uri: args.uri ?? 'test://watched-resource' });
    return text('updated');
  }],
  test_unchanged: ['Returns a result that must not be modified', object(), () => ({
    content: [], structuredContent: { exact: 12345678901234567000, 'ключ': [1.5, null, ''] },
    'x-unknown': { deep: ['kept'] }, _meta: { 'example.com/kept': true } })],
  test_slow: ['Runs until it is cancelled', object(), async (args, ctx) => {
    started += 1;
    await new Promise((done) => {
      ctx.mcpReq.signal.addEventListener('abort', done);
      setTimeout(done, 30_000);
    });
    cancelled += ctx.mcpReq.signal.aborted ? 1 : 0;
    return text('over');
  }],
  test_started: ['Returns the number of started slow calls', object(), () => text(String(started))],
  test_cancelled: ['Returns the number of cancelled calls', object(), () => text(String(cancelled))],
};
let started = 0;
let cancelled = 0;

const resources = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content' },
};
const say = (value) => ({ messages: [{ role: 'user', content: { type: 'text', text: value } }] });
const argument = (name) => ({ name, description: `The ${name}`, required: true });
const prompts = {
  test_input_required_result_prompt: [[], (args, ctx) =>
    inputOf(ctx, 'user_context')
      ? say(`In the context of ${inputOf(ctx, 'user_context').content?.context}`)
      : inputRequired({ inputRequests: {
        user_context: form('What context should the prompt use?', 'context') } })],
  test_simple_prompt: [[], () => say('This is a simple prompt for testing.')],
  test_prompt_with_arguments: [[argument('arg1'), argument('arg2')], ({ arg1, arg2 }) =>
    say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  test_prompt_with_embedded_resource: [[argument('resourceUri')], ({ resourceUri }) => ({
    messages: [
      { role: 'user', content: { type: 'resource', resource: {
        uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } } },
      { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
    ] })],
  test_prompt_with_image: [[], () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
    ] })],
};

function failure(code, message, data) {
  return Object.assign(new Error(message), { code, data });
}

/** @param everyone sends change notifications to all clients; undefined for a single client */
function make(everyone) {
  const server = new Server(
    { name: 'fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true }, resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true }, logging: {}, completions: {},
      },
      instructions: 'A fixture for tests.',
    });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(tools).map(([name, [description, inputSchema]]) => ({ name, description, inputSchema })),
  }));
  server.setRequestHandler('tools/call', async (request, ctx) => {
    const tool = tools[request.params.name];
    if (!tool) throw failure(-32602, `Unknown tool: ${request.params.name}`);
    return tool[2](request.params.arguments ?? {}, ctx, everyone ?? server);
  });
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({
      uri, name: uri.slice(7), description: `The resource ${uri}`, mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{
      uriTemplate: 'test://template/{id}/data', name: 'template', description: 'By id',
      mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', (request) => {
    const { uri } = request.params;
    const id = /^test:\/\/template\/(.*)\/data$/.exec(uri)?.[1];
    if (id) {
      return { contents: [{ uri, mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }] };
    }
    if (!resources[uri]) throw failure(-32002, 'Resource not found', { uri });
    return { contents: [{ uri, ...resources[uri] }] };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([name, [args]]) => ({
      name, description: `The prompt ${name}`, arguments: args })),
  }));
  server.setRequestHandler('prompts/get', (request, ctx) => {
    const prompt = prompts[request.params.name];
    if (!prompt) throw failure(-32602, `Unknown prompt: ${request.params.name}`);
    return prompt[1](request.params.arguments ?? {}, ctx);
  });
  server.setRequestHandler('completion/complete', (request) => ({
    completion: { values: [`${request.params.argument.value}-completed`], total: 1, hasMore: false },
  }));
  return server;
}

async function serveHttp() {
  const streamable = new Map();
  const sse = new Map();
  const notify = (publish, send) => {
    publish(stateless.notify);
    return Promise.all([...streamable.values(), ...sse.values()].map(({ server }) => send(server)));
  };
  const everyone = {
    sendToolListChanged: () => notify((n) => n.toolsChanged(), (server) => server.sendToolListChanged()),
    sendPromptListChanged: () => notify((n) => n.promptsChanged(), (server) => server.sendPromptListChanged()),
    sendResourceListChanged: () =>
      notify((n) => n.resourcesChanged(), (server) => server.sendResourceListChanged()),
    sendResourceUpdated: (params) =>
      notify((n) => n.resourceUpdated(params.uri), (server) => server.sendResourceUpdated(params)),
  };
  const stateless = createMcpHandler(() => make(everyone), { legacy: 'reject' });

  async function session(request) {
    const id = request.headers.get('mcp-session-id');
    if (id) {
      return streamable.get(id)?.transport.handleRequest(request) ?? new Response(null, { status: 404 });
    }
    const server = make(everyone);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => { streamable.set(sessionId, { server, transport }); },
      onsessionclosed: (sessionId) => { streamable.delete(sessionId); },
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  }

  /** Converts Node.js requests to web requests, and web responses to Node.js responses. */
  async function handle(req, res) {
    const disconnected = new AbortController();
    res.on('close', () => disconnected.abort());
    const request = new Request(`http://${req.headers.host}${req.url}`, {
      method: req.method, headers: req.headers, duplex: 'half', signal: disconnected.signal,
      body: req.method === 'GET' ? undefined : Readable.toWeb(req) });
    const answer = await ((await isLegacyRequest(request)) ? session(request) : stateless.fetch(request));
    res.writeHead(answer.status, Object.fromEntries(answer.headers)).flushHeaders();
    if (answer.body) pipeline(Readable.fromWeb(answer.body), res, () => {});
    else res.end();
  }

  async function openSse(res) {
    const server = make(everyone);
    const transport = new SSEServerTransport('/messages', res);
    sse.set(transport.sessionId, { server, transport });
    res.on('close', () => sse.delete(transport.sessionId));
    await server.connect(transport);
  }

  const http = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url, 'http://localhost');
    const posted = sse.get(searchParams.get('sessionId'))?.transport;
    let done;
    if (pathname === '/mcp') done = handle(req, res);
    else if (pathname === '/sse' && req.method === 'GET') done = openSse(res);
    else if (pathname === '/messages' && posted) done = posted.handlePostMessage(req, res);
    else done = res.writeHead(pathname === '/sse' ? 405 : 404).end();
    Promise.resolve(done).catch(() => res.headersSent ? res.destroy() : res.writeHead(500).end());
  });
  http.listen(0, '127.0.0.1', () => console.log(`listening ${http.address().port}`));
  process.stdin.resume().on('end', () => process.exit(0));
}

if (process.argv.includes('--http')) serveHttp();
else serveStdio(() => make());
