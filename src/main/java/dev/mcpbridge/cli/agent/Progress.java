package dev.mcpbridge.cli.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.mcpbridge.agent.AgentListener;
import dev.mcpbridge.agent.ToolOutcome;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.llm.ModelReply;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.util.List;
import org.jline.utils.AttributedStyle;

/** Shows the progress of an agent while it answers a question. */
final class Progress implements AgentListener {
  private static final int MAX_LINES = 15;
  private static final String INDENT = "    ";
  private static final AttributedStyle CALL =
      AttributedStyle.DEFAULT.foreground(AttributedStyle.YELLOW);

  private final TerminalScreen terminalScreen;
  private final boolean hidesJson;
  private final int jsonWidth;
  private final boolean showsText;
  private final MarkdownBlocks markdownBlocks = new MarkdownBlocks();

  /**
   * @param jsonWidth maximum width of a line of JSON
   * @param showsText whether the model's text is shown as it arrives
   */
  Progress(TerminalScreen terminalScreen, boolean hidesJson, int jsonWidth, boolean showsText) {
    this.terminalScreen = terminalScreen;
    this.hidesJson = hidesJson;
    this.jsonWidth = jsonWidth;
    this.showsText = showsText;
  }

  @Override
  public void onStep(int step) {
    terminalScreen.startSpinner("thinking");
  }

  @Override
  public void onRetry(long millis, String why) {
    terminalScreen.line(TerminalText.escape(why), TerminalScreen.ERROR);
    terminalScreen.startSpinner("retrying in " + (millis + 999) / 1_000 + " s");
  }

  @Override
  public void onText(String words) {
    if (showsText) {
      markdownBlocks.append(words).ifPresent(terminalScreen::markdown);
    }
  }

  @Override
  public void onReply(ModelReply modelReply) {
    terminalScreen.stopSpinner();
    markdownBlocks.flush().ifPresent(terminalScreen::markdown);
  }

  @Override
  public void onCalls(List<FunctionCall> calls) {
    for (FunctionCall call : calls) {
      terminalScreen.line("→ " + TerminalText.escape(String.valueOf(call.name())), CALL);
      if (!hidesJson) {
        indented(TerminalText.json(arguments(call), jsonWidth()).lines().toList());
      }
    }
    terminalScreen.startSpinner(
        calls.size() == 1 ? "calling" : "calling " + calls.size() + " tools");
  }

  private static JsonNode arguments(FunctionCall call) {
    try {
      return Json.exactTree(call.arguments());
    } catch (IOException e) {
      return TextNode.valueOf(call.arguments().text());
    }
  }

  private int jsonWidth() {
    return Math.min(jsonWidth, terminalScreen.width() - INDENT.length());
  }

  private void indented(List<String> lines) {
    lines.forEach(line -> terminalScreen.line(INDENT + line, TerminalScreen.FAINT));
  }

  @Override
  public void onOutcome(FunctionCall call, ToolOutcome end) {
    terminalScreen.stopSpinner();
    String name = TerminalText.escape(String.valueOf(call.name()));
    if (end instanceof ToolOutcome.Result result) {
      String status = result.isError() ? "failed" : "answered";
      terminalScreen.line(
          "← " + name + " " + status, result.isError() ? TerminalScreen.ERROR : CALL);
      if (!hidesJson || result.isError()) {
        indented(TerminalText.truncate(result.text(), jsonWidth(), MAX_LINES));
      }
    } else if (end instanceof ToolOutcome.Failure failure) {
      terminalScreen.line("← " + name + " did not complete", TerminalScreen.ERROR);
      indented(TerminalText.truncate(failure.message(), jsonWidth(), MAX_LINES));
    }
  }
}
