package dev.mcpbridge.call;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;

/**
 * What a door asks for.
 *
 * @param id from {@link CallIds}
 * @param streaming whether progress is to be published
 */
public record CallRequest(
    String id,
    ServerId server,
    Target target,
    Arguments arguments,
    String caller,
    boolean streaming) {}
