package dev.mcpbridge.http.mcp;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonSlice;

/** What a request is about to do; a request that comes back with an answer has the same. */
record CallIntent(ServerId server, Target target, JsonSlice arguments) {}
