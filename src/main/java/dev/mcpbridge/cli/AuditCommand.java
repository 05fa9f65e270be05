package dev.mcpbridge.cli;

import dev.mcpbridge.audit.AuditVerifier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Commands about audit trails, on their files. */
@Command(
    name = "audit",
    description = "Verify, search and export the audit trail of a bridge.",
    mixinStandardHelpOptions = true,
    subcommands = {AuditCommand.Verify.class, AuditSearchCommand.class})
final class AuditCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "Missing subcommand; use: mcp-bridge audit verify, search or export");
  }

  /** Verifies a folder. */
  @Command(
      name = "verify",
      description = {
        "Verify every record, link, file and signature of an audit trail.",
        "",
        "Names the first record that is wrong; the exit code is 1 then. The bridge",
        "may be running."
      },
      mixinStandardHelpOptions = true)
  static final class Verify implements Callable<Integer> {
    @Parameters(paramLabel = "FOLDER", description = "The folder of the trail (audit.folder).")
    private Path folder;

    @Option(
        names = "--key",
        paramLabel = "FILE",
        description =
            "Public key that you have kept elsewhere (audit.pub);%ndefault: the one that the trail"
                + " names.")
    private Path key;

    @Option(
        names = "--head",
        paramLabel = "FILE",
        description =
            "An audit.head that you have kept elsewhere;%ndefault: the one in the folder.")
    private Path head;

    @Override
    public Integer call() {
      AuditVerifier.Report report;
      try {
        report =
            AuditVerifier.verify(folder, key == null ? null : AuditVerifier.publicKey(key), head);
      } catch (IOException e) {
        System.err.println(e.getMessage());
        return Main.FAILED;
      }
      report.notes().forEach(note -> System.out.println("note: " + note));
      if (report.error() != null) {
        System.out.println("wrong: " + report.error());
        return Main.FAILED;
      }
      System.out.printf(
          "ok: records %d to %d, %d checkpoints, %d records after the last one%n",
          report.first(), report.last(), report.checkpoints(), report.unsigned());
      return 0;
    }
  }
}
