/** Adapter for gRPC servers: one tool for each method. */
package dev.mcpbridge.adapter.grpc;
