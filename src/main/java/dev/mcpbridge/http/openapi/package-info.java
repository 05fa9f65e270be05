/** Documents that describe tools as operations of an HTTP API, and a page to read them. */
package dev.mcpbridge.http.openapi;
