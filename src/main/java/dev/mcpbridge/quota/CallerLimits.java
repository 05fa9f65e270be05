package dev.mcpbridge.quota;

import java.util.function.BooleanSupplier;

/**
 * What bounds the calls of each caller.
 *
 * @param severalCallers whether callers can be told apart at this moment
 */
public record CallerLimits(BooleanSupplier severalCallers, Quotas quotas) {}
