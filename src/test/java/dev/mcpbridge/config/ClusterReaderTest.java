package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which member of a cluster a node is. No machine has an address of 192.0.2.0/24. */
class ClusterReaderTest {
  private static final NodeOptions NO_OPTIONS = new NodeOptions(null, null, null);
  private static final String TWO_MEMBERS = "'members':['192.0.2.1:7800','127.0.0.1:7801'],";
  private static final String SECRET = "'secret':'sixteen letters.'";

  private static BridgeConfig read(String cluster, NodeOptions options, Map<String, String> env) {
    String json = "{'cluster':{" + cluster + "},'mcpServers':{}}";
    return new ConfigReader(env, options)
        .read(json.replace('\'', '"'), ConfigReader.Strictness.ALL_OR_NOTHING);
  }

  private static ClusterConfig read(String cluster, NodeOptions options) {
    return read(cluster, options, Map.of()).cluster();
  }

  private static void assertRefused(String cluster, NodeOptions options, String path) {
    ConfigException failure = assertThrows(ConfigException.class, () -> read(cluster, options));
    assertTrue(failure.getMessage().contains("cluster." + path), failure.getMessage());
  }

  @Test
  void absentKeysHaveTheirDefaults() {
    ClusterConfig read = read("'members':['127.0.0.1:7800']", NO_OPTIONS);

    assertEquals("mcp-bridge", read.name());
    assertEquals("127.0.0.1:7800", read.node());
    assertTrue(read.labels().isEmpty());
    assertEquals("", read.secret());
    assertNull(read.tls());
    assertEquals(2_000, read.leaseMillis());
    assertFalse(read.sharesFile());
  }

  @Test
  void memberWithAnAddressOfThisMachineIsThisNode() {
    ClusterConfig read = read(TWO_MEMBERS + SECRET, NO_OPTIONS);

    assertEquals("127.0.0.1", read.host());
    assertEquals("127.0.0.1:7801", read.address());
  }

  @ParameterizedTest
  @CsvSource({"192.0.2.1,", "192.0.2.1, 7800", "127.0.0.1, 7801", ", 7801"})
  void optionsSelectTheMember(String host, Integer port) {
    ClusterConfig read = read(TWO_MEMBERS + SECRET, new NodeOptions(host, port, "me"));

    assertEquals(host == null ? "127.0.0.1" : host, read.host());
    assertEquals("me", read.node());
  }

  @ParameterizedTest
  @CsvSource({"192.0.2.2,", ", 7800"})
  void nodeWithoutAnAddressIsRefused(String host, Integer port) {
    assertRefused(TWO_MEMBERS + SECRET, new NodeOptions(host, port, null), "members");
  }

  @Test
  void severalLocalMembersRequireAPort() {
    String both = "'members':['127.0.0.1:7801','127.0.0.1:7804']";

    assertRefused(both, NO_OPTIONS, "members");
    assertEquals("127.0.0.1:7804", read(both, new NodeOptions(null, 7804, null)).address());
    assertEquals("127.0.0.1:7804", read(both + ",'port':7804", NO_OPTIONS).address());
  }

  @Test
  void orderOfMembersDoesNotMatter() {
    String ascending = "'members':['127.0.0.1:7801','127.0.0.1:7804']";
    String descending = "'members':['127.0.0.1:7804','127.0.0.1:7801']";
    NodeOptions options = new NodeOptions(null, 7801, null);

    assertEquals(read(ascending, options), read(descending, options));
  }

  @ParameterizedTest
  @ValueSource(strings = {"'lease':1", "'secret':'fifteen letters'"})
  void remoteMembersRequireASecret(String cluster) {
    assertRefused(TWO_MEMBERS + cluster, NO_OPTIONS, "secret");
  }

  @Test
  void nodeBeyondTheMembersHasTheAddressThatItIsGiven() {
    ClusterConfig read = read(TWO_MEMBERS + SECRET, new NodeOptions("192.0.2.9", 7810, null));

    assertEquals("192.0.2.9:7810", read.address());
    assertEquals(2, read.members().size());
  }

  @ParameterizedTest
  @ValueSource(ints = {7801, 7802})
  void portsOfMembersOnOneHostMayNotOverlap(int port) {
    assertRefused(
        "'members':['127.0.0.1:7800','127.0.0.1:" + port + "'],'port':7800", NO_OPTIONS, "members");
  }

  @ParameterizedTest
  @ValueSource(ints = {65_534, 65_535, 70_000})
  void portWithoutRoomForTheNextTwoIsRefused(int port) {
    assertRefused("'members':['127.0.0.1:" + port + "']", NO_OPTIONS, "members");
  }

  @Test
  void shortSecretIsRefusedOnOneMachineToo() {
    assertRefused("'members':['127.0.0.1:7800'],'secret':'fifteen letters'", NO_OPTIONS, "secret");
  }

  @Test
  void hostNameThatStartsLikeALoopbackAddressIsRemote() {
    assertRefused(
        "'members':['127.0.0.1.example.com:7800'],'host':'127.0.0.1.example.com'",
        NO_OPTIONS,
        "secret");
  }

  @Test
  void secretOfTheFileOverridesTheEnvironment() {
    Map<String, String> environment = Map.of("MCP_CLUSTER_SECRET", "of the environment");

    ClusterConfig read = read(TWO_MEMBERS + "'lease':1", NO_OPTIONS, environment).cluster();

    assertEquals("of the environment", read.secret());
    assertEquals(
        "sixteen letters.", read(TWO_MEMBERS + SECRET, NO_OPTIONS, environment).cluster().secret());
  }

  @Test
  void nodeWithoutOptionsDoesNotJoin() {
    assertNull(read(TWO_MEMBERS + SECRET, null));
  }

  @ParameterizedTest
  @CsvSource({"'lease':0.1, lease", "'reload':'all', reload", "'nodes':3, nodes"})
  void invalidKeysAreRefused(String key, String path) {
    assertRefused("'members':['127.0.0.1:7800']," + key, NO_OPTIONS, path);
  }
}
