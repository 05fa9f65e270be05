package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Program;
import dev.mcpbridge.fixture.Requirements;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The unit of the service, as systemd reads it. */
@Tag("program")
class SystemdIT {
  private static final Path UNIT = Path.of("src/deploy/systemd/mcp-bridge.service");

  @TempDir Path folder;
  private Path unit;

  /** The unit with the program of this build, for systemd looks whether it exists. */
  @BeforeEach
  void install() throws Exception {
    String target = Path.of("target").toAbsolutePath().toString();
    unit =
        Files.writeString(
            folder.resolve("mcp-bridge.service"),
            Files.readString(UNIT).replace("/usr/share/mcp-bridge/", target + "/"));
  }

  private static String analyze(int status, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(Requirements.program("systemd-analyze")));
    command.addAll(Arrays.asList(arguments));
    return Program.output(status, command);
  }

  @Test
  void theUnitHasNoMistake() throws Exception {
    String found = analyze(0, "verify", "--man=no", unit.toString());

    assertEquals(List.of(), found.lines().filter(line -> line.contains("mcp-bridge")).toList());
  }

  @Test
  void aMistakeInTheUnitIsFound() throws Exception {
    Files.writeString(unit, Files.readString(unit).replace("ProtectHome=yes", "ProtectHoem=yes"));

    assertTrue(analyze(0, "verify", "--man=no", unit.toString()).contains("ProtectHoem"));
  }

  @Test
  void theServiceIsExposedLittle() throws Exception {
    String judged = analyze(0, "security", "--offline=true", "--threshold=20", unit.toString());

    assertTrue(judged.contains("Overall exposure level"), judged);
  }
}
