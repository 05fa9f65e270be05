package dev.mcpbridge.bus;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;

/**
 * The nodes that an address or a topic is for.
 *
 * @param isEverywhere whether it is for all nodes
 * @param instanceId the instance whose owner it is for; null if it is not for an owner
 * @param isAny whether the owner of any other instance of the same server will do
 * @param callId the call whose caller's node it is for; null if it is not for a caller
 * @param slot the one node that it is for; 0 if it is not for one
 */
record AddressScope(
    boolean isEverywhere, InstanceId instanceId, boolean isAny, String callId, int slot) {
  static final AddressScope LOCAL = new AddressScope(false, null, false, null, 0);
  static final AddressScope ALL_NODES = new AddressScope(true, null, false, null, 0);

  static AddressScope owner(InstanceId instanceId) {
    return new AddressScope(false, instanceId, false, null, 0);
  }

  static AddressScope anyOwner(ServerId server) {
    return new AddressScope(false, InstanceId.first(server), true, null, 0);
  }

  static AddressScope caller(String callId) {
    return new AddressScope(false, null, false, callId, 0);
  }

  static AddressScope node(int slot) {
    return new AddressScope(false, null, false, null, slot);
  }

  /** The full name of an operation or a topic in this scope. */
  String name(String what) {
    if (instanceId != null) {
      return "server." + instanceId.name() + "." + what;
    }
    return callId != null ? "call." + callId + "." + what : what;
  }
}
