package dev.mcpbridge.cli.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.mcpbridge.agent.ToolEnd;
import dev.mcpbridge.agent.Watcher;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.dialect.Part;
import dev.mcpbridge.llm.Reply;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.jline.utils.AttributedStyle;

/** Shows what happens while a question is answered. */
final class Progress implements Watcher {
  private static final int MAX_LINES = 15;
  private static final String INDENT = "    ";
  private static final AttributedStyle CALL =
      AttributedStyle.DEFAULT.foreground(AttributedStyle.YELLOW);
  private static final AttributedStyle BAD =
      AttributedStyle.DEFAULT.foreground(AttributedStyle.RED);
  private static final AttributedStyle FAINT = AttributedStyle.DEFAULT.faint();

  private final Screen screen;
  private final Detail detail;
  private final boolean showsWords;
  private final Blocks blocks = new Blocks();

  /**
   * How much is shown of calls and results.
   *
   * @param jsonWidth of a line of JSON
   */
  record Detail(boolean hidesJson, int jsonWidth) {}

  /**
   * @param showsWords whether the model's words are shown as they come
   */
  Progress(Screen screen, Detail detail, boolean showsWords) {
    this.screen = screen;
    this.detail = detail;
    this.showsWords = showsWords;
  }

  @Override
  public void thinks(int step) {
    screen.waitFor("thinking");
  }

  @Override
  public void waits(long millis, String why) {
    screen.line(Shown.plain(why), BAD);
    screen.waitFor("trying again in " + (millis + 999) / 1_000 + " s");
  }

  @Override
  public void says(String words) {
    if (showsWords) {
      blocks.take(words).ifPresent(screen::markdown);
    }
  }

  @Override
  public void said(Reply reply) {
    screen.rest();
    blocks.rest().ifPresent(screen::markdown);
  }

  @Override
  public void calls(List<FunctionCall> calls) {
    for (FunctionCall call : calls) {
      screen.line("→ " + Shown.plain(String.valueOf(call.name())), CALL);
      if (!detail.hidesJson()) {
        indented(Shown.json(arguments(call), jsonWidth()).lines().toList());
      }
    }
    screen.waitFor(calls.size() == 1 ? "calling" : "calling " + calls.size() + " tools");
  }

  private static JsonNode arguments(FunctionCall call) {
    try {
      return Json.exactTree(call.arguments());
    } catch (IOException e) {
      return TextNode.valueOf(call.arguments().text());
    }
  }

  private int jsonWidth() {
    return Math.min(detail.jsonWidth(), screen.width() - INDENT.length());
  }

  private void indented(List<String> lines) {
    lines.forEach(line -> screen.line(INDENT + line, FAINT));
  }

  @Override
  public void ended(FunctionCall call, ToolEnd end) {
    screen.rest();
    String name = Shown.plain(String.valueOf(call.name()));
    if (end instanceof ToolEnd.Result result) {
      String text = result.parts().stream().map(Part::words).collect(Collectors.joining("\n"));
      String how = result.isError() ? "failed" : "answered";
      screen.line("← " + name + " " + how, result.isError() ? BAD : CALL);
      if (!detail.hidesJson() || result.isError()) {
        indented(Shown.cut(text, jsonWidth(), MAX_LINES));
      }
    } else if (end instanceof ToolEnd.Failure failure) {
      screen.line("← " + name + " did not run to an end", BAD);
      indented(Shown.cut(failure.sentence(), jsonWidth(), MAX_LINES));
    }
  }
}
