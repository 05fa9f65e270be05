/** Adapter for HTTP APIs with an OpenAPI document: one tool for each operation. */
package dev.mcpbridge.adapter.openapi;
