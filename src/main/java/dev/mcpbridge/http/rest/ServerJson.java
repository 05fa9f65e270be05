package dev.mcpbridge.http.rest;

import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.LastError;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.time.Instant;
import java.util.List;

/** Writes servers for the API: the original's fields first, then the details. */
final class ServerJson {
  private ServerJson() {}

  /**
   * An entry of {@code GET /servers}.
   *
   * @param isAdmin whether the caller is an administrator, who also sees the server's stderr
   */
  static JsonSlice of(ServerView server, boolean isAdmin) {
    return members(server, isAdmin).endObject().toSlice();
  }

  /** The body of {@code GET /servers/{server}}, with the omitted operations. */
  static JsonSlice details(ServerView server, boolean isAdmin) {
    JsonWriter out = members(server, isAdmin);
    if (server.isDiscovered() && server.catalogue().omitted() != null) {
      out.member("omitted", server.catalogue().omitted());
    }
    return out.endObject().toSlice();
  }

  private static JsonWriter members(ServerView server, boolean isAdmin) {
    JsonWriter out =
        new JsonWriter(512)
            .beginObject()
            .member("id", server.id().name())
            .member("connected", server.state().takesCalls());
    process(out, server);
    risk(out, server.risk().server());
    ServerView.Counters counters = server.counters();
    out.member("state", server.state().apiName())
        .member("since", Instant.ofEpochMilli(server.sinceMillis()).toString())
        .name("pids")
        .beginArray();
    server.pids().forEach(out::value);
    out.endArray()
        .member("instances", counters.instances())
        .member("sessions", counters.sessions())
        .member("era", server.era())
        .member("protocol_version", server.protocolVersion())
        .member("tool_count", server.isDiscovered() ? server.catalogue().tools().size() : 0)
        .member("restarts", counters.restarts())
        .member("pending_calls", counters.inFlight())
        .member("queued_calls", counters.queued())
        .member("garbage_lines", counters.garbageLines())
        .member("dropped_messages", counters.dropped())
        .member("last_error", error(server.lastError(), isAdmin));
    locations(out, server.locations());
    if (server.authUrl() != null) {
      out.member("auth_url", server.authUrl());
    }
    if (server.identity() != null) {
      identity(out, server);
    }
    return out;
  }

  private static String error(LastError error, boolean isAdmin) {
    return error == null ? null : isAdmin ? error.describe() : error.reason();
  }

  /** An entry of {@code GET /health}. */
  static JsonSlice brief(ServerView server) {
    JsonWriter out = new JsonWriter().beginObject().member("id", server.id().name());
    process(out, server);
    risk(out, server.risk().server());
    return out.member("state", server.state().apiName()).endObject().toSlice();
  }

  /** Like the original, writes a level only if one is configured. */
  static void risk(JsonWriter out, RiskLevel level) {
    if (level != null) {
      out.member("risk_level", level.number()).member("risk_description", level.description());
      if (level == RiskLevel.HIGH) {
        out.member("running_in_docker", true);
      }
    }
  }

  private static void process(JsonWriter out, ServerView server) {
    if (server.pids().isEmpty()) {
      out.member("pid", JsonSlice.NULL);
    } else {
      out.member("pid", server.pids().get(0));
    }
    out.member("initialization_state", server.initializationState());
  }

  /** Writes the first location as members of the server, and a list if there are several. */
  private static void locations(JsonWriter out, List<InstanceLocation> locations) {
    InstanceLocation first = locations.get(0);
    if (first.node() != null) {
      out.member("node", first.node()).member("epoch", first.epoch());
    }
    if (locations.size() > 1) {
      out.name("nodes").beginArray();
      for (InstanceLocation location : locations) {
        out.beginObject()
            .member("instance", location.instance())
            .member("node", location.node())
            .member("epoch", location.epoch())
            .endObject();
      }
      out.endArray();
    }
  }

  private static void identity(JsonWriter out, ServerView server) {
    if (server.identity().serverInfo() != null) {
      out.member("server_info", server.identity().serverInfo());
    }
    out.member("capabilities", server.identity().capabilities());
    if (server.identity().instructions() != null) {
      out.member("instructions", server.identity().instructions());
    }
  }
}
