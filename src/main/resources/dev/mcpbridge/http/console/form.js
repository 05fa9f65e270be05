// @ts-check
import { Draft } from './draft.js';
import { elements } from './json.js';
import { live } from './lit/directives/live.js';
import { plain } from './text.js';
import { foreign, html, long, nothing } from './view.js';

/**
 * The controls of a {@link Draft}.
 *
 * @param {Draft} draft
 * @param {() => void} changed called after each input
 * @param {Map<string, string>} problems by JSON pointer
 */
export function form(draft, changed, problems) {
  return field(draft, 'Arguments', '', { changed, problems });
}

/** @typedef {{changed: () => void, problems: Map<string, string>}} Use */

let ids = 0;
/** @type {WeakMap<Draft, string>} */
const known = new WeakMap();

/** @param {Draft} draft */
function idOf(draft) {
  const id = known.get(draft) ?? `field-${++ids}`;
  known.set(draft, id);
  return id;
}

/** @param {string} path @param {string | number} step */
const inside = (path, step) => `${path}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** @param {Draft} draft @param {string} label @param {string} path @param {Use} use @returns {unknown} */
function field(draft, label, path, use) {
  const { control } = draft;
  const isGroup = ['object', 'map', 'list', 'branches', 'choices'].includes(control.kind);
  const problem = use.problems.get(path);
  const id = idOf(draft);
  const described = `${id}-help`;
  const help = html`<div class="hint" id=${described}>
    ${control.schema.description ? long(control.schema.description, 400) : nothing}
    ${problem ? html`<strong class="problem">${foreign(problem)}</strong>` : nothing}
  </div>`;
  const title = control.schema.title;
  const name = html`${foreign(title ?? label)}${title !== undefined && title !== label ? html` <code>${foreign(label)}</code>` : nothing}${draft.isRequired ? html` <span class="hint">required</span>` : nothing}`;
  const nullSwitch = control.nullable
    ? html`<label class="inline"><input type="checkbox" .checked=${live(draft.isNull)} @change=${() => { draft.isNull = !draft.isNull; use.changed(); }} /> null</label>`
    : nothing;
  if (draft.isNull) {
    return html`<div class="field"><span class="label">${name}</span> ${nullSwitch}</div>`;
  }
  if (isGroup) {
    return path === ''
      ? html`${help}${inner(draft, label, path, use, described)}`
      : html`<fieldset id=${id}><legend>${name}</legend>${nullSwitch}${help}${inner(draft, label, path, use, described)}</fieldset>`;
  }
  return html`<div class="field">
    <label for=${id}>${name}</label> ${nullSwitch} ${inner(draft, label, path, use, described)} ${help}
  </div>`;
}

/** @param {Draft} draft @param {string} label @param {string} path @param {Use} use @param {string} described */
function inner(draft, label, path, use, described) {
  const { control } = draft;
  const id = idOf(draft);
  const invalid = use.problems.has(path) ? 'true' : 'false';
  const proposal = control.schema.default === undefined ? '' : json(control.schema.default);
  const take = (/** @type {any} */ e) => {
    draft.value = e.target.value;
    use.changed();
  };
  switch (control.kind) {
    case 'const':
      return html`<output id=${id}><code>${foreign(draft.value)}</code></output>`;
    case 'choice':
      return choice(draft, control.options ?? [], use, described);
    case 'boolean':
      return choice(draft, [{ label: 'true', json: 'true' }, { label: 'false', json: 'false' }], use, described);
    case 'number':
      return html`<input id=${id} inputmode="decimal" autocomplete="off" aria-describedby=${described} aria-invalid=${invalid} placeholder=${proposal} .value=${live(draft.value ?? '')} @input=${take} />`;
    case 'text':
      return control.isLong
        ? html`<textarea id=${id} rows="4" aria-describedby=${described} aria-invalid=${invalid} placeholder=${proposal} .value=${live(draft.value ?? '')} @input=${take}></textarea>`
        : html`<input id=${id} type=${inputType(control.format)} step="any" autocomplete="off" aria-describedby=${described} aria-invalid=${invalid} placeholder=${proposal} .value=${live(draft.value ?? '')} @input=${take} />`;
    case 'file':
      return html`<input id=${id} type="file" aria-describedby=${described} @change=${(/** @type {any} */ e) => readFile(draft, e.target.files[0], use)} />`;
    case 'json':
      return html`<textarea id=${id} class="json" rows="4" spellcheck="false" aria-describedby=${described} aria-invalid=${invalid} placeholder=${proposal || 'JSON'} .value=${live(draft.value ?? '')} @input=${take}></textarea>`;
    case 'choices':
      return choices(draft, use);
    case 'branches':
      return branches(draft, label, path, use, id);
    case 'list':
      return listOf(draft, label, path, use);
    case 'map':
      return rows(draft, path, use);
    default:
      return members(draft, path, use);
  }
}

/** @param {unknown} value */
const json = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** @param {string | undefined} format */
function inputType(format) {
  return { date: 'date', time: 'time', 'date-time': 'datetime-local', email: 'email', uri: 'url' }[format ?? ''] ?? 'text';
}

/** @param {Draft} draft @param {Array<{label: string, json: string}>} options @param {Use} use @param {string} described */
function choice(draft, options, use, described) {
  const chosen = options.findIndex((option) => option.json === draft.value);
  const take = (/** @type {any} */ e) => {
    draft.value = options[Number(e.target.value)]?.json;
    use.changed();
  };
  return html`<select id=${idOf(draft)} aria-describedby=${described} .value=${live(String(chosen))} @change=${take}>
    <option value="-1" ?selected=${chosen < 0}>${draft.isRequired ? 'choose' : 'not set'}</option>
    ${options.map((option, i) => html`<option value=${i} ?selected=${i === chosen}>${plain(option.label)}</option>`)}
  </select>`;
}

/** @param {Draft} draft @param {Use} use */
function choices(draft, use) {
  const options = draft.control.options ?? [];
  const chosen = new Set(elements(draft.value ?? '[]'));
  const toggle = (/** @type {string} */ option) => {
    chosen.has(option) ? chosen.delete(option) : chosen.add(option);
    const kept = options.map((each) => each.json).filter((each) => chosen.has(each));
    draft.value = kept.length > 0 ? `[${kept.join(',')}]` : undefined;
    use.changed();
  };
  return options.map(
    (option) =>
      html`<label class="inline"><input type="checkbox" .checked=${live(chosen.has(option.json))} @change=${() => toggle(option.json)} /> ${foreign(option.label)}</label>`,
  );
}

/** @param {Draft} draft @param {string} label @param {string} path @param {Use} use @param {string} id */
function branches(draft, label, path, use, id) {
  const take = (/** @type {any} */ e) => {
    draft.choose(Number(e.target.value));
    use.changed();
  };
  return html`<label for="${id}-branch">Variant</label>
    <select id="${id}-branch" .value=${live(String(draft.branch))} @change=${take}>
      <option value="-1" ?selected=${draft.branch < 0}>choose</option>
      ${draft.control.branches?.map((branch, i) => html`<option value=${i} ?selected=${i === draft.branch}>${plain(branch.label)}</option>`)}
    </select>
    ${draft.items.map((item) => field(item, label, path === '' ? '' : path, use))}`;
}

/** @param {Draft} draft @param {string} label @param {string} path @param {Use} use */
function listOf(draft, label, path, use) {
  const change = (/** @type {() => void} */ action) => () => {
    action();
    use.changed();
  };
  return html`${draft.items.map(
      (item, i) => html`<div class="item">
        ${field(item, `${label} ${i + 1}`, inside(path, i), use)}
        <div class="row-actions">
          <button type="button" aria-label=${`Move ${label} ${i + 1} up`} ?disabled=${i === 0} @click=${change(() => draft.items.splice(i - 1, 0, ...draft.items.splice(i, 1)))}>Up</button>
          <button type="button" aria-label=${`Remove ${label} ${i + 1}`} @click=${change(() => draft.items.splice(i, 1))}>Remove</button>
        </div>
      </div>`,
    )}
    <button type="button" @click=${change(() => draft.add())}>Add to ${foreign(label)}</button>
    ${draft.control.schema.minItems ? html`<span class="hint">at least ${draft.control.schema.minItems}</span>` : nothing}`;
}

/** @param {Draft} draft @param {string} path @param {Use} use */
function rows(draft, path, use) {
  return html`${draft.members.map(
      ([key, value], i) => html`<div class="item">
        <label>Name <input .value=${live(key)} @input=${(/** @type {any} */ e) => { draft.members[i][0] = e.target.value; use.changed(); }} /></label>
        ${field(value, key || 'Value', inside(path, key), use)}
        <button type="button" aria-label=${`Remove ${key}`} @click=${() => { draft.members.splice(i, 1); use.changed(); }}>Remove</button>
      </div>`,
    )}
    <button type="button" @click=${() => { draft.addRow(); use.changed(); }}>Add a member</button>`;
}

/** Optional objects are opened on demand: a schema may be recursive. @param {Draft} draft @param {string} path @param {Use} use */
function members(draft, path, use) {
  if (path !== '' && !draft.isRequired && draft.members.length === 0) {
    return html`<button type="button" @click=${() => { draft.open(); use.changed(); }}>Enter this part</button>`;
  }
  const parts = draft.open();
  return parts.length === 0
    ? html`<p class="hint">No arguments.</p>`
    : parts.map(([key, member]) => field(member, key, inside(path, key), use));
}

/** @param {Draft} draft @param {File | undefined} file @param {Use} use */
async function readFile(draft, file, use) {
  const bytes = file ? new Uint8Array(await file.arrayBuffer()) : null;
  let text = '';
  for (let i = 0; bytes && i < bytes.length; i += 0x6000) {
    text += btoa(String.fromCharCode(...bytes.subarray(i, i + 0x6000)));
  }
  draft.value = bytes ? text : undefined;
  use.changed();
}
