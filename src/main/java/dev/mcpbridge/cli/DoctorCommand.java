package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.Version;
import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.cli.doctor.Doctor;
import dev.mcpbridge.cli.doctor.Finding;
import dev.mcpbridge.cli.doctor.Finding.Severity;
import dev.mcpbridge.cli.doctor.SupportBundle;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigProblem;
import dev.mcpbridge.config.RedactedConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.sandbox.SandboxCheck;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Examines what a bridge needs on this machine, and packs what is needed for support. */
@Command(
    name = "doctor",
    description = "Find out what is wrong with a bridge, its configuration or this machine.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Nothing is started or changed. Servers at a URL are connected, without credentials.",
      "The exit code is 1 if there is a problem."
    })
final class DoctorCommand implements Callable<Integer> {
  private static final List<String> PAGES = List.of("/health", "/cluster");

  @Mixin private ConfigOption configuration;

  @Mixin private BridgeClient bridge;

  @Option(
      names = "--bundle",
      paramLabel = "FILE",
      description =
          "Also write a ZIP file for support: the findings, the configuration without%n"
              + "secrets, and health and cluster of the bridge at --url if it runs.")
  private Path bundle;

  @Override
  public Integer call() throws Exception {
    LogLineFormatter.configure(LogLineFormatter.Threshold.ERROR);
    List<Finding> findings = findings();
    findings.forEach(System.out::println);
    long problems = count(findings, Severity.PROBLEM);
    System.out.printf("problems: %d, warnings: %d%n", problems, count(findings, Severity.WARNING));
    if (bundle != null) {
      write(findings);
    }
    return problems == 0 ? 0 : Main.FAILED;
  }

  private static long count(List<Finding> findings, Severity severity) {
    return findings.stream().filter(finding -> finding.severity() == severity).count();
  }

  private List<Finding> findings() throws InterruptedException {
    List<Finding> findings = new ArrayList<>();
    try {
      BridgeConfig config = configuration.read();
      for (ConfigProblem warning : config.warnings()) {
        findings.add(
            Finding.warning("configuration", warning.toString(), "").sharedAs(warning.path()));
      }
      findings.addAll(new Doctor(config, configuration.source(), System.getenv()).examine());
      if (config.servers().values().stream().anyMatch(server -> server.sandboxPool() != null)) {
        findings.add(engine(config));
      }
    } catch (BridgeException invalid) {
      invalid
          .getMessage()
          .lines()
          .forEach(
              line ->
                  findings.add(
                      Finding.problem("configuration", line, "")
                          .sharedAs("invalid; mcp-bridge check shows why")));
    }
    return findings;
  }

  private static Finding engine(BridgeConfig config) {
    Vertx vertx = Bridge.vertx();
    try {
      SandboxCheck.Report report =
          new SandboxCheck(vertx, config.sandbox()).of(List.of()).await(30, TimeUnit.SECONDS);
      String lines = String.join("; ", report.lines());
      return report.isOk() ? Finding.ok("container engine", lines) : withoutEngine(lines);
    } catch (TimeoutException e) {
      return withoutEngine("does not answer within 30 seconds");
    } finally {
      vertx.close();
    }
  }

  private static Finding withoutEngine(String why) {
    return Finding.problem(
        "container engine",
        why,
        "Start it, or set sandbox.engine; calls at level 3 are refused without it");
  }

  private void write(List<Finding> findings) throws InterruptedException {
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put(
        "findings.txt",
        "mcp-bridge "
            + Version.current()
            + System.lineSeparator()
            + findings.stream()
                .map(Finding::shareable)
                .collect(Collectors.joining(System.lineSeparator())));
    texts.put("configuration.json", configurationText());
    for (String page : PAGES) {
      texts.put(page.substring(1) + ".txt", page(page));
    }
    try {
      SupportBundle.write(bundle, texts);
    } catch (FileAlreadyExistsException e) {
      throw new BridgeException(ErrorCode.MALFORMED_REQUEST, bundle + " exists already");
    } catch (IOException e) {
      throw new BridgeException(
          ErrorCode.INTERNAL, bundle + " cannot be written: " + e.getMessage());
    }
    System.out.println("written: " + bundle + " (read it before you pass it on)");
  }

  private String configurationText() {
    try {
      return RedactedConfig.of(configuration.source().read()).orElse("not valid JSON");
    } catch (ConfigException unreadable) {
      return unreadable.getMessage();
    }
  }

  private String page(String path) throws InterruptedException {
    try {
      BridgeHttp.Response response = bridge.getSoon(path);
      return response.status() + System.lineSeparator() + response.body().toPrettyString();
    } catch (BridgeException absent) {
      return absent.getMessage();
    }
  }
}
