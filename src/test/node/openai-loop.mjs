// The official OpenAI SDK with a scripted model: two turns of tool calls through the bridge and a
// final answer. The model rejects conversations that OpenAI's API would reject.
import { createServer } from 'node:http';
import OpenAI from 'openai';

const [bridge, mode] = process.argv.slice(2);
const calls = (...all) => all.map(([id, name, args]) => ({
  id, type: 'function', function: { name, arguments: JSON.stringify(args) } }));
const script = [
  { content: null, tool_calls: calls(
    ['call_slow', 's__sleep', { ms: 100 }], ['call_echo', 's__echo', { text: 'grüße' }]) },
  { content: 'One more.', tool_calls: calls(['call_big', 's__big', { size: 3 }]) },
];
const turns = [];

function validationError({ messages, tools }) {
  if (!tools?.length) return 'no tools';
  for (const { type, function: f } of tools) {
    if (type !== 'function' || !/^[A-Za-z0-9_-]{1,64}$/.test(f.name)) return `bad tool ${f?.name}`;
    if (f.parameters?.type !== 'object') return `bad parameters of ${f.name}`;
    const { properties = {}, required, additionalProperties } = f.parameters;
    if (f.strict && (additionalProperties !== false
      || JSON.stringify(Object.keys(properties)) !== JSON.stringify(required ?? []))) {
      return `${f.name} is not strict`;
    }
  }
  if (new Set(tools.map((tool) => tool.function.name)).size !== tools.length) return 'duplicate tool';
  let open = [];
  for (const { role, content, tool_calls, tool_call_id } of messages) {
    if (role === 'tool') {
      if (typeof content !== 'string') return 'the content of a tool message is not a string';
      if (tool_call_id !== open.shift()) return `${tool_call_id} does not answer the next open call`;
    } else if (open.length > 0) {
      return `${open} was not answered before the next message`;
    } else if (role === 'assistant') {
      open = (tool_calls ?? []).map((call) => call.id);
    } else if (role !== 'system' && role !== 'user') {
      return `unknown role ${role}`;
    }
  }
  return open.length > 0 ? `${open} was not answered` : undefined;
}

function next({ messages }) {
  const answers = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  return script[messages.filter(({ role }) => role === 'assistant').length]
    ?? { content: `I heard ${answers.join(', ')}.` };
}

/** A streamed message: first the id and name of a call, then its arguments in two chunks. */
function chunks({ content, tool_calls = [] }, finish_reason) {
  const deltas = [{ role: 'assistant', content }];
  tool_calls.forEach((call, index) => {
    const { name, arguments: all } = call.function;
    deltas.push({ tool_calls: [{ ...call, index, function: { name, arguments: '' } }] });
    for (const part of [all.slice(0, 4), all.slice(4)]) {
      deltas.push({ tool_calls: [{ index, function: { arguments: part } }] });
    }
  });
  const chunk = (delta, reason) => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1,
    model: 'scripted', choices: [{ index: 0, delta, finish_reason: reason }] });
  return [...deltas.map((delta) => chunk(delta, null)), chunk({}, finish_reason)]
    .map((data) => `data: ${JSON.stringify(data)}\n\n`).join('') + 'data: [DONE]\n\n';
}

const model = createServer(async (req, res) => {
  let text = '';
  for await (const part of req.setEncoding('utf8')) text += part;
  const request = JSON.parse(text);
  const error = validationError(request);
  turns.push(request.messages.map(({ role }) => role));
  if (error || req.url !== '/v1/chat/completions') {
    res.writeHead(400, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ error: { message: error ?? req.url, type: 'invalid_request_error' } }));
    return;
  }
  const message = next(request);
  const finish_reason = message.tool_calls ? 'tool_calls' : 'stop';
  if (request.stream) {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).end(chunks(message, finish_reason));
    return;
  }
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({
    id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'scripted',
    choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...message }, finish_reason }] }));
});
await new Promise((done) => model.listen(0, '127.0.0.1', done));

const openai = new OpenAI({
  baseURL: `http://127.0.0.1:${model.address().port}/v1`, apiKey: 'none', maxRetries: 0 });
async function ask(request) {
  if (mode === 'stream') return (await openai.chat.completions.stream(request).finalChatCompletion());
  return openai.chat.completions.create(request);
}
async function json(response) {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status} ${await response.text()}`);
  return response.json();
}

const { tools } = await json(await fetch(`${bridge}/toolcall/tools?strict=${mode === 'stream'}`));
const messages = [
  { role: 'system', content: 'Use the tools.' }, { role: 'user', content: 'Do what the script says.' }];
let message;
for (let turn = 0; turn < 5; turn++) {
  ({ message } = (await ask({ model: 'scripted', messages, tools })).choices[0]);
  messages.push(message);
  if (!message.tool_calls?.length) break;
  const answer = await json(await fetch(`${bridge}/toolcall`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) }));
  messages.push(...answer.messages);
}
console.log(JSON.stringify({ tools: tools.length, turns, answer: message.content }));
model.close();
