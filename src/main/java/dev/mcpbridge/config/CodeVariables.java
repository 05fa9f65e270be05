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
          "CLASSPATH",
          "PERL5OPT",
          "PERL5LIB",
          "PERL5DB",
          "RUBYOPT",
          "RUBYLIB",
          "PHPRC",
          "PHP_INI_SCAN_DIR",
          "OPENSSL_CONF",
          "HTTP_PROXY",
          "HTTPS_PROXY",
          "ALL_PROXY");
  private static final List<String> PREFIXES =
      List.of(
          "LD_",
          "DYLD_",
          "PYTHON",
          "LUA_",
          "GIT_",
          "DOCKER_",
          "CONTAINER_",
          "NPM_CONFIG_",
          "UV_",
          "PIP_",
          "NUGET_",
          "DOTNET_",
          "MCP_BRIDGE_");

  /** Those of Python that only change how it writes and reads. */
  private static final List<String> HARMLESS =
      List.of("PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE");

  private CodeVariables() {}

  public static boolean contains(String variable) {
    String upper = variable.toUpperCase(Locale.ROOT);
    return !HARMLESS.contains(upper)
        && (NAMES.contains(upper) || PREFIXES.stream().anyMatch(upper::startsWith));
  }
}
