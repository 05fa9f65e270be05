import assert from 'node:assert';
import { test } from 'node:test';
import { elements, isNumber, member, members, pretty } from '../../../main/resources/dev/mcpbridge/http/console/json.js';
import { beginning, isolated, marked, plain } from '../../../main/resources/dev/mcpbridge/http/console/text.js';
import { changedPart, folded, lines } from '../../../main/resources/dev/mcpbridge/http/console/diff.js';

const RAW =
  '{"2":1.10,"1":9007199254740993,"a\\u0041":"x,{}[]:\\"y","__proto__":[],"n":{"k":[1,{"z":-0e10}]},"e":{}}';

test('pretty text has the same tokens in the same order', () => {
  assert.equal(pretty(RAW).replace(/\n\s*/g, '').replace(/: /g, ':'), RAW);
  assert.equal(pretty('{}'), '{}');
  assert.equal(pretty('[ ]'), '[]');
});

test('members keep the order and the text of their values', () => {
  assert.deepEqual(members(RAW).map(([name]) => name), ['2', '1', 'aA', '__proto__', 'n', 'e']);
  assert.equal(member(RAW, '1'), '9007199254740993');
  assert.equal(member(RAW, '__proto__'), '[]');
  assert.equal(member('{"a":1,"a":2}', 'a'), '2');
  assert.deepEqual(elements('[1, {"a":[2,3]} ,"x,y"]'), ['1', '{"a":[2,3]}', '"x,y"']);
  assert.deepEqual(elements('[]'), []);
});

test('numbers are those of JSON', () => {
  assert(isNumber('1.10') && isNumber('-0e10'));
  assert(!isNumber('01') && !isNumber('1.') && !isNumber(''));
});

test('what cannot be seen becomes a mark', () => {
  assert.deepEqual(marked('a\u202Eb'), [
    { text: 'a', isMark: false },
    { text: '\\u{202E}', isMark: true },
    { text: 'b', isMark: false },
  ]);
  assert.deepEqual(marked('\u{E0041}').map((part) => part.text), ['\\u{E0041}']);
  assert.equal(marked('❤\uFE0F').length, 1);
  assert.equal(marked('x\uFE0F').length, 2);
  assert(marked('\uD800')[0].isMark);
  assert.equal(marked('a\tb\nc').length, 1);
  assert.equal(beginning('a😀', 2), 'a');
});

test('differences are the shortest, and long texts end', () => {
  assert.deepEqual(lines('a\nb\nc', 'a\nx\nc').map((line) => line.kind[0] + line.text), ['sa', 'rb', 'ax', 'sc']);
  const many = (letter) => Array.from({ length: 3000 }, (_, i) => letter + i).join('\n');
  assert.equal(lines(many('o'), many('n')).length, 6000);
});

test('large and deep texts are written', () => {
  assert(pretty('[' + '{"a":1},'.repeat(100000) + '1]').length > 800000);
  assert(pretty('['.repeat(20000) + ']'.repeat(20000)).length > 40000);
  assert(pretty('"' + '\\"'.repeat(500000) + '"').length > 1000000);
});

test('a change far down is shown, and what is the same is folded', () => {
  const before = Array.from({ length: 5000 }, (_, i) => `line ${i}`);
  const after = before.with(4800, 'attack');
  const shown = folded(lines(before.join('\n'), after.join('\n')));
  assert.deepEqual(shown.filter((line) => line.kind === 'added').map((line) => line.text), ['attack']);
  assert.equal(shown[0].count, 4797);
  assert(shown.length < 12);
});

test('the changed part of a long line is found', () => {
  assert.deepEqual(changedPart('x'.repeat(9000) + 'a' + 'y'.repeat(50), 'x'.repeat(9000) + 'bc' + 'y'.repeat(50)), [9000, 50]);
  assert.deepEqual(changedPart('aa', 'aaa'), [2, 0]);
});

test('strings from right to left are isolated', () => {
  assert.deepEqual(isolated('{"\u05D0": "\u05D1"}'), ['{', '"\u05D0"', ': ', '"\u05D1"', '}']);
  assert.deepEqual(isolated('{"a": 1}'), ['{"a": 1}']);
});

test('blanks other than the space and fillers are marked', () => {
  for (const hidden of ['\u00A0', '\u2003', '\u202F', '\u2800', '\u3000', '\u{1D173}', '\u200D', '\u{E0100}']) {
    assert.match(plain(`a${hidden}b`), /^a\\u\{[0-9A-F]+\}b$/);
  }
});
