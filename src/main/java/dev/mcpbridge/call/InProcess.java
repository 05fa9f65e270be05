package dev.mcpbridge.call;

import dev.mcpbridge.bus.Bus;

/**
 * What a program that runs a bridge in its own process uses in place of a door. To be used on the
 * event loop of the {@link #bus}.
 */
public record InProcess(
    Bus bus,
    AccessControl access,
    CatalogueCache catalogues,
    CallPipeline pipeline,
    DecidedCalls decided,
    CallIds ids) {}
