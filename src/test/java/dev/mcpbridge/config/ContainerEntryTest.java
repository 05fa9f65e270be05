package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an entry may configure for containers. */
class ContainerEntryTest {
  @TempDir Path folder;

  @Test
  void defaultLimitsAreSmall() {
    ContainerTarget container = docker("'image':'i'").container();

    assertEquals(
        new ContainerTarget.Resources(512 << 20, 1, 128, Map.of("/tmp", 64L << 20)),
        container.resources());
    assertEquals("none", container.network());
    assertEquals("65534:65534", container.user());
    assertEquals(List.of("x", "y"), container.command());
  }

  @Test
  void configuredValuesAreApplied() {
    SandboxPool sandboxPool =
        docker(
            "'image':'i','command':['/p','a b'],'memory':'1.5g','cpus':0.5,'pids':9,"
                + "'tmpfs':{'/tmp':'1m','/work':8192},'user':'1000','runtime':'runsc',"
                + "'scope':'server','pool':{'min':0,'max':2},'timeout':2,'env':{'A':'b'},"
                + "'network':'tools'");

    ContainerTarget container = sandboxPool.container();
    assertEquals(
        new ContainerTarget.Resources(1536 << 20, 0.5, 9, Map.of("/tmp", 1L << 20, "/work", 8192L)),
        container.resources());
    assertEquals(List.of("/p", "a b"), container.command());
    assertEquals("1000:1000", container.user());
    assertEquals("runsc", container.runtime());
    assertEquals("tools", container.network());
    assertEquals("b", container.environment().get("A").reveal());
    assertEquals(new SandboxPool(container, false, 0, 2, 2000), sandboxPool);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'volumes':['/x:/y'] | volumes[0]: no such file",
        "'image':'' | image: expected a non-empty string",
        "'image':'-v' | image: not the name",
        "'network':'host' | network: \"host\" is not isolated",
        "'network':'bridge' | network: \"bridge\" is not isolated",
        "'network':'container:x' | network: ",
        "'user':'0' | user: ",
        "'user':'root' | user: ",
        "'user':'1:0' | user: ",
        "'memory':'lots' | memory: ",
        "'memory':'1k' | memory: ",
        "'cpus':0 | cpus: ",
        "'pids':0 | pids: ",
        "'tmpfs':{'/proc/x':'1m'} | tmpfs./proc/x: ",
        "'tmpfs':{'work':'1m'} | tmpfs.work: ",
        "'pool':{'min':3,'max':2} | pool.max: ",
        "'pool':{'size':3} | pool.size: unknown",
        "'scope':'host' | scope: ",
        "'privileged':true | privileged: unknown key",
        "'capAdd':['ALL'] | capAdd: unknown key",
        "'devices':[] | devices: unknown key",
        "'volumes':['/:/h'] | volumes[0]: / is never mounted",
        "'volumes':['/etc/ssl:/h'] | volumes[0]: /etc/ssl is never mounted",
        "'volumes':['/var/run/docker.sock:/s'] | volumes[0]: ",
        "'volumes':['/run:/s'] | volumes[0]: ",
        "'volumes':['/var:/s'] | volumes[0]: ",
        "'volumes':['/proc/1/root:/s'] | volumes[0]: ",
        "'volumes':['/tmp/../etc:/s'] | volumes[0]: expected",
        "'volumes':['tmp:/s'] | volumes[0]: expected",
        "'volumes':['/tmp:/s:rwx'] | volumes[0]: expected",
        "'volumes':['/tmp:/proc/x'] | volumes[0]: expected"
      })
  void invalidSettingsAreRefusedWithTheirPath(String docker, String problem) {
    String image = docker.contains("'image'") ? "" : "'image':'i',";

    ConfigException refused = assertThrows(ConfigException.class, () -> docker(image + docker));

    assertTrue(
        refused.getMessage().contains("mcpServers.s.docker." + problem), refused.getMessage());
  }

  @Test
  void volumesAreCheckedAfterLinksAreResolved() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("/etc"));
    Path allowedLink =
        Files.createSymbolicLink(
            folder.resolve("allowed"), Files.createDirectory(folder.resolve("real")));

    ConfigException refused =
        assertThrows(
            ConfigException.class, () -> docker("'image':'i','volumes':['" + link + ":/x']"));
    ContainerTarget container =
        docker("'image':'i','volumes':['" + allowedLink + ":/x:rw']").container();

    assertTrue(refused.getMessage().contains("resolves to /etc"), refused.getMessage());
    assertEquals(folder.resolve("real").toRealPath(), container.mounts().get(0).hostPath());
    assertTrue(container.mounts().get(0).writable());
  }

  @Test
  void siblingWithTheSamePrefixIsNotAnAllowedMount() throws Exception {
    Path allowed = Files.createDirectory(folder.resolve("ok"));
    Path sibling = Files.createDirectory(folder.resolve("ok_sibling"));
    String sandbox = "'sandbox':{'allowedMounts':['" + allowed + "']},";

    ConfigException refused =
        assertThrows(
            ConfigException.class,
            () -> read(sandbox, "'image':'i','volumes':['" + sibling + ":/x']"));

    assertTrue(refused.getMessage().contains("not below one of"), refused.getMessage());
    assertEquals(
        1,
        read(sandbox, "'image':'i','volumes':['" + allowed + ":/x']").container().mounts().size());
  }

  @Test
  void overlappingWritableVolumesAreRefused() throws Exception {
    Path inner = Files.createDirectory(folder.resolve("inner"));

    ConfigException refused =
        assertThrows(
            ConfigException.class,
            () -> docker("'image':'i','volumes':['" + folder + ":/a:rw','" + inner + ":/b']"));

    assertTrue(refused.getMessage().contains("overlaps another volume"), refused.getMessage());
  }

  @Test
  void imageThatIsNotListedIsRefused() {
    String sandbox = "'sandbox':{'allowedImages':['ours/*']},";

    assertThrows(ConfigException.class, () -> read(sandbox, "'image':'theirs/x'"));
    assertEquals("ours/x", read(sandbox, "'image':'ours/x'").container().image());
  }

  @Test
  void engineDefaultsToTheEnvironment() {
    assertEquals("tcp://127.0.0.1:2375", engine("{}"));
    assertEquals("unix:///x.sock", engine("{'sandbox':{'engine':'unix:///x.sock'}}"));
    assertThrows(ConfigException.class, () -> engine("{'sandbox':{'engine':'ssh://x'}}"));
  }

  private static String engine(String file) {
    return new ConfigReader(Map.of("DOCKER_HOST", "tcp://127.0.0.1:2375"))
        .read(file.replace('\'', '"'), ConfigReader.Strictness.ALL_OR_NOTHING)
        .sandbox()
        .engine();
  }

  private static SandboxPool docker(String keys) {
    return read("", keys);
  }

  private static SandboxPool read(String sections, String keys) {
    String text =
        "{" + sections + "'mcpServers':{'s':{'command':'x','args':['y'],'docker':{" + keys + "}}}}";
    return new ConfigReader(Map.of())
        .read(text.replace('\'', '"'), ConfigReader.Strictness.ALL_OR_NOTHING)
        .servers()
        .values()
        .iterator()
        .next()
        .sandboxPool();
  }
}
