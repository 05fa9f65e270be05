package dev.mcpbridge.dialect;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
    return blocks.stream().map(ContentBlock::words).collect(Collectors.joining("\n"));
  }

  /** The blocks with binary content. */
  Stream<ContentBlock.Media> media() {
    return blocks.stream()
        .filter(ContentBlock.Media.class::isInstance)
        .map(ContentBlock.Media.class::cast);
  }
}
