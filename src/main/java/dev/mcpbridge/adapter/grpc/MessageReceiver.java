package dev.mcpbridge.adapter.grpc;

/** Takes the messages of a response. */
interface MessageReceiver {

  /** Takes a message; false if it wants no more, which ends the call as a success. */
  boolean receive(byte[] message);

  /** The bytes that it keeps until the call ends. */
  default long heldBytes() {
    return 0;
  }
}
