import assert from 'node:assert';
import { test } from 'node:test';
import { control } from '../../../main/resources/dev/mcpbridge/http/console/schema.js';

const kind = (schema, root = schema, place = {}) => control(schema, root, place).kind;

test('each schema gets the control that fits', () => {
  assert.equal(kind({ const: 1 }), 'const');
  assert.equal(kind({ enum: ['a', 1, null] }), 'choice');
  assert.equal(kind({ oneOf: [{ const: 1, title: 'One' }, { const: 2 }] }), 'choice');
  assert.equal(kind({ type: 'boolean' }), 'boolean');
  assert.equal(kind({ type: 'string', contentEncoding: 'base64' }), 'file');
  assert.equal(kind({ type: 'array', items: { enum: ['a'] } }), 'choices');
  assert.equal(kind({ type: 'array', items: { type: 'string' } }), 'list');
  assert.equal(kind({ properties: { a: {} } }), 'object');
  assert.equal(kind({ type: 'object', additionalProperties: { type: 'string' } }), 'map');
  assert.equal(kind({ oneOf: [{ type: 'object', properties: {} }, { type: 'object' }] }), 'branches');
  assert.equal(kind({ allOf: [{ properties: { a: { type: 'string' } } }, { required: ['a'] }] }), 'object');
});

test('what no control fits is entered as JSON', () => {
  assert.equal(kind({ type: 'object' }), 'json');
  assert.equal(kind({}), 'json');
  assert.equal(kind(true, {}), 'json');
  assert.equal(kind({ allOf: [{ if: {} }] }), 'json');
  assert.equal(kind({ type: 'string', patternProperties: {} }), 'json');
});

test('values of an enumeration keep their type', () => {
  assert.deepEqual(control({ enum: ['1', 1] }, {}).options.map((option) => option.json), ['"1"', '1']);
});

test('null is a switch beside the control', () => {
  const nullable = control({ type: ['integer', 'null'] }, {});
  assert.equal(nullable.kind, 'number');
  assert(nullable.nullable);
  assert.equal(kind({ anyOf: [{ type: 'string' }, { type: 'null' }] }), 'text');
});

test('references are local, and recursion ends', () => {
  assert.equal(kind({ $ref: '#/$defs/a' }, { $defs: { a: { type: 'string' } } }), 'text');
  assert.equal(kind({ $ref: '#' }), 'json');
  assert.equal(kind({ $ref: 'https://example.org/x' }), 'json');
  assert.equal(kind({ $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/a' } } }), 'json');
  const recursive = { type: 'object', properties: { child: { $ref: '#' } } };
  assert.equal(kind(recursive.properties.child, recursive, { depth: 3 }), 'object');
  assert.equal(kind(recursive.properties.child, recursive, { depth: 4 }), 'json');
});

test('names of properties are data', () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}}}');
  assert.deepEqual(control(schema, schema).properties.map(([name]) => name), ['__proto__', 'constructor']);
  assert.equal(kind({ $ref: '#/__proto__' }, {}), 'json');
  assert.equal(kind({ $ref: '#/constructor' }, {}), 'json');
});
