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

/** Which node of which cluster a bridge is. Addresses of 192.0.2.0/24 are no machine's. */
class ClusterReaderTest {
  private static final NodeOptions AS_THE_FILE_SAYS = new NodeOptions(null, null, null);
  private static final String OF_TWO = "'members':['192.0.2.1:7800','127.0.0.1:7801'],";
  private static final String SAFE = "'insecure':true,'secret':'sixteen letters.'";

  private static BridgeConfig read(String cluster, NodeOptions choice, Map<String, String> env) {
    String json = "{'cluster':{" + cluster + "},'mcpServers':{}}";
    return new ConfigReader(env, choice)
        .read(json.replace('\'', '"'), ConfigReader.Strictness.WHOLE);
  }

  private static ClusterConfig read(String cluster, NodeOptions choice) {
    return read(cluster, choice, Map.of()).cluster();
  }

  private static void assertRefused(String cluster, NodeOptions choice, String path) {
    ConfigException wrong = assertThrows(ConfigException.class, () -> read(cluster, choice));
    assertTrue(wrong.getMessage().contains("cluster." + path), wrong.getMessage());
  }

  @Test
  void whatIsNotSaidIsAsTheTableOfDefaultsSays() {
    ClusterConfig read = read("'members':['127.0.0.1:7800']", AS_THE_FILE_SAYS);

    assertEquals("mcp-bridge", read.name());
    assertEquals("127.0.0.1:7800", read.node());
    assertTrue(read.labels().isEmpty());
    assertEquals("", read.secret());
    assertNull(read.tls());
    assertEquals(1_500, read.leaseMillis());
    assertFalse(read.sharesFile());
  }

  @Test
  void theOneMemberThatIsAnAddressOfThisMachineIsThisNode() {
    ClusterConfig read = read(OF_TWO + SAFE, AS_THE_FILE_SAYS);

    assertEquals("127.0.0.1", read.host());
    assertEquals(7801, read.port());
    assertEquals("127.0.0.1:7801", read.members().get(read.slot()));
  }

  @ParameterizedTest
  @CsvSource({"192.0.2.1,", "192.0.2.1, 7800", "127.0.0.1, 7801", ", 7801"})
  void theCommandLineSaysWhichMemberThisNodeIs(String host, Integer port) {
    ClusterConfig read = read(OF_TWO + SAFE, new NodeOptions(host, port, "me"));

    assertEquals(host == null ? "127.0.0.1" : host, read.host());
    assertEquals("me", read.node());
  }

  @ParameterizedTest
  @CsvSource({"192.0.2.1, 7801", "192.0.2.2,", ", 7800"})
  void whoIsNoneOfTheMembersIsToldSo(String host, Integer port) {
    assertRefused(OF_TWO + SAFE, new NodeOptions(host, port, null), "members");
  }

  @Test
  void severalMembersOnThisMachineHaveToBeToldApart() {
    String both = "'members':['127.0.0.1:7801','127.0.0.1:7802']";

    assertRefused(both, AS_THE_FILE_SAYS, "members");
    assertEquals(7802, read(both, new NodeOptions(null, 7802, null)).port());
    assertEquals(7802, read(both + ",'port':7802", AS_THE_FILE_SAYS).port());
  }

  @Test
  void allNodesHaveTheSameMembersInWhicheverOrderTheyStand() {
    String one = "'members':['127.0.0.1:7801','127.0.0.1:7802']";
    String other = "'members':['127.0.0.1:7802','127.0.0.1:7801']";
    NodeOptions choice = new NodeOptions(null, 7801, null);

    assertEquals(read(one, choice), read(other, choice));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'insecure':true | secret",
        "'insecure':true,'secret':'fifteen letters' | secret",
        "'secret':'sixteen letters.' | tls"
      })
  void betweenMachinesThereIsASecretAndTls(String cluster, String path) {
    assertRefused(OF_TWO + cluster, AS_THE_FILE_SAYS, path);
  }

  @Test
  void aSecretThatCanBeGuessedIsRefusedOnOneMachineToo() {
    assertRefused(
        "'members':['127.0.0.1:7800'],'secret':'fifteen letters'", AS_THE_FILE_SAYS, "secret");
  }

  @Test
  void aNameThatBeginsLikeALoopbackAddressIsNone() {
    assertRefused(
        "'members':['127.0.0.1.example.com:7800'],'host':'127.0.0.1.example.com'",
        AS_THE_FILE_SAYS,
        "tls");
  }

  @Test
  void theSecretIsThatOfTheEnvironmentUnlessTheFileSaysOne() {
    Map<String, String> environment = Map.of("MCP_CLUSTER_SECRET", "of the environment");

    ClusterConfig read = read(OF_TWO + "'insecure':true", AS_THE_FILE_SAYS, environment).cluster();

    assertEquals("of the environment", read.secret());
    assertEquals(
        "sixteen letters.", read(OF_TWO + SAFE, AS_THE_FILE_SAYS, environment).cluster().secret());
  }

  @Test
  void whoIsNotToldToJoinIsNoNode() {
    assertNull(read(OF_TWO + SAFE, null));
  }

  @ParameterizedTest
  @CsvSource({"'lease':0.1, lease", "'reload':'all', reload", "'nodes':3, nodes"})
  void whatNobodyUnderstandsIsRefused(String key, String path) {
    assertRefused("'members':['127.0.0.1:7800']," + key, AS_THE_FILE_SAYS, path);
  }
}
