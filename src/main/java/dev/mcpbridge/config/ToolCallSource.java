package dev.mcpbridge.config;

import java.net.URI;

/**
 * An executor of OpenAI-style function calls.
 *
 * @param url accepts {@code {"tool_calls": […]}} and returns {@code {"tool_responses": […]}}
 * @param tools the definitions of its functions
 */
public record ToolCallSource(URI url, DocumentSource tools, HttpAccess access)
    implements UpstreamTarget {}
