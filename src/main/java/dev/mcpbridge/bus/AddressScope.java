package dev.mcpbridge.bus;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;

/**
 * Which nodes an address or a topic is for.
 *
 * @param instanceId of a server, whose owner; null for none
 * @param isAny whether another part of that server is as good
 * @param callId of a call whose caller's node it is; null for none
 */
record AddressScope(boolean isEverywhere, InstanceId instanceId, boolean isAny, String callId) {
  static final AddressScope HERE = new AddressScope(false, null, false, null);
  static final AddressScope EVERYWHERE = new AddressScope(true, null, false, null);

  static AddressScope owner(InstanceId instanceId) {
    return new AddressScope(false, instanceId, false, null);
  }

  static AddressScope anyOwner(ServerId server) {
    return new AddressScope(false, InstanceId.first(server), true, null);
  }

  static AddressScope caller(String callId) {
    return new AddressScope(false, null, false, callId);
  }

  /** The name of one thing there. */
  String name(String what) {
    if (instanceId != null) {
      return "server." + instanceId.name() + "." + what;
    }
    return callId != null ? "call." + callId + "." + what : what;
  }
}
