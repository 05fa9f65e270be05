package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonSlice;

/** The call that a request makes; the same when the request is repeated with an answer. */
record CallIntent(ServerId server, Target target, JsonSlice arguments) {}
