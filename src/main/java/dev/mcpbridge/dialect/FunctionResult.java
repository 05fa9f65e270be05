package dev.mcpbridge.dialect;

import java.util.List;

/**
 * The result of a model's call.
 *
 * @param isError whether the call failed or was not executed
 * @param blocks content blocks in the order of the tool's result; at least one
 */
public record FunctionResult(FunctionCall call, boolean isError, List<ContentBlock> blocks) {

  public FunctionResult {
    blocks = List.copyOf(blocks);
  }

  /** A result with a single text block. */
  public static FunctionResult of(FunctionCall call, boolean isError, String message) {
    return new FunctionResult(call, isError, List.of(new ContentBlock.Text(message)));
  }

  /** The text of all blocks, with descriptions in place of binary content. */
  public String text() {
    if (blocks.size() == 1) {
      return blocks.get(0).words();
    }
    StringBuilder text = new StringBuilder();
    for (ContentBlock contentBlock : blocks) {
      text.append(text.isEmpty() ? "" : "\n").append(contentBlock.words());
    }
    return text.toString();
  }
}
