package dev.mcpbridge.dialect;

import java.util.List;

/**
 * What one call of a model came to.
 *
 * @param isError whether the model has to know that it did not do what was asked
 * @param parts in the order of the result; at least one
 */
public record FunctionAnswer(FunctionCall call, boolean isError, List<ContentBlock> parts) {

  public FunctionAnswer {
    parts = List.copyOf(parts);
  }

  /** What has no words but its sentence. */
  public static FunctionAnswer of(FunctionCall call, boolean isError, String sentence) {
    return new FunctionAnswer(call, isError, List.of(new ContentBlock.Text(sentence)));
  }

  /** All texts, and in the place of anything else a sentence that says what it is. */
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
