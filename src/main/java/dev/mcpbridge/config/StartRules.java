package dev.mcpbridge.config;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Glob;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Which commands may come over the API.
 *
 * @param allowed whether any may
 * @param commands patterns for a command as it was given, or for where it is found on the PATH
 */
public record StartRules(boolean allowed, List<Glob> commands) {
  private static final Glob ANY = new Glob("*");

  public StartRules {
    commands = List.copyOf(commands);
  }

  static StartRules read(Section http) {
    List<Glob> commands =
        http.has("allowedCommands")
            ? http.texts("allowedCommands", 1000).stream().map(Glob::new).toList()
            : List.of(ANY);
    return new StartRules(http.flag("allowStart", true), commands);
  }

  /** Whether every command may come. */
  public boolean allowsAny() {
    return allowed && commands.contains(ANY);
  }

  /**
   * @throws BridgeException FORBIDDEN, naming the key that forbids it
   */
  void check(String command) {
    if (!allowed) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN, "No server is started over this API: http.allowStart is false");
    }
    boolean isAllowed =
        allowsAny()
            || spellings(command)
                .anyMatch(spelling -> commands.stream().anyMatch(glob -> glob.matches(spelling)));
    if (!isAllowed) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN, "This command is not among http.allowedCommands");
    }
  }

  /** A path with dots could lead anywhere, so no pattern is meant for it. */
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
        processTarget.program(System.getenv("PATH")).stream().map(Path::toString));
  }
}
