package dev.mcpbridge.http.rest;

import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.LastError;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.time.Instant;
import java.util.List;

/** A server as the API shows it: the original's fields first, then the truth in detail. */
final class ServerJson {
  private ServerJson() {}

  /**
   * As in {@code GET /servers}.
   *
   * @param toAdmin whether it is shown to an administrator, who also sees what it wrote to stderr
   */
  static JsonSlice of(ServerView server, boolean toAdmin) {
    return members(server, toAdmin).endObject().toSlice();
  }

  /** As in {@code GET /servers/{server}}, with what of it is not offered. */
  static JsonSlice whole(ServerView server, boolean toAdmin) {
    JsonWriter out = members(server, toAdmin);
    if (server.isDiscovered() && server.catalogue().omitted() != null) {
      out.member("omitted", server.catalogue().omitted());
    }
    return out.endObject().toSlice();
  }

  private static JsonWriter members(ServerView server, boolean toAdmin) {
    JsonWriter out =
        new JsonWriter(512)
            .beginObject()
            .member("id", server.id().name())
            .member("connected", server.state().takesCalls());
    process(out, server);
    risk(out, server.risk().server());
    ServerView.Counters counters = server.counters();
    out.member("state", server.state().word())
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
        .member("last_error", error(server.lastError(), toAdmin));
    residences(out, server.residences());
    if (server.authUrl() != null) {
      out.member("auth_url", server.authUrl());
    }
    if (server.identity() != null) {
      identity(out, server);
    }
    return out;
  }

  private static String error(LastError error, boolean toAdmin) {
    return error == null ? null : toAdmin ? error.whole() : error.reason();
  }

  /** As in {@code GET /health}. */
  static JsonSlice brief(ServerView server) {
    JsonWriter out = new JsonWriter().beginObject().member("id", server.id().name());
    process(out, server);
    risk(out, server.risk().server());
    return out.member("state", server.state().word()).endObject().toSlice();
  }

  /** The original writes a level only where one was set. */
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

  /** Where it is one place, or the first of several, has members of its own. */
  private static void residences(JsonWriter out, List<InstanceLocation> residences) {
    InstanceLocation first = residences.get(0);
    if (first.node() != null) {
      out.member("node", first.node()).member("epoch", first.epoch());
    }
    if (residences.size() > 1) {
      out.name("nodes").beginArray();
      for (InstanceLocation at : residences) {
        out.beginObject()
            .member("instance", at.instance())
            .member("node", at.node())
            .member("epoch", at.epoch())
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
