package dev.mcpbridge.cli.doctor;

import dev.mcpbridge.protocol.HiddenCharacters;
import java.util.Locale;

/**
 * What an examination has found.
 *
 * @param subject what was examined
 * @param advice what to do about it; empty if there is nothing to do
 */
public record Finding(Severity severity, String subject, String detail, String advice) {
  /** How bad it is. */
  public enum Severity {
    OK,
    WARNING,
    PROBLEM
  }

  /** Nothing is wrong. */
  public static Finding ok(String subject, String detail) {
    return new Finding(Severity.OK, subject, detail, "");
  }

  /** Something may become a problem. */
  public static Finding warning(String subject, String detail, String advice) {
    return new Finding(Severity.WARNING, subject, detail, advice);
  }

  /** Something will not work. */
  public static Finding problem(String subject, String detail, String advice) {
    return new Finding(Severity.PROBLEM, subject, detail, advice);
  }

  /** One line, and a second one with the advice. */
  @Override
  public String toString() {
    String line =
        "%-8s %s: %s".formatted(severity.name().toLowerCase(Locale.ROOT), subject, detail);
    return printable(line)
        + (advice.isEmpty() ? "" : System.lineSeparator() + "         " + printable(advice));
  }

  private static String printable(String line) {
    return HiddenCharacters.escaped(line.replaceAll("\\s+$", "").replaceAll("\\R", " "));
  }
}
