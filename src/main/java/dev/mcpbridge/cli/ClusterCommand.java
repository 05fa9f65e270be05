package dev.mcpbridge.cli;

import dev.mcpbridge.cluster.trust.Authority;
import dev.mcpbridge.protocol.PercentEncoding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Commands for the nodes of a cluster. */
@Command(
    name = "cluster",
    description = "Show and change the nodes of a cluster, and issue their certificates.",
    mixinStandardHelpOptions = true,
    subcommands = {
      ClusterCommand.Status.class,
      ClusterCommand.Add.class,
      ClusterCommand.Remove.class,
      ClusterCommand.Certificates.class
    })
final class ClusterCommand implements Runnable {
  private static final String VOTERS = "/cluster/voters/";

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "Missing subcommand; use: mcp-bridge cluster status, add, remove or certificates");
  }

  /** Prints members and voters. */
  @Command(
      name = "status",
      description = "Show the members, the voters and the node that orders decisions.",
      mixinStandardHelpOptions = true)
  static final class Status implements Callable<Integer> {
    @Mixin private BridgeClient bridge;

    @Override
    public Integer call() throws Exception {
      return ResponsePrinter.print(bridge.get("/cluster"));
    }
  }

  /** Adds a voter. */
  @Command(
      name = "add",
      description = "Make a running member one of the nodes whose majority decides.",
      mixinStandardHelpOptions = true)
  static final class Add implements Callable<Integer> {
    @Mixin private BridgeClient bridge;

    @Parameters(paramLabel = "NODE", description = "Name or address of the member.")
    private String node;

    @Override
    public Integer call() throws Exception {
      return ResponsePrinter.print(bridge.put(VOTERS + PercentEncoding.encoded(node)));
    }
  }

  /** Removes a voter. */
  @Command(
      name = "remove",
      description = "Take a node, running or lost, from the nodes whose majority decides.",
      mixinStandardHelpOptions = true)
  static final class Remove implements Callable<Integer> {
    @Mixin private BridgeClient bridge;

    @Parameters(paramLabel = "NODE", description = "Name of the member, or address of the node.")
    private String node;

    @Override
    public Integer call() throws Exception {
      return ResponsePrinter.print(bridge.delete(VOTERS + PercentEncoding.encoded(node)));
    }
  }

  /** Issues certificates for cluster.tls. */
  @Command(
      name = "certificates",
      description =
          "Create an authority and a certificate for each host, for cluster.tls. The key of the"
              + " authority is not kept: to add a host later, issue all certificates again.",
      mixinStandardHelpOptions = true)
  static final class Certificates implements Callable<Integer> {
    private static final String PRIVATE = "rw-------";

    @Option(
        names = "--out",
        paramLabel = "DIR",
        required = true,
        description = "New folder for the files.")
    private Path folder;

    @Parameters(
        arity = "1..*",
        paramLabel = "HOST",
        description = "DNS name or IP address of a node, as in cluster.members.")
    private List<String> hosts;

    @Override
    public Integer call() throws IOException {
      Files.createDirectories(folder.toAbsolutePath().getParent());
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      Authority authority = Authority.random();
      write(folder.resolve("ca.pem"), authority.certificate());
      for (String host : hosts) {
        Authority.Issued issued = authority.issue(List.of(host));
        Path own = Files.createDirectory(folder.resolve(PercentEncoding.encoded(host)));
        write(own.resolve("cert.pem"), issued.certificate());
        write(own.resolve("key.pem"), issued.key());
        System.out.println(own);
      }
      return 0;
    }

    private static void write(Path file, String text) throws IOException {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(PRIVATE)));
      Files.writeString(file, text, StandardOpenOption.WRITE);
    }
  }
}
