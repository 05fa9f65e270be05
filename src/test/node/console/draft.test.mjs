import assert from 'node:assert';
import { test } from 'node:test';
import { Draft, Misfit } from '../../../main/resources/dev/mcpbridge/http/console/draft.js';

const SCHEMA = {
  type: 'object',
  required: ['n', 'who'],
  properties: {
    n: { type: 'number' },
    who: { type: 'string' },
    opt: { type: 'string' },
    when: { type: 'string', format: 'date-time' },
    tags: { type: 'array', items: { type: 'string' } },
    mode: { enum: ['a', 1] },
    m: { type: 'object', additionalProperties: { type: 'number' } },
    x: {},
    nul: { type: ['string', 'null'] },
    child: { $ref: '#' },
    either: {
      oneOf: [
        { type: 'object', title: 'A', properties: { a: { type: 'string' } } },
        { type: 'object', title: 'B', properties: { b: { type: 'number' } } },
      ],
    },
  },
};

const draft = () => new Draft(SCHEMA, SCHEMA, { isRequired: true });

test('optional parts that were not touched are absent', () => {
  const empty = draft();
  empty.open();
  assert.equal(empty.json(), '{}');
  assert.deepEqual(empty.problems().map((each) => `${each.path} ${each.problem}`), ['/n is required', '/who is required']);
});

test('numbers are sent as they were typed', () => {
  const entered = draft();
  const parts = new Map(entered.open());
  parts.get('n').value = '9007199254740993';
  parts.get('who').value = '';
  assert.equal(entered.json(), '{"n":9007199254740993,"who":""}');
  parts.get('n').value = '1.10';
  assert.deepEqual(entered.problems(), []);
  parts.get('n').value = 'abc';
  assert.equal(entered.problems()[0].problem, 'is not a number');
});

test('a local time gets its offset', () => {
  const entered = draft();
  new Map(entered.open()).get('when').value = '2026-11-25T10:00';
  assert.match(entered.json(), /"when":"2026-11-25T10:00:00[+-]\d\d:\d\d"/);
});

test('JSON is taken over without a change of its values', () => {
  const filled = draft();
  filled.fill(
    '{"n":1.10,"who":"x","tags":["a","b"],"mode":1,"m":{"__proto__":2,"k":1e3},"x":{"2":1,"1":2},"nul":null,"either":{"b":5},"child":{"n":2,"who":"y"}}',
  );
  assert.equal(
    filled.json(),
    '{"n":1.10,"who":"x","tags":["a","b"],"mode":1,"m":{"__proto__":2,"k":1e3},"x":{"2":1,"1":2},"nul":null,"child":{"n":2,"who":"y"},"either":{"b":5}}',
  );
});

test('JSON that the form cannot show is refused', () => {
  for (const text of ['{"zzz":1}', '{"mode":"1"}', '[]', '{"n":null}']) {
    assert.throws(() => draft().fill(text), Misfit);
  }
});

test('a default is proposed where a value is required', () => {
  const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer', default: 7 }, b: { type: 'integer', default: 8 } } };
  const proposed = new Draft(schema, schema, { isRequired: true });
  proposed.open();
  assert.equal(proposed.json(), '{"a":7}');
});

test('a field that cannot show a text becomes one that can', () => {
  const schema = { type: 'object', properties: { day: { type: 'string', format: 'date' }, name: { type: 'string' } } };
  const filled = new Draft(schema, schema, { isRequired: true });
  filled.fill('{"day":"not a day","name":"two\\nlines"}');
  const parts = new Map(filled.members);
  assert.equal(parts.get('day').control.format, undefined);
  assert(parts.get('name').control.isLong);
  assert.equal(filled.json(), '{"day":"not a day","name":"two\\nlines"}');
});

test('values that a form does not show are refused', () => {
  const schema = { type: 'object', properties: { file: { type: 'string', contentEncoding: 'base64' }, some: { type: 'array', items: { enum: ['a'] } } } };
  for (const text of ['{"file":"AAAA"}', '{"some":["b"]}']) {
    assert.throws(() => new Draft(schema, schema, { isRequired: true }).fill(text), Misfit);
  }
});
