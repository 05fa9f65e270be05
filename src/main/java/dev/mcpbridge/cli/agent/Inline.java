package dev.mcpbridge.cli.agent;

import java.util.ArrayList;
import java.util.List;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Emphasis;
import org.commonmark.node.HardLineBreak;
import org.commonmark.node.HtmlInline;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.StrongEmphasis;
import org.commonmark.node.Text;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;
import org.jline.utils.WCWidth;

/** Collects the styled words of a Markdown block. */
final class Inline extends AbstractVisitor {
  private static final AttributedString LINE_BREAK = new AttributedString("\n");

  private final List<AttributedString> words = new ArrayList<>();
  private AttributedStringBuilder word = new AttributedStringBuilder();
  private AttributedStyle style;

  private Inline(AttributedStyle style) {
    this.style = style;
  }

  static List<AttributedString> wrapped(Node node, AttributedStyle style, int width) {
    Inline inline = new Inline(style);
    inline.visitChildren(node);
    inline.endWord();
    return lines(inline.words, width);
  }

  /** Renders a node as a single line. */
  static AttributedString line(Node node, AttributedStyle style) {
    List<AttributedString> lines = wrapped(node, style, Integer.MAX_VALUE);
    return lines.isEmpty()
        ? AttributedString.EMPTY
        : AttributedString.join(new AttributedString(" "), lines);
  }

  /** Wraps words to lines of the given width. */
  static List<AttributedString> lines(List<AttributedString> words, int width) {
    List<AttributedString> lines = new ArrayList<>();
    AttributedStringBuilder line = new AttributedStringBuilder();
    for (AttributedString word : words) {
      boolean isBreak = word == LINE_BREAK;
      for (AttributedString next : isBreak ? List.of(word) : pieces(word, width)) {
        if (isBreak || line.length() > 0 && line.columnLength() + 1 + next.columnLength() > width) {
          lines.add(line.toAttributedString());
          line = new AttributedStringBuilder();
        }
        if (!isBreak) {
          line.append(line.length() == 0 ? "" : " ").append(next);
        }
      }
    }
    if (line.length() > 0) {
      lines.add(line.toAttributedString());
    }
    return lines;
  }

  /** Long words are not split, so that they can be copied, except in scripts without spaces. */
  private static List<AttributedString> pieces(AttributedString word, int width) {
    boolean hasSpaces = word.codePoints().noneMatch(c -> WCWidth.wcwidth(c) > 1);
    return word.columnLength() <= width || hasSpaces
        ? List.of(word)
        : word.columnSplitLength(width);
  }

  private void endWord() {
    if (word.length() > 0) {
      words.add(word.toAttributedString());
      word = new AttributedStringBuilder();
    }
  }

  private void styled(AttributedStyle inner, Node node) {
    AttributedStyle before = style;
    style = inner;
    visitChildren(node);
    style = before;
  }

  /** Escapes control characters here, since entities are decoded only by the parser. */
  private void write(String parsed) {
    String text = TerminalText.escape(parsed);
    for (int i = 0; i < text.length(); i++) {
      if (Character.isWhitespace(text.charAt(i))) {
        endWord();
      } else {
        word.append(String.valueOf(text.charAt(i)), style);
      }
    }
  }

  @Override
  public void visit(Text text) {
    write(text.getLiteral());
  }

  @Override
  public void visit(Code code) {
    AttributedStyle before = style;
    style = before.foreground(AttributedStyle.GREEN);
    write(code.getLiteral());
    style = before;
  }

  @Override
  public void visit(HtmlInline html) {
    write(html.getLiteral());
  }

  @Override
  public void visit(Emphasis emphasis) {
    styled(style.italic(), emphasis);
  }

  @Override
  public void visit(StrongEmphasis strong) {
    styled(style.bold(), strong);
  }

  @Override
  public void visit(Link link) {
    target(link, link.getDestination());
  }

  @Override
  public void visit(Image image) {
    target(image, image.getDestination());
  }

  /** Always shows the destination of a link. */
  private void target(Node node, String destination) {
    int before = words.size();
    styled(style.underline(), node);
    boolean isSame = words.size() == before && word.toString().equals(destination);
    if (!isSame) {
      write(" <" + destination + ">");
    }
  }

  @Override
  public void visit(SoftLineBreak lineBreak) {
    endWord();
  }

  @Override
  public void visit(HardLineBreak lineBreak) {
    endWord();
    words.add(LINE_BREAK);
  }
}
