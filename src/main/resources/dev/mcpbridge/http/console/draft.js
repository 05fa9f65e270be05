// @ts-check
import { elements, isNumber, members } from './json.js';
import { control } from './schema.js';

/** @typedef {import('./schema.js').Control} Control */
/** @typedef {import('./schema.js').Schema} Schema */

/** A text that does not fit the form. */
export class Misfit extends Error {}

/**
 * What was entered for one part of a schema. The value is JSON text all the way, so that numbers are
 * sent as they were typed. What is optional and was not touched is absent.
 */
export class Draft {
  /**
   * @param {Schema} schema
   * @param {Schema} root
   * @param {{name?: string, depth?: number, isRequired?: boolean}} place
   */
  constructor(schema, root, place = {}) {
    this.root = root;
    this.name = place.name ?? '';
    this.depth = place.depth ?? 0;
    this.isRequired = place.isRequired ?? false;
    /** @type {Control} */
    this.control = control(schema, root, place);
    this.isNull = false;
    /** JSON of a choice, boolean or unknown part; what was typed into any other field. @type {string | undefined} */
    this.value = undefined;
    /** @type {Draft[]} */
    this.items = [];
    /** Of an object by name; of a map in the order of its rows. @type {Array<[string, Draft]>} */
    this.members = [];
    this.branch = -1;
    if (this.control.kind === 'const') {
      this.value = this.control.options?.[0].json;
    } else if (this.isRequired && Object.hasOwn(this.control.schema, 'default')) {
      this.#propose(JSON.stringify(this.control.schema.default));
    }
  }

