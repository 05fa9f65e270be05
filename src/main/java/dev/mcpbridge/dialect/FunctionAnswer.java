package dev.mcpbridge.dialect;

import java.util.List;

/**
 * The result of a model's call.
 *
 * @param isError whether the call failed or was not executed
 * @param parts content blocks in the order of the tool's result; at least one
 */
public record FunctionAnswer(FunctionCall call, boolean isError, List<ContentBlock> parts) {

  public FunctionAnswer {
    parts = List.copyOf(parts);
  }

  /** A result with a single text block. */
  public static FunctionAnswer of(FunctionCall call, boolean isError, String message) {
    return new FunctionAnswer(call, isError, List.of(new ContentBlock.Text(message)));
  }

  /** The text of all blocks, with descriptions in place of binary content. */
  public String text() {
    if (parts.size() == 1) {
      return parts.get(0).words();
    }
    StringBuilder text = new StringBuilder();
    for (ContentBlock contentBlock : parts) {
      text.append(text.isEmpty() ? "" : "\n").append(contentBlock.words());
    }
    return text.toString();
  }
}
