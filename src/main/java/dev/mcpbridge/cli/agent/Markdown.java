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

/** Lays Markdown out in lines of a terminal. One for each text. */
final class Markdown extends AbstractVisitor {
  private static final Parser PARSER =
      Parser.builder().extensions(List.of(TablesExtension.create())).build();
  private static final int NARROWEST = 10;

  private final int width;
  private final List<AttributedString> lines = new ArrayList<>();
  private String indent = "";
  private String marker;

  private Markdown(int width) {
    this.width = width;
  }

  static List<AttributedString> lines(String text, int width) {
    Markdown markdown = new Markdown(width);
    PARSER.parse(TerminalText.plain(text)).accept(markdown);
    return markdown.lines;
  }

  @Override
  public void visit(Paragraph paragraph) {
    inline(paragraph, AttributedStyle.DEFAULT);
  }

  @Override
  public void visit(Heading heading) {
    gap();
    inline(heading, AttributedStyle.BOLD.foreground(AttributedStyle.CYAN));
  }

  private void inline(Node node, AttributedStyle style) {
    Inline.wrapped(node, style, room()).forEach(this::add);
    if (!(node.getParent() instanceof ListItem)) {
      gap();
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

  /** Never wrapped: it may be meant to be copied. */
  private void literal(String text) {
    text.lines()
        .forEach(
            line ->
                add(
                    new AttributedString(
                        "  " + line, AttributedStyle.DEFAULT.foreground(AttributedStyle.GREEN))));
    gap();
  }

  @Override
  public void visit(BlockQuote quote) {
    within("│ ", quote);
    gap();
  }

  @Override
  public void visit(BulletList list) {
    for (Node item = list.getFirstChild(); item != null; item = item.getNext()) {
      item("• ", item);
    }
    listGap(list);
  }

  @Override
  public void visit(OrderedList list) {
    int number = list.getMarkerStartNumber() == null ? 1 : list.getMarkerStartNumber();
    for (Node item = list.getFirstChild(); item != null; item = item.getNext()) {
      item(number++ + ". ", item);
    }
    listGap(list);
  }

  private void listGap(Node list) {
    if (!(list.getParent() instanceof ListItem)) {
      gap();
    }
  }

  private void item(String sign, Node item) {
    marker = (marker == null ? indent : marker) + sign;
    within(" ".repeat(sign.length()), item);
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
    add(new AttributedString("─".repeat(room())));
    gap();
  }

  @Override
  public void visit(CustomBlock block) {
    if (block instanceof TableBlock table) {
      Table.lines(table, room()).forEach(this::add);
      gap();
    } else {
      visitChildren(block);
    }
  }

  private int room() {
    return Math.max(NARROWEST, width - indent.length());
  }

  private void add(AttributedString line) {
    AttributedStringBuilder whole = new AttributedStringBuilder();
    whole.append(marker == null ? indent : marker).append(line);
    marker = null;
    lines.add(whole.toAttributedString());
  }

  private void gap() {
    boolean isThere = lines.isEmpty() || lines.get(lines.size() - 1).length() == 0;
    if (!isThere && indent.isEmpty()) {
      lines.add(AttributedString.EMPTY);
    }
  }
}
