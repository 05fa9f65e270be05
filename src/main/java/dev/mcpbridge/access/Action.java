package dev.mcpbridge.access;

import java.util.Locale;

/** What a rule allows or denies. */
public enum Action {
  /** See an entry in lists. */
  LIST,
  /** Call a tool. */
  CALL,
  /** Read a resource. */
  READ,
  /** Get a prompt. */
  GET,
  /** Get suggestions for arguments of a prompt or a resource template. */
  COMPLETE,
  /** Be notified of changes of a resource. */
  SUBSCRIBE;

  public String apiName() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Action of(String apiName) {
    return valueOf(apiName.toUpperCase(Locale.ROOT));
  }

  /** Whether allowing this action allows the other. */
  boolean includes(Action other) {
    return switch (this) {
      case READ -> other == READ || other == SUBSCRIBE || other == COMPLETE;
      case GET -> other == GET || other == COMPLETE;
      default -> other == this;
    };
  }

  /** Whether denying this action denies the other: what cannot be seen cannot be used. */
  boolean excludes(Action other) {
    return this == LIST || includes(other);
  }
}
