package dev.mcpbridge.auth;

/** The text of a token that is sent in a header. Stateless. */
public final class BearerToken {
  private static final int MAX_LENGTH = 16 << 10;

  private BearerToken() {}

  /** RFC 6749 appendix A.12, except the space, which ends a token in a header. */
  public static boolean isValid(String text) {
    return !text.isEmpty()
        && text.length() <= MAX_LENGTH
        && text.chars().allMatch(c -> c > 0x20 && c < 0x7F);
  }
}
