package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The jars that the build makes: the library, and the program with its bill of materials. */
@Tag("program")
class ArtefactsIT {
  private static final Path TARGET = Path.of("target");
  private static final Path PROGRAM = TARGET.resolve("mcp-bridge.jar");
  private static final String BILL = "META-INF/sbom/bom.json";

  private static String version() throws IOException {
    try (JarFile jar = new JarFile(PROGRAM.toFile())) {
      return jar.getManifest().getMainAttributes().getValue("Implementation-Version");
    }
  }

  private static Path library() throws IOException {
    return TARGET.resolve("mcp-bridge-" + version() + ".jar");
  }

  private static Set<String> classes(Path jar) throws IOException {
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      Set<String> names = new HashSet<>();
      zip.stream()
          .map(ZipEntry::getName)
          .filter(name -> name.endsWith(".class") && !name.contains("module-info"))
          .forEach(names::add);
      return names;
    }
  }

  @Test
  void theLibraryHasOnlyClassesOfTheBridge() throws Exception {
    try (JarFile jar = new JarFile(library().toFile())) {
      Attributes manifest = jar.getManifest().getMainAttributes();
      assertEquals("dev.mcpbridge", manifest.getValue("Automatic-Module-Name"));
      assertEquals(version(), manifest.getValue("Implementation-Version"));
      assertNull(manifest.getValue("Main-Class"));
      assertTrue(jar.stream().anyMatch(entry -> entry.getName().equals(BILL)));
    }
    List<String> foreign =
        classes(library()).stream().filter(name -> !name.startsWith("dev/mcpbridge/")).toList();

    assertEquals(List.of(), foreign);
    assertTrue(classes(library()).contains("dev/mcpbridge/Bridge.class"));
  }

  @Test
  void theBillOfMaterialsListsExactlyTheLibrariesInTheProgram() throws Exception {
    Set<String> listed = new TreeSet<>();
    for (JsonNode component : bill().path("components")) {
      listed.add(component.path("name").asText() + "-" + component.path("version").asText());
    }
    Set<String> contained = new TreeSet<>();
    Set<String> absent = new TreeSet<>(listed);
    Set<String> ofProgram = classes(PROGRAM);
    for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
      String name = Path.of(path).getFileName().toString().replaceFirst("\\.jar$", "");
      if (path.endsWith(".jar") && !path.contains("mcp-bridge")) {
        absent.remove(name);
        if (classes(Path.of(path)).stream().anyMatch(ofProgram::contains)) {
          contained.add(name);
        }
      }
    }

    contained.removeAll(listed);
    assertEquals(Set.of(), contained, "in the program, but not in its bill of materials");
    assertEquals(Set.of(), absent, "in the bill of materials, but not of this build");
    assertTrue(listed.size() > 50, listed.toString());
  }

  @Test
  void eachLibraryHasALicenceAndHashes() throws Exception {
    for (JsonNode component : bill().path("components")) {
      assertFalse(component.path("licenses").isEmpty(), component.path("name").asText());
      assertFalse(component.path("hashes").isEmpty(), component.path("name").asText());
    }
    assertFalse(bill().has("serialNumber"), "differs from build to build");
  }

  private static JsonNode bill() throws IOException {
    try (ZipFile zip = new ZipFile(PROGRAM.toFile())) {
      return Json.tree(zip.getInputStream(zip.getEntry(BILL)).readAllBytes());
    }
  }
}
