package dev.mcpbridge.config;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Glob;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Which commands may be started over the API.
 *
 * @param allowed whether any command may be started
 * @param commands patterns for a command as given, or for the file that it resolves to on the PATH
 */
public record StartRules(boolean allowed, List<Glob> commands) {
  private static final Glob ANY = new Glob("*");

  public StartRules {
    commands = List.copyOf(commands);
  }

  static StartRules read(Section http) {
    return new StartRules(http.flag("allowStart"), http.globs("allowedCommands"));
  }

  /** Whether every command is allowed. */
  public boolean allowsAny() {
    return allowed && commands.contains(ANY);
  }

  /**
   * @throws BridgeException FORBIDDEN if the command is not allowed; names the key that forbids it
   */
  void requireAllowed(String command) {
    if (!allowed) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN, "Servers cannot be started over this API: http.allowStart is false");
    }
    boolean isAllowed =
        allowsAny()
            || spellings(command)
                .anyMatch(spelling -> commands.stream().anyMatch(glob -> glob.matches(spelling)));
    if (!isAllowed) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN, "This command is not listed in http.allowedCommands");
    }
  }

  /** The texts to match; empty for a path with dots, which could lead anywhere. */
  private static Stream<String> spellings(String command) {
    Path path = Section.path(command);
    if (path == null || !path.equals(path.normalize())) {
      return Stream.empty();
    }
    if (command.contains("/")) {
      return Stream.of(command);
    }
    ProcessTarget processTarget = new ProcessTarget(List.of(command), Map.of(), null);
    return Stream.concat(
        Stream.of(command),
        processTarget.executable(System.getenv("PATH")).stream().map(Path::toString));
  }
}
