package dev.mcpbridge.validation;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import com.networknt.schema.regex.RegularExpression;
import com.networknt.schema.regex.RegularExpressionFactory;

/**
 * Matches the {@code pattern}s of schemas in linear time. Schemas come from upstreams and values
 * from callers, so a backtracking matcher could be made to run for hours. Patterns that need
 * backtracking (look-around, back references) are not checked here; the upstream validates as well.
 */
final class LinearRegex implements RegularExpressionFactory {
  private static final int MAX_PATTERN = 4096;

  @Override
  public RegularExpression getRegularExpression(String regex) {
    if (regex.length() > MAX_PATTERN) {
      return text -> true;
    }
    try {
      Pattern pattern = Pattern.compile(regex);
      return text -> pattern.matcher(text).find();
    } catch (PatternSyntaxException e) {
      return text -> true;
    }
  }
}
