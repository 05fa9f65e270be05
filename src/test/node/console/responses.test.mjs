import assert from 'node:assert';
import { test } from 'node:test';
import { failed, failureOf, ofResult, sent } from '../../../main/resources/dev/mcpbridge/http/console/responses.js';

const CALL = { json: '{"id":"call_1","function":{}}', name: 'a"b', response: '', isSendable: true };

test('a call without a response is not said to have run or not', () => {
  assert.match(JSON.parse(sent(CALL)).output.error, /not known/);
});

test('a result is sent as its bytes say', () => {
  const result = '{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":9007199254740993,"m":1.10}}';
  const response = ofResult(CALL, result);
  assert(response.includes('{"n":9007199254740993,"m":1.10}'));
  assert.equal(JSON.parse(response).tool_call_id, 'call_1');
  assert.equal(JSON.parse(response).name, 'a"b');
  assert.equal(JSON.parse(response).outcome, 'completed');
  assert.equal(JSON.parse(ofResult(CALL, '{"isError":true,"content":[]}')).outcome, 'tool_error');
});

test('what cannot be sent is replaced by what became of the call', () => {
  const large = ofResult(CALL, `{"content":[{"type":"text","text":"${'x'.repeat(600_000)}"}]}`);
  for (const call of [{ ...CALL, response: large }, { ...CALL, response: failed(CALL, 'x'), isSendable: false }]) {
    assert.match(JSON.parse(sent(call)).output.error, /The call has ended: (completed|failed)/);
  }
});

test('a failure says whether the call was executed', () => {
  assert.match(failureOf({ message: 'Late.', body: { executed: 'yes' } }), /It was executed/);
  assert.match(failureOf({ message: 'Late.', body: { executed: 'no' } }), /Nothing was executed/);
  assert.match(failureOf({ message: 'Late.', body: {} }), /not known/);
  assert.match(failureOf({ code: 'confirmation_not_found', message: 'x', body: { executed: 'no' } }), /not known/);
});
