// @ts-check
/**
 * Which control fits a part of a JSON Schema (draft 2020-12). The first rule that matches wins; what
 * no rule matches is entered as JSON. The bridge validates; this is a help.
 *
 * Property names are data: objects of a schema are only read by their own properties.
 */

/** @typedef {Record<string, any>} Schema */
/**
 * @typedef {{
 *   kind: 'const' | 'choice' | 'boolean' | 'number' | 'text' | 'file' | 'list' | 'choices'
 *     | 'object' | 'map' | 'branches' | 'json',
 *   schema: Schema,
 *   nullable: boolean,
 *   options?: Array<{label: string, json: string}>,
 *   properties?: Array<[string, Schema]>,
 *   required?: Set<string>,
 *   branches?: Array<{label: string, schema: Schema}>,
 *   items?: Schema,
 *   format?: string,
 *   isLong?: boolean,
 * }} Control
 */

const MAX_DEPTH = 4;
const MAX_FIELDS = 200;
const MAX_SIZE = 256 * 1024;
const MAX_REFERENCES = 20;
const LONG_NAME = /text|body|content|message|query|script|code|description/i;
const BEYOND = ['if', 'then', 'else', 'patternProperties', 'not', 'dependentSchemas', 'prefixItems'];

/** @param {any} object @param {string} name */
const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);

/** @param {any} value @returns {value is Schema} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether a form for a schema is of use: not for very large ones.
 * @param {Schema} schema
 * @param {string} text the schema as it was sent
 */
export function hasForm(schema, text) {
  return (
    isObject(schema) &&
    text.length <= MAX_SIZE &&
    Object.keys(own(schema, 'properties') ?? {}).length <= MAX_FIELDS
  );
}

/**
 * @param {Schema} schema part of the root
 * @param {Schema} root where local references lead to
 * @param {{name?: string, depth?: number}} place
 * @returns {Control}
 */
export function control(schema, root, place = {}) {
  const resolved = reference(schema, root);
  if (!isObject(resolved) || BEYOND.some((word) => Object.hasOwn(resolved, word))) {
    return { kind: 'json', schema: isObject(resolved) ? resolved : {}, nullable: false };
  }
  const { part, nullable } = withoutNull(merged(resolved, root));
  return { ...fitting(part, root, place), nullable };
}

/** Follows local references; a remote one is never fetched. @param {any} schema @param {Schema} root */
function reference(schema, root) {
  let found = schema;
  for (let i = 0; isObject(found) && Object.hasOwn(found, '$ref'); i++) {
    const { $ref, ...beside } = found;
    const target = i < MAX_REFERENCES && String($ref).startsWith('#') ? at(root, $ref.slice(1)) : undefined;
    if (!isObject(target)) {
      return undefined;
    }
    found = { ...target, ...beside };
  }
  return found;
}

/** A JSON Pointer (RFC 6901) in a fragment. @param {any} root @param {string} pointer */
function at(root, pointer) {
  let found = root;
  for (const step of decoded(pointer).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = typeof found === 'object' && found !== null ? own(found, name) : undefined;
  }
  return found;
}

