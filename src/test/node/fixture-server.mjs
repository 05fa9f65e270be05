// An MCP server with the tools, resources and prompts that the conformance suite asks for by name.
// Speaks both eras over stdio.
import { Server, inputRequired } from '@modelcontextprotocol/server';
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

const tools = {
  test_simple_text: ['Answers a text', object(), () =>
    text('This is a simple text response for testing.')],
  test_image_content: ['Answers an image', object(), () => ({
    content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] })],
  test_audio_content: ['Answers a sound', object(), () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] })],
  test_embedded_resource: ['Answers a resource', object(), () => ({
    content: [{ type: 'resource', resource: {
      uri: 'test://embedded-resource', mimeType: 'text/plain',
      text: 'This is an embedded resource content.' } }] })],
  test_multiple_content_types: ['Answers several kinds', object(), () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'resource', resource: {
        uri: 'test://mixed-content-resource', mimeType: 'application/json',
        text: '{"test":"data","value":123}' } }] })],
  test_tool_with_logging: ['Logs while it runs', object(), async (args, ctx) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', line);
      await pause(50);
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
      await pause(50);
    }
    return text(String(progressToken));
  }],
  test_error_handling: ['Fails on purpose', object(), () => ({
    ...text('This tool intentionally returns an error for testing'), isError: true })],
  test_sampling: ['Asks the client for a completion', object({ prompt: string('What to say') }, ['prompt']),
    async ({ prompt }, ctx) => {
      const answer = await ctx.mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 });
      return text(`LLM response: ${answer.content.text}`);
    }],
  test_elicitation: ['Asks the user', object({ message: string('What to ask') }, ['message']),
    ({ message }, ctx) => elicit(ctx, message, person)],
  test_elicitation_sep1034_defaults: ['Asks with defaults', object(), (args, ctx) =>
    elicit(ctx, 'Please review and update the form fields with defaults', defaults)],
  test_elicitation_sep1330_enums: ['Asks for choices', object(), (args, ctx) =>
    elicit(ctx, 'Please select options from the enum fields', enums)],
  json_schema_2020_12_tool: ['Has a schema with everything', schema2020, (args) =>
    text(`called with ${JSON.stringify(args)}`)],
  test_x_mcp_header: ['Mirrors an argument in a header',
    object({ region: { ...string('Where'), 'x-mcp-header': 'Region' } }), ({ region }) => text(`${region}`)],
  test_trigger_tool_change: ['Says that tools have changed', object(), async (args, ctx, server) => {
    await server.sendToolListChanged();
    return text('changed');
  }],
  test_update_resource: ['Says that a resource is another', object(), async (args, ctx, server) => {
    await server.sendResourceUpdated({ uri: 'test://watched-resource' });
    return text('updated');
  }],
  test_unchanged: ['Answers what must not be touched', object(), () => ({
    content: [], structuredContent: { exact: 12345678901234567000, 'ключ': [1.5, null, ''] },
    'x-unknown': { deep: ['kept'] }, _meta: { 'example.com/kept': true } })],
  test_slow: ['Runs until it is cancelled', object(), async (args, ctx) => {
    await new Promise((done) => {
      ctx.mcpReq.signal.addEventListener('abort', done);
      setTimeout(done, 30_000);
    });
    cancelled += ctx.mcpReq.signal.aborted ? 1 : 0;
    return text('over');
  }],
  test_cancelled: ['How many calls were cancelled', object(), () => text(String(cancelled))],
};
let cancelled = 0;

const resources = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content' },
};
const say = (value) => ({ messages: [{ role: 'user', content: { type: 'text', text: value } }] });
const argument = (name) => ({ name, description: `The ${name}`, required: true });
const prompts = {
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

function make() {
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
    return tool[2](request.params.arguments ?? {}, ctx, server);
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
  server.setRequestHandler('prompts/get', (request) => {
    const prompt = prompts[request.params.name];
    if (!prompt) throw failure(-32602, `Unknown prompt: ${request.params.name}`);
    return prompt[1](request.params.arguments ?? {});
  });
  server.setRequestHandler('completion/complete', (request) => ({
    completion: { values: [`${request.params.argument.value}-completed`], total: 1, hasMore: false },
  }));
  return server;
}

serveStdio(make);
