package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command doctor, beside a bridge that runs and with one that cannot. */
@Tag("program")
class DoctorIT {
  @TempDir Path folder;

  private String doctor(int status, String config, String... more) throws Exception {
    Path file = Files.writeString(folder.resolve("bridge.json"), config.replace('\'', '"'));
    List<String> arguments = new ArrayList<>(List.of("doctor", "--config", file.toString()));
    arguments.addAll(List.of(more));
    return PackagedProgram.output(status, arguments.toArray(String[]::new));
  }

  @Test
  void aBridgeThatRunsIsFoundAndPackedWithoutSecrets() throws Exception {
    Path bundle = folder.resolve("support.zip");
    try (TestBridge bridge = TestBridge.scripted("")) {
      String shown =
          doctor(
              0,
              "{'http':{'port':"
                  + bridge.port()
                  + "},'mcpServers':{'s':{'command':'sh','args':['hushhush'],"
                  + "'env':{'API_KEY':'hushhush'}}}}",
              "--url",
              bridge.uri("").toString(),
              "--bundle",
              bundle.toString());

      assertTrue(shown.contains("an MCP Bridge listens there"), shown);
      assertTrue(shown.contains("0 problems"), shown);
    }
    StringBuilder all = new StringBuilder();
    List<String> names = new ArrayList<>();
    try (ZipFile zip = new ZipFile(bundle.toFile())) {
      for (ZipEntry entry : zip.stream().toList()) {
        names.add(entry.getName());
        all.append(new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    assertEquals(List.of("findings.txt", "configuration.json", "health.txt", "cluster.txt"), names);
    assertTrue(all.toString().contains("\"status\" : \"ok\""), all.toString());
    assertFalse(all.toString().contains("hush"), all.toString());
  }

  @Test
  void problemsAreNamedWithWhatToDoAndTheExitCode() throws Exception {
    String shown = doctor(1, "{'mcpServers':{'s':{'command':'no-such-program'}}}");

    assertTrue(shown.contains("problem  server s: the command 'no-such-program'"), shown);
    assertTrue(shown.contains("Install it, write its whole path"), shown);
    assertTrue(shown.contains("1 problems"), shown);
  }

  @Test
  void anInvalidConfigurationIsAFindingToo() throws Exception {
    String shown = doctor(1, "{'http':{'prot':1}}");

    assertTrue(shown.contains("problem  configuration: "), shown);
    assertTrue(shown.contains("prot"), shown);
  }

  @Test
  void anExistingFileIsNotReplacedByABundle() throws Exception {
    Path bundle = Files.writeString(folder.resolve("mine.zip"), "mine");

    doctor(1, "{'mcpServers':{}}", "--bundle", bundle.toString());

    assertEquals("mine", Files.readString(bundle));
  }
}