/** @param {string} pointer */
function decoded(pointer) {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

/** `allOf` of plain objects is one object; else it stays. @param {Schema} schema @param {Schema} root */
function merged(schema, root) {
  const all = own(schema, 'allOf');
  if (!Array.isArray(all)) {
    return schema;
  }
  const { allOf, ...rest } = schema;
  const properties = Object.assign(Object.create(null), own(rest, 'properties'));
  let required = own(rest, 'required') ?? [];
  for (const each of all) {
    const part = reference(each, root);
    const known = ['type', 'properties', 'required', 'title', 'description'];
    if (!isObject(part) || Object.keys(part).some((word) => !known.includes(word))) {
      return { description: own(schema, 'description'), allOf };
    }
    Object.assign(properties, own(part, 'properties'));
    required = [...required, ...(own(part, 'required') ?? [])];
  }
  return { ...rest, type: 'object', properties, required };
}

/** @param {Schema} schema */
function withoutNull(schema) {
  const type = own(schema, 'type');
  if (Array.isArray(type) && type.includes('null')) {
    const types = type.filter((each) => each !== 'null');
    return { part: { ...schema, type: types.length === 1 ? types[0] : types }, nullable: true };
  }
  for (const word of ['anyOf', 'oneOf']) {
    const branches = own(schema, word);
    if (Array.isArray(branches) && branches.some((each) => own(each ?? {}, 'type') === 'null')) {
      const rest = branches.filter((each) => own(each ?? {}, 'type') !== 'null');
      const { [word]: left, ...beside } = schema;
      return rest.length === 1
        ? { part: { ...beside, ...rest[0] }, nullable: true }
        : { part: { ...beside, [word]: rest }, nullable: true };
    }
  }
  return { part: schema, nullable: own(schema, 'nullable') === true };
}

/** @param {Schema} schema @param {Schema} root @param {{name?: string, depth?: number}} place */
function fitting(schema, root, { name = '', depth = 0 }) {
  const type = own(schema, 'type');
  const options = choices(schema);
  /** @param {Control['kind']} kind @param {Partial<Control>} more @returns {Control} */
  const of = (kind, more = {}) => ({ kind, schema, nullable: false, ...more });
  if (Object.hasOwn(schema, 'const')) {
    return of('const', { options: [option(schema.const)] });
  }
  if (options) {
    return of('choice', { options });
  }
  if (type === 'boolean') {
    return of('boolean');
  }
  if (type === 'integer' || type === 'number') {
    return of('number');
  }
  if (type === 'string') {
    return own(schema, 'contentEncoding') === 'base64'
      ? of('file')
      : of('text', { format: own(schema, 'format'), isLong: isLong(schema, name) });
  }
  if (type === 'array' && isObject(own(schema, 'items')) && depth < MAX_DEPTH) {
    const items = control(schema.items, root, { depth: depth + 1 });
    if (items.kind === 'choice') {
      return of('choices', { options: items.options, items: schema.items });
    }
    return of('list', { items: schema.items });
  }
  const branches = own(schema, 'oneOf') ?? own(schema, 'anyOf');
  if (Array.isArray(branches) && !Object.hasOwn(schema, 'properties')) {
    return of('branches', {
      branches: branches.map((branch, i) => ({
        label: String(own(reference(branch, root) ?? {}, 'title') ?? `Variant ${i + 1}`),
        schema: branch,
      })),
    });
  }
  const properties = own(schema, 'properties');
  if (isObject(properties) && depth < MAX_DEPTH && !branches) {
    return of('object', {
      properties: Object.keys(properties).map((key) => [key, own(properties, key)]),
      required: new Set(Array.isArray(own(schema, 'required')) ? schema.required : []),
    });
  }
  if (type === 'object' && isObject(own(schema, 'additionalProperties')) && depth < MAX_DEPTH) {
    return of('map', { items: schema.additionalProperties });
  }
  return of('json');
}

/** @param {any} value */
const option = (value) => ({ label: typeof value === 'string' ? value : JSON.stringify(value), json: JSON.stringify(value) });

/** The values of an enumeration, each as JSON, so that it keeps its type. @param {Schema} schema */
function choices(schema) {
  const values = own(schema, 'enum');
  if (Array.isArray(values)) {
    return values.map(option);
  }
  const branches = own(schema, 'oneOf') ?? own(schema, 'anyOf');
  if (Array.isArray(branches) && branches.length > 0 && branches.every((each) => isObject(each) && Object.hasOwn(each, 'const'))) {
    return branches.map((each) => ({ ...option(each.const), label: String(own(each, 'title') ?? option(each.const).label) }));
  }
  return undefined;
}

/** @param {Schema} schema @param {string} name */
function isLong(schema, name) {
  const most = own(schema, 'maxLength');
  return typeof most === 'number' ? most > 120 : LONG_NAME.test(name) && !Object.hasOwn(schema, 'format');
}
