package dev.mcpbridge.cli.agent;

import java.util.ArrayList;
import java.util.List;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.BlockQuote;
import org.commonmark.node.BulletList;
import org.commonmark.node.CustomBlock;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.IndentedCodeBlock;
import org.commonmark.node.ListItem;
import org.commonmark.node.Node;
import org.commonmark.node.OrderedList;
import org.commonmark.node.Paragraph;
import org.commonmark.node.ThematicBreak;
import org.commonmark.parser.Parser;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Renders Markdown as lines of a terminal. One instance for each text. */
final class Markdown extends AbstractVisitor {
  private static final Parser PARSER =
      Parser.builder().extensions(List.of(TablesExtension.create())).build();
  private static final int MIN_WIDTH = 10;

  private final int width;
  private final List<AttributedString> lines = new ArrayList<>();
  private String indent = "";
  private String marker;

  private Markdown(int width) {
    this.width = width;
  }

  static List<AttributedString> lines(String text, int width) {
    Markdown markdown = new Markdown(width);
    PARSER.parse(TerminalText.escape(text)).accept(markdown);
    return markdown.lines;
  }

  @Override
  public void visit(Paragraph paragraph) {
    inline(paragraph, AttributedStyle.DEFAULT);
  }

  @Override
  public void visit(Heading heading) {
    addGap();
    inline(heading, AttributedStyle.BOLD.foreground(AttributedStyle.CYAN));
  }

  private void inline(Node node, AttributedStyle style) {
    Inline.wrapped(node, style, contentWidth()).forEach(this::add);
    if (!(node.getParent() instanceof ListItem)) {
      addGap();
    }
  }

  @Override
  public void visit(FencedCodeBlock code) {
    literal(code.getLiteral());
  }

  @Override
  public void visit(IndentedCodeBlock code) {
    literal(code.getLiteral());
  }

  @Override
  public void visit(HtmlBlock html) {
    literal(html.getLiteral());
  }

  /** Code is never wrapped, so that it can be copied. */
  private void literal(String text) {
    text.lines()
        .forEach(
            line ->
                add(
                    new AttributedString(
                        "  " + line, AttributedStyle.DEFAULT.foreground(AttributedStyle.GREEN))));
    addGap();
  }

  @Override
  public void visit(BlockQuote quote) {
    within("│ ", quote);
    addGap();
  }

  @Override
  public void visit(BulletList list) {
    for (Node item = list.getFirstChild(); item != null; item = item.getNext()) {
      item("• ", item);
    }
    addGapAfterList(list);
  }

  @Override
  public void visit(OrderedList list) {
    int number = list.getMarkerStartNumber() == null ? 1 : list.getMarkerStartNumber();
    for (Node item = list.getFirstChild(); item != null; item = item.getNext()) {
      item(number++ + ". ", item);
    }
    addGapAfterList(list);
  }

  private void addGapAfterList(Node list) {
    if (!(list.getParent() instanceof ListItem)) {
      addGap();
    }
  }

  private void item(String bullet, Node item) {
    marker = (marker == null ? indent : marker) + bullet;
    within(" ".repeat(bullet.length()), item);
    if (marker != null) {
      add(AttributedString.EMPTY);
    }
    marker = null;
  }

  private void within(String more, Node parent) {
    String before = indent;
    indent = before + more;
    visitChildren(parent);
    indent = before;
  }

  @Override
  public void visit(ThematicBreak rule) {
    add(new AttributedString("─".repeat(contentWidth())));
    addGap();
  }

  @Override
  public void visit(CustomBlock block) {
    if (block instanceof TableBlock table) {
      Table.lines(table, contentWidth()).forEach(this::add);
      addGap();
    } else {
      visitChildren(block);
    }
  }

  private int contentWidth() {
    return Math.max(MIN_WIDTH, width - indent.length());
  }

  private void add(AttributedString line) {
    AttributedStringBuilder whole = new AttributedStringBuilder();
    whole.append(marker == null ? indent : marker).append(line);
    marker = null;
    lines.add(whole.toAttributedString());
  }

  private void addGap() {
    boolean hasGap = lines.isEmpty() || lines.get(lines.size() - 1).length() == 0;
    if (!hasGap && indent.isEmpty()) {
      lines.add(AttributedString.EMPTY);
    }
  }
}
