package dev.mcpbridge.adapter.grpc;

import dev.mcpbridge.transport.ClientResponse;

/**
 * JSON text that is written up to a length and a nesting only: a small message can have a long JSON
 * form, and messages within an {@code Any} nest without a limit of their own.
 */
final class BoundedText implements Appendable {
  private static final int MAX_DEPTH = 200;

  private final StringBuilder text = new StringBuilder();
  private final int max;
  private int depth;
  private boolean inString;
  private boolean isEscaped;

  /**
   * @param max maximum length in characters
   */
  BoundedText(int max) {
    this.max = max;
  }

  /**
   * @throws dev.mcpbridge.error.BridgeException RESPONSE_TOO_LARGE
   */
  @Override
  public BoundedText append(CharSequence part) {
    return append(part, 0, part.length());
  }

  @Override
  public BoundedText append(CharSequence part, int from, int to) {
    for (int i = from; i < to; i++) {
      count(part.charAt(i));
    }
    text.append(part, from, to);
    if (text.length() > max || depth > MAX_DEPTH) {
      throw ClientResponse.tooLarge(max);
    }
    return this;
  }

  @Override
  public BoundedText append(char c) {
    return append(String.valueOf(c), 0, 1);
  }

  private void count(char c) {
    if (isEscaped) {
      isEscaped = false;
    } else if (c == '"') {
      inString = !inString;
    } else if (inString) {
      isEscaped = c == '\\';
    } else if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      depth--;
    }
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
