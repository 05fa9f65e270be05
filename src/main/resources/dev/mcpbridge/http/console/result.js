// @ts-check
import { elements, member, pretty } from './json.js';
import { code, foreign, html, long, nothing } from './view.js';

/**
 * The result of a call: as text, structured, and as it was received. Links are shown, and followed
 * only after their whole address was; images are shown if they are in the result itself.
 */

const IMAGES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const MAX_PARTS = 200;
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}$/;

/** @param {string} text JSON of the result */
export function result(text) {
  const parts = ['content', 'contents', 'messages'].flatMap((name) => elements(member(text, name) ?? '[]'));
  const structured = member(text, 'structuredContent');
  return html`
    ${member(text, 'isError') === 'true' ? html`<p class="failure" role="alert">The tool reports an error.</p>` : nothing}
    ${parts.slice(0, MAX_PARTS).map(block)}
    ${parts.length > MAX_PARTS ? html`<p>${parts.length - MAX_PARTS} more parts: see the whole result.</p>` : nothing}
    ${structured === undefined ? nothing : html`<h3>Structured</h3>${code(pretty(structured), 'Structured result')}`}
    <details>
      <summary>The whole result as it was received</summary>
      ${code(pretty(text), 'Whole result')}
    </details>
  `;
}

/** @param {string} json a content block, a resource or a message of a prompt */
function block(json) {
  const read = JSON.parse(json) ?? {};
  const part = (read.role ? read.content : read) ?? {};
  const role = read.role ? html`<div class="hint">${foreign(read.role)}</div>` : nothing;
  if (part.type === 'image' && IMAGES.includes(part.mimeType) && BASE64.test(part.data ?? '')) {
    return html`${role}<img class="result" alt="Image of the result" src=${`data:${part.mimeType};base64,${part.data}`} />`;
  }
  if (part.type === 'resource_link') {
    return html`${role}<p>Link: ${link(part.uri)}</p>`;
  }
  const inner = part.resource ?? part;
  if (typeof inner.text === 'string') {
    return html`${role}${inner.uri ? html`<div class="hint">${foreign(inner.uri)}</div>` : nothing}
      <div class="code" tabindex="0" role="region" aria-label="Text of the result">${long(inner.text, 20_000)}</div>`;
  }
  const data = inner.data ?? inner.blob;
  return typeof data === 'string'
    ? html`${role}<p>${foreign(part.type ?? 'data')} ${foreign(inner.mimeType ?? '')}, ${Math.floor((data.length * 3) / 4).toLocaleString('en')} bytes</p>`
    : html`${role}${code(pretty(json), 'Part of the result')}`;
}

/** The whole address is seen before it can be opened. @param {unknown} uri */
function link(uri) {
  const address = String(uri ?? '');
  return /^https?:\/\//i.test(address)
    ? html`<details class="inline"><summary>${foreign(address)}</summary><a href=${address} target="_blank" rel="noopener noreferrer">Open this address</a></details>`
    : foreign(address);
}
