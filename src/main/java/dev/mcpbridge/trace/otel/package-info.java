/** Spans of the OpenTelemetry SDK. Loaded only if an endpoint for them is configured. */
package dev.mcpbridge.trace.otel;
