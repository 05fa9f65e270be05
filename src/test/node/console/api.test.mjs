import assert from 'node:assert';
import { test } from 'node:test';

globalThis.sessionStorage = { getItem: () => '', setItem() {}, removeItem() {} };
const { events, path, Problem, request } = await import('../../../main/resources/dev/mcpbridge/http/console/api.js');

const response = (chunks) =>
  new Response(
    new ReadableStream({
      start(controller) {
        chunks.forEach((chunk) => controller.enqueue(new TextEncoder().encode(chunk)));
        controller.close();
      },
    }),
  );

test('events are read however their bytes arrive', async () => {
  const found = [];
  const chunks = [': open\n\n', 'event: server\nda', 'ta: {"a":1}\n\nid: 7\r\n', 'data: x\r\ndata: y\r\n\r\n', 'data: lost'];
  for await (const event of events(response(chunks))) {
    found.push(event);
  }
  assert.deepEqual(found, [
    { id: '', event: 'server', data: '{"a":1}' },
    { id: '7', event: 'message', data: 'x\ny' },
  ]);
});

test('a bridge that is not reached is a problem in words', async () => {
  await assert.rejects(request('GET', 'http://127.0.0.1:1/x'), (e) => e instanceof Problem && e.status === 0);
});

test('values of a path cannot leave their segment', () => {
  assert.equal(path`servers/${'a/../b'}/tools`, 'servers/a%2F..%2Fb/tools');
  assert.throws(() => path`servers/${'..'}`, Problem);
});
