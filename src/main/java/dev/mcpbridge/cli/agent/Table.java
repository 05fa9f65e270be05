package dev.mcpbridge.cli.agent;

import java.util.ArrayList;
import java.util.List;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.node.Node;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Renders a table in columns if they fit, else each row as a list. Stateless. */
final class Table {
  private static final String SEPARATOR = "  ";

  private Table() {}

  static List<AttributedString> lines(TableBlock table, int width) {
    List<List<AttributedString>> rows = new ArrayList<>();
    for (Node part = table.getFirstChild(); part != null; part = part.getNext()) {
      for (Node row = part.getFirstChild(); row != null; row = row.getNext()) {
        rows.add(cells(row));
      }
    }
    int columns = rows.stream().mapToInt(List::size).max().orElse(0);
    int[] widths = new int[columns];
    rows.forEach(
        row -> {
          for (int i = 0; i < row.size(); i++) {
            widths[i] = Math.max(widths[i], row.get(i).columnLength());
          }
        });
    int total = (columns - 1) * SEPARATOR.length();
    for (int column : widths) {
      total += column;
    }
    return total <= width ? asColumns(rows, widths) : asLists(rows, width);
  }

  private static List<AttributedString> cells(Node row) {
    List<AttributedString> cells = new ArrayList<>();
    for (Node cell = row.getFirstChild(); cell != null; cell = cell.getNext()) {
      boolean isHeader = cell instanceof TableCell tableCell && tableCell.isHeader();
      cells.add(Inline.line(cell, isHeader ? AttributedStyle.BOLD : AttributedStyle.DEFAULT));
    }
    return cells;
  }

  private static List<AttributedString> asColumns(List<List<AttributedString>> rows, int[] widths) {
    List<AttributedString> lines = new ArrayList<>();
    for (List<AttributedString> row : rows) {
      AttributedStringBuilder line = new AttributedStringBuilder();
      for (int i = 0; i < row.size(); i++) {
        line.append(row.get(i));
        boolean isLast = i == row.size() - 1;
        line.append(isLast ? "" : " ".repeat(widths[i] - row.get(i).columnLength()) + SEPARATOR);
      }
      lines.add(line.toAttributedString());
    }
    return lines;
  }

  private static List<AttributedString> asLists(List<List<AttributedString>> rows, int width) {
    List<AttributedString> lines = new ArrayList<>();
    List<AttributedString> headers = rows.get(0);
    for (List<AttributedString> row : rows.subList(1, rows.size())) {
      String before = "• ";
      for (int i = 0; i < row.size(); i++) {
        List<AttributedString> words = words(headers.get(i), ":");
        words.addAll(words(row.get(i), ""));
        for (AttributedString line : Inline.lines(words, width - before.length())) {
          lines.add(
              AttributedString.join(AttributedString.EMPTY, new AttributedString(before), line));
          before = "  ";
        }
      }
    }
    return lines;
  }

  private static List<AttributedString> words(AttributedString line, String end) {
    AttributedString text =
        new AttributedStringBuilder().append(line).append(end).toAttributedString();
    List<AttributedString> words = new ArrayList<>();
    int from = 0;
    for (int at = text.toString().indexOf(' '); at >= 0; at = text.toString().indexOf(' ', from)) {
      words.add(text.subSequence(from, at));
      from = at + 1;
    }
    words.add(text.subSequence(from, text.length()));
    return words;
  }
}
