package dev.mcpbridge.cluster.peer;

/** What another node answered in place of a result, as bytes. */
public final class RemoteFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final transient byte[] bytes;

  RemoteFailure(byte[] bytes) {
    super("remote failure", null, false, false);
    this.bytes = bytes;
  }

  public byte[] bytes() {
    return bytes;
  }
}
