package dev.mcpbridge.quota;

import dev.mcpbridge.access.Who;
import dev.mcpbridge.protocol.Urgency;

/**
 * How urgent the calls of callers are, as in {@link Urgency}. Immutable.
 *
 * @param urgency of calls whose client does not say
 * @param mostUrgent the lowest number that a client may ask for
 */
public record UrgencyRule(Who who, int urgency, int mostUrgent) {}
