package dev.mcpbridge.bus;

import dev.mcpbridge.model.Part;
import dev.mcpbridge.model.ServerId;

/**
 * Which nodes an address or a topic is for.
 *
 * @param part of a server, whose owner; null for none
 * @param isAny whether another part of that server is as good
 * @param callId of a call whose caller's node it is; null for none
 */
record Reach(boolean isEverywhere, Part part, boolean isAny, String callId) {
  static final Reach HERE = new Reach(false, null, false, null);
  static final Reach EVERYWHERE = new Reach(true, null, false, null);

  static Reach owner(Part part) {
    return new Reach(false, part, false, null);
  }

  static Reach anyOwner(ServerId server) {
    return new Reach(false, Part.first(server), true, null);
  }

  static Reach caller(String callId) {
    return new Reach(false, null, false, callId);
  }

  /** The name of one thing there. */
  String name(String what) {
    if (part != null) {
      return "server." + part.name() + "." + what;
    }
    return callId != null ? "call." + callId + "." + what : what;
  }
}
