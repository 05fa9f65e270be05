/** OpenAPI documents with tools as operations, and a page to browse them. */
package dev.mcpbridge.http.openapi;
