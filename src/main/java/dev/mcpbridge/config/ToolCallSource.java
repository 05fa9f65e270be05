package dev.mcpbridge.config;

import java.net.URI;

/**
 * An executor of OpenAI-style function calls.
 *
 * @param url accepts {@code {"tool_calls": […]}} and returns {@code {"tool_responses": […]}}
 * @param tools the definitions of its functions
 * @param callsPerRequest how many calls may be sent in one request
 * @param collectMillis how long a call waits for others to be sent with, if it may
 */
public record ToolCallSource(
    URI url, DocumentSource tools, HttpAccess access, int callsPerRequest, long collectMillis)
    implements UpstreamTarget {}
