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

/** Which member of a cluster a node is. No machine has an address of 192.0.2.0/24. */
class ClusterReaderTest {
  private static final NodeOptions NO_OPTIONS = new NodeOptions(null, null, null);
  private static final String TWO_MEMBERS = "'members':['192.0.2.1:7800','127.0.0.1:7801'],";
  private static final String WITHOUT_TLS = "'insecure':true,'secret':'sixteen letters.'";

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
    assertEquals(1_500, read.leaseMillis());
    assertFalse(read.sharesFile());
  }

  @Test
  void memberWithAnAddressOfThisMachineIsThisNode() {
    ClusterConfig read = read(TWO_MEMBERS + WITHOUT_TLS, NO_OPTIONS);

    assertEquals("127.0.0.1", read.host());
    assertEquals(7801, read.port());
    assertEquals("127.0.0.1:7801", read.members().get(read.slot()));
  }

  @ParameterizedTest
  @CsvSource({"192.0.2.1,", "192.0.2.1, 7800", "127.0.0.1, 7801", ", 7801"})
  void optionsSelectTheMember(String host, Integer port) {
    ClusterConfig read = read(TWO_MEMBERS + WITHOUT_TLS, new NodeOptions(host, port, "me"));

    assertEquals(host == null ? "127.0.0.1" : host, read.host());
    assertEquals("me", read.node());
  }

  @ParameterizedTest
  @CsvSource({"192.0.2.1, 7801", "192.0.2.2,", ", 7800"})
  void nodeThatIsNotAMemberIsRefused(String host, Integer port) {
    assertRefused(TWO_MEMBERS + WITHOUT_TLS, new NodeOptions(host, port, null), "members");
  }

  @Test
  void severalLocalMembersRequireAPort() {
    String both = "'members':['127.0.0.1:7801','127.0.0.1:7802']";

    assertRefused(both, NO_OPTIONS, "members");
    assertEquals(7802, read(both, new NodeOptions(null, 7802, null)).port());
    assertEquals(7802, read(both + ",'port':7802", NO_OPTIONS).port());
  }

  @Test
  void orderOfMembersDoesNotMatter() {
    String ascending = "'members':['127.0.0.1:7801','127.0.0.1:7802']";
    String descending = "'members':['127.0.0.1:7802','127.0.0.1:7801']";
    NodeOptions options = new NodeOptions(null, 7801, null);

    assertEquals(read(ascending, options), read(descending, options));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'insecure':true | secret",
        "'insecure':true,'secret':'fifteen letters' | secret",
        "'secret':'sixteen letters.' | tls"
      })
  void remoteMembersRequireASecretAndTls(String cluster, String path) {
    assertRefused(TWO_MEMBERS + cluster, NO_OPTIONS, path);
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
        "tls");
  }

  @Test
  void secretOfTheFileOverridesTheEnvironment() {
    Map<String, String> environment = Map.of("MCP_CLUSTER_SECRET", "of the environment");

    ClusterConfig read = read(TWO_MEMBERS + "'insecure':true", NO_OPTIONS, environment).cluster();

    assertEquals("of the environment", read.secret());
    assertEquals(
        "sixteen letters.",
        read(TWO_MEMBERS + WITHOUT_TLS, NO_OPTIONS, environment).cluster().secret());
  }

  @Test
  void nodeWithoutOptionsDoesNotJoin() {
    assertNull(read(TWO_MEMBERS + WITHOUT_TLS, null));
  }

  @ParameterizedTest
  @CsvSource({"'lease':0.1, lease", "'reload':'all', reload", "'nodes':3, nodes"})
  void invalidKeysAreRefused(String key, String path) {
    assertRefused("'members':['127.0.0.1:7800']," + key, NO_OPTIONS, path);
  }
}
