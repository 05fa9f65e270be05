package dev.mcpbridge.bus;

import dev.mcpbridge.model.ServerId;

/**
 * Which nodes an address or a topic is for.
 *
 * @param server whose owner; null for none
 * @param callId of a call whose caller's node it is; null for none
 */
record Reach(boolean isEverywhere, ServerId server, String callId) {
  static final Reach HERE = new Reach(false, null, null);
  static final Reach EVERYWHERE = new Reach(true, null, null);

  static Reach owner(ServerId server) {
    return new Reach(false, server, null);
  }

  static Reach caller(String callId) {
    return new Reach(false, null, callId);
  }

  /** The name of one thing at a server. */
  String name(String what) {
    return "server." + server.name() + "." + what;
  }
}
