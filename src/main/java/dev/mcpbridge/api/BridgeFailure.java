package dev.mcpbridge.api;

import dev.mcpbridge.error.BridgeException;

/** What the bridge could not do for the program, other than a call. */
public final class BridgeFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;

  BridgeFailure(BridgeException failure) {
    super(failure.getMessage(), failure.getCause());
    this.code = failure.code().slug();
  }

  /** Of a failure of the bridge; any other one stays as it is. */
  static Throwable of(Throwable failure) {
    return failure instanceof BridgeException known ? new BridgeFailure(known) : failure;
  }

  /** As {@code code} in the problem documents of the HTTP API. */
  public String code() {
    return code;
  }
}
