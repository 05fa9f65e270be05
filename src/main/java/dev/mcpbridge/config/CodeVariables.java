package dev.mcpbridge.config;

import java.util.List;
import java.util.Locale;

/**
 * The environment variables with which a program loads other code, or reaches the network another
 * way. Only the configuration file may set them: neither a caller nor a registry.
 */
public final class CodeVariables {
  private static final List<String> NAMES =
      List.of(
          "PATH",
          "IFS",
          "ENV",
          "BASH_ENV",
          "NODE_OPTIONS",
          "NODE_PATH",
          "JAVA_TOOL_OPTIONS",
          "JDK_JAVA_OPTIONS",
          "_JAVA_OPTIONS",
          "PERL5OPT",
          "RUBYOPT",
          "HTTP_PROXY",
          "HTTPS_PROXY",
          "ALL_PROXY");
  private static final List<String> PREFIXES =
      List.of("LD_", "DYLD_", "PYTHON", "GIT_", "DOCKER_", "MCP_BRIDGE_");

  private CodeVariables() {}

  public static boolean contains(String variable) {
    String upper = variable.toUpperCase(Locale.ROOT);
    return NAMES.contains(upper) || PREFIXES.stream().anyMatch(upper::startsWith);
  }
}
