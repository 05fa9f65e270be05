package dev.mcpbridge.cli;

import dev.mcpbridge.gitserver.GitServer;
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
      description = "Repositories below it may be used; can be repeated.")
  private List<Path> roots;

  @Override
  public Integer call() throws Exception {
    new GitServer(roots).serve(System.in, System.out);
    return 0;
  }
}
