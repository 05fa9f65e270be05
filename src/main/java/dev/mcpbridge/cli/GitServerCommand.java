package dev.mcpbridge.cli;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.gitserver.GitServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The built-in Git server: MCP over stdin and stdout. */
@Command(
    name = "git-server",
    description = "Serve local Git repositories as MCP tools over stdin and stdout.",
    mixinStandardHelpOptions = true)
final class GitServerCommand implements Callable<Integer> {

  @Option(
      names = "--root",
      paramLabel = "FOLDER",
      required = true,
      description = "Serve the repositories below this folder; can be repeated.")
  private List<Path> roots;

  @Option(
      names = "--trust",
      paramLabel = "FOLDER",
      description =
          "Allow repositories in or below this folder that belong to other users; can be repeated."
              + " By default they are refused.")
  private List<Path> trusted = List.of();

  @Option(
      names = "--allow-hooks",
      description =
          "Allow commits and pushes to run the hooks of a repository, which are programs, if an"
              + " argument of the call requests it. By default no hook runs.")
  private boolean hooksAllowed;

  @Override
  public Integer call() throws Exception {
    for (Path root : roots) {
      if (!Files.isDirectory(root)) {
        throw new BridgeException(ErrorCode.NOT_FOUND, "--root is not a folder: " + root);
      }
    }
    new GitServer(roots, trusted, hooksAllowed).serve(System.in, System.out);
    return 0;
  }
}
