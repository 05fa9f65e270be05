package dev.mcpbridge.model;

/**
 * A name pattern in which {@code *} matches any sequence of characters. Matching takes linear time
 * for any input, since names are untrusted.
 */
public record Glob(String pattern) {

  public boolean isExact() {
    return pattern.indexOf('*') < 0;
  }

  public boolean matches(String name) {
    int p = 0;
    int n = 0;
    int star = -1;
    int resume = 0;
    while (n < name.length()) {
      if (p < pattern.length() && pattern.charAt(p) == '*') {
        star = p++;
        resume = n;
      } else if (p < pattern.length() && pattern.charAt(p) == name.charAt(n)) {
        p++;
        n++;
      } else if (star >= 0) {
        p = star + 1;
        n = ++resume;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
    }
    return p == pattern.length();
  }
}
