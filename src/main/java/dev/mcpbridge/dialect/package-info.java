/**
 * How the providers of models write tools, the calls of a model, and what is answered to it; and
 * what of a JSON Schema each of them takes. Pure: texts in, texts out.
 */
package dev.mcpbridge.dialect;