  /** A proposal of the server that does not fit its own schema is ignored. @param {string} json */
  #propose(json) {
    try {
      this.fill(json);
    } catch {
      this.value = undefined;
      this.items = [];
      this.members = [];
    }
  }

  /** The parts of an object. They are made when they are needed: a schema may be recursive. */
  open() {
    if (this.control.kind === 'object' && this.members.length === 0) {
      this.members = (this.control.properties ?? []).map(([key, schema]) => [
        key,
        new Draft(schema, this.root, {
          name: key,
          depth: this.depth + 1,
          isRequired: this.control.required?.has(key) ?? false,
        }),
      ]);
    }
    return this.members;
  }

  /** Adds an empty element to a list. */
  add() {
    const item = new Draft(this.control.items ?? {}, this.root, { name: this.name, depth: this.depth + 1, isRequired: true });
    this.items.push(item);
    return item;
  }

  /** Adds a row to a map. @param {string} key */
  addRow(key = '') {
    const value = new Draft(this.control.items ?? {}, this.root, { name: key, depth: this.depth + 1, isRequired: true });
    this.members.push([key, value]);
    return value;
  }

  /** Takes another branch; what was entered for the last one is dropped. @param {number} index */
  choose(index) {
    const branch = this.control.branches?.[index];
    this.branch = branch ? index : -1;
    this.items = branch
      ? [new Draft(branch.schema, this.root, { name: this.name, depth: this.depth, isRequired: true })]
      : [];
  }

  /** @returns {string | undefined} JSON; undefined if it is absent */
  json() {
    if (this.isNull) {
      return 'null';
    }
    switch (this.control.kind) {
      case 'text':
      case 'file':
        return this.#text();
      case 'number':
      case 'json':
        return this.value?.trim() || undefined;
      case 'list':
        return this.items.length > 0 || this.isRequired ? `[${this.items.map((item) => item.json() ?? 'null').join(',')}]` : undefined;
      case 'choices':
        return this.value ?? (this.isRequired ? '[]' : undefined);
      case 'branches':
        return this.items[0]?.json();
      case 'object':
      case 'map':
        return this.#object();
      default:
        return this.value;
    }
  }

  #text() {
    if (this.value === undefined || (this.value === '' && !this.isRequired)) {
      return undefined;
    }
    return JSON.stringify(this.control.format === 'date-time' ? withOffset(this.value) : this.value);
  }

  #object() {
    const present = this.members
      .map(([key, member]) => [key, member.json()])
      .filter(([, json]) => json !== undefined)
      .map(([key, json]) => `${JSON.stringify(key)}:${json}`);
    return present.length > 0 || this.isRequired ? `{${present.join(',')}}` : undefined;
  }

  /**
   * What is wrong with the text of a field, where the form itself can tell.
   * @param {string} path
   * @returns {Array<{path: string, problem: string}>}
   */
  problems(path = '') {
    const own = this.isNull ? undefined : this.#problem();
    const inner = this.isNull
      ? []
      : [
          ...this.items.flatMap((item, i) => item.problems(this.control.kind === 'branches' ? path : `${path}/${i}`)),
          ...this.members.flatMap(([key, member]) => member.problems(`${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)),
        ];
    return own ? [{ path, problem: own }, ...inner] : inner;
  }

  #problem() {
    const { kind } = this.control;
    const json = this.json();
    if (this.isRequired && json === undefined) {
      return 'is required';
    }
    if (kind === 'number' && json !== undefined && !isNumber(json)) {
      return 'is not a number';
    }
    if (kind === 'number' && this.control.schema.type === 'integer' && json !== undefined && /[.eE]/.test(json)) {
      return 'is not an integer';
    }
    return kind === 'json' && json !== undefined && !isJson(json) ? 'is not JSON' : undefined;
  }

  /**
   * Takes a value over from its JSON text.
   * @param {string} json
   * @throws {Misfit} if the form cannot show all of it
   */
  fill(json) {
    const first = json[0];
    const { kind, options } = this.control;
    this.isNull = json === 'null' && kind !== 'json' && kind !== 'choice';
    if (this.isNull) {
      this.#require(this.control.nullable, 'null');
    } else if (kind === 'json') {
      this.value = json;
    } else if (kind === 'const' || kind === 'choice') {
      const same = options?.find((option) => option.json === JSON.stringify(JSON.parse(json)));
      this.#require(same, 'a value that is not in the list');
      this.value = same?.json;
    } else if (kind === 'choices') {
      this.#require(first === '[', 'no list');
      const known = elements(json).every((element) => options?.some((option) => option.json === element));
      this.#require(known, 'a value that is not in the list');
      this.value = json;
    } else if (kind === 'boolean') {
      this.#require(json === 'true' || json === 'false', 'no boolean');
      this.value = json;
    } else if (kind === 'number') {
      this.#require(isNumber(json), 'no number');
      this.value = json;
    } else if (kind === 'text') {
      this.#require(first === '"', 'no text');
      this.value = JSON.parse(json);
      this.#adapt(String(this.value));
    } else if (kind === 'file') {
      this.#require(false, 'a file');
    } else if (kind === 'list') {
      this.#require(first === '[', 'no list');
      this.items = [];
      elements(json).forEach((element) => this.add().fill(element));
    } else if (kind === 'map') {
      this.#require(first === '{', 'no object');
      this.members = [];
      members(json).forEach(([key, value]) => this.addRow(key).fill(value));
    } else if (kind === 'object') {
      this.#require(first === '{', 'no object');
      this.members = [];
      const parts = new Map(this.open());
      members(json).forEach(([key, value]) => {
        this.#require(parts.has(key), `the member "${key}", which the form does not have`);
        parts.get(key)?.fill(value);
      });
    } else {
      this.#fillBranch(json);
    }
  }

  /** A field that cannot show a text as it is becomes one that can. @param {string} text */
  #adapt(text) {
    const { format } = this.control;
    const isNative = /^\d{4}-\d\d-\d\d$/.test(text) ? format === 'date' : !['date', 'time', 'date-time'].includes(format ?? '');
    this.control = {
      ...this.control,
      format: isNative ? format : undefined,
      isLong: this.control.isLong || /[\r\n]/.test(text),
    };
  }

  /** @param {string} json */
  #fillBranch(json) {
    for (let i = 0; i < (this.control.branches?.length ?? 0); i++) {
      try {
        this.choose(i);
        this.items[0].fill(json);
        return;
      } catch (e) {
        if (!(e instanceof Misfit)) {
          throw e;
        }
      }
    }
    this.choose(-1);
    throw new Misfit(`${this.name || 'The value'} fits no variant`);
  }

  /** @param {any} holds @param {string} found */
  #require(holds, found) {
    if (!holds) {
      throw new Misfit(`${this.name || 'The value'} has ${found}`);
    }
  }
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A local time with its offset from UTC (RFC 3339), if it has none. @param {string} local */
function withOffset(local) {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(local)) {
    return local;
  }
  const minutes = -new Date(local).getTimezoneOffset();
  const sign = minutes < 0 ? '-' : '+';
  const two = (/** @type {number} */ n) => String(Math.floor(Math.abs(n))).padStart(2, '0');
  const seconds = local.length === 16 ? ':00' : '';
  return `${local}${seconds}${sign}${two(minutes / 60)}:${two(minutes % 60)}`;
}
