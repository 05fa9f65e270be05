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

/** What an entry may ask of containers. */
class ContainerEntryTest {
  @TempDir Path folder;

  @Test
  void whatIsNotSaidIsSmall() {
    ContainerTarget container = docker("'image':'i'").container();

    assertEquals(
        new ContainerTarget.Resources(512 << 20, 1, 128, Map.of("/tmp", 64L << 20)),
        container.resources());
    assertEquals("none", container.network());
    assertEquals("65534:65534", container.user());
    assertEquals(List.of("x", "y"), container.command());
  }

  @Test
  void whatIsSaidCounts() {
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
        "'image':'' | image: a container needs",
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
  void whatNoContainerHasIsRefusedWithItsPath(String docker, String problem) {
    String image = docker.contains("'image'") ? "" : "'image':'i',";

    ConfigException refused = assertThrows(ConfigException.class, () -> docker(image + docker));

    assertTrue(
        refused.getMessage().contains("mcpServers.s.docker." + problem), refused.getMessage());
  }

  @Test
  void aLinkLeadsWhereItLeads() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("/etc"));
    Path good =
        Files.createSymbolicLink(
            folder.resolve("good"), Files.createDirectory(folder.resolve("real")));

    ConfigException refused =
        assertThrows(
            ConfigException.class, () -> docker("'image':'i','volumes':['" + link + ":/x']"));
    ContainerTarget container = docker("'image':'i','volumes':['" + good + ":/x:rw']").container();

    assertTrue(refused.getMessage().contains("leads to /etc"), refused.getMessage());
    assertEquals(folder.resolve("real").toRealPath(), container.mounts().get(0).host());
    assertTrue(container.mounts().get(0).writable());
  }

  @Test
  void aFolderWhoseNameOnlyBeginsLikeAnAllowedOneIsNone() throws Exception {
    Path allowed = Files.createDirectory(folder.resolve("ok"));
    Path evil = Files.createDirectory(folder.resolve("ok_evil"));
    String sandbox = "'sandbox':{'allowedMounts':['" + allowed + "']},";

    ConfigException refused =
        assertThrows(
            ConfigException.class,
            () -> read(sandbox, "'image':'i','volumes':['" + evil + ":/x']"));

    assertTrue(refused.getMessage().contains("not below one of"), refused.getMessage());
    assertEquals(
        1,
        read(sandbox, "'image':'i','volumes':['" + allowed + ":/x']").container().mounts().size());
  }

  @Test
  void whatCanBeWrittenThroughOneVolumeIsNoOther() throws Exception {
    Path inner = Files.createDirectory(folder.resolve("inner"));

    ConfigException refused =
        assertThrows(
            ConfigException.class,
            () -> docker("'image':'i','volumes':['" + folder + ":/a:rw','" + inner + ":/b']"));

    assertTrue(refused.getMessage().contains("overlaps another volume"), refused.getMessage());
  }

  @Test
  void anImageThatIsNotOnTheListIsRefused() {
    String sandbox = "'sandbox':{'allowedImages':['ours/*']},";

    assertThrows(ConfigException.class, () -> read(sandbox, "'image':'theirs/x'"));
    assertEquals("ours/x", read(sandbox, "'image':'ours/x'").container().image());
  }

  @Test
  void theEngineIsTheOneThatTheEnvironmentNames() {
    ConfigReader reader = new ConfigReader(Map.of("DOCKER_HOST", "tcp://127.0.0.1:2375"));

    assertEquals(
        "tcp://127.0.0.1:2375",
        reader.read("{}", ConfigReader.Strictness.WHOLE).sandbox().engine());
    assertEquals(
        "unix:///x.sock",
        reader
            .read("{\"sandbox\":{\"engine\":\"unix:///x.sock\"}}", ConfigReader.Strictness.WHOLE)
            .sandbox()
            .engine());
    assertThrows(
        ConfigException.class,
        () -> reader.read("{\"sandbox\":{\"engine\":\"ssh://x\"}}", ConfigReader.Strictness.WHOLE));
  }

  private static SandboxPool docker(String keys) {
    return read("", keys);
  }

  private static SandboxPool read(String sections, String keys) {
    String text =
        "{" + sections + "'mcpServers':{'s':{'command':'x','args':['y'],'docker':{" + keys + "}}}}";
    return new ConfigReader(Map.of())
        .read(text.replace('\'', '"'), ConfigReader.Strictness.WHOLE)
        .servers()
        .values()
        .iterator()
        .next()
        .sandboxPool();
  }
}
