package dev.mcpbridge.cli.doctor;

import dev.mcpbridge.protocol.HiddenCharacters;
import java.util.Locale;

/**
 * What an examination has found.
 *
 * @param subject what was examined
 * @param advice what to do about it; empty if there is nothing to do
 * @param shared what others may read instead of the detail, which may repeat a secret of the
 *     configuration
 */
public record Finding(
    Severity severity, String subject, String detail, String advice, String shared) {
  /** How bad it is. */
  public enum Severity {
    OK,
    WARNING,
    PROBLEM
  }

  /** Nothing is wrong. */
  public static Finding ok(String subject, String detail) {
    return new Finding(Severity.OK, subject, detail, "", detail);
  }

  /** Something may become a problem. */
  public static Finding warning(String subject, String detail, String advice) {
    return new Finding(Severity.WARNING, subject, detail, advice, detail);
  }

  /** Something will not work. */
  public static Finding problem(String subject, String detail, String advice) {
    return new Finding(Severity.PROBLEM, subject, detail, advice, detail);
  }

  /** The same with another text for others. */
  public Finding sharedAs(String text) {
    return new Finding(severity, subject, detail, advice, text);
  }

  /** As the operator may see it: one line, and a second one with the advice. */
  @Override
  public String toString() {
    return lines(detail);
  }

  /** As others may see it. */
  public String shareable() {
    return lines(shared);
  }

  private String lines(String text) {
    String line = "%-8s %s: %s".formatted(severity.name().toLowerCase(Locale.ROOT), subject, text);
    return printable(line)
        + (advice.isEmpty() ? "" : System.lineSeparator() + "         " + printable(advice));
  }

  private static String printable(String line) {
    return HiddenCharacters.escaped(line.replaceAll("\\s+$", "").replaceAll("\\R", " "));
  }
}
