package dev.mcpbridge.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.access.Item.Kind;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Profiles as the configuration describes them. */
class ProfilesConfigTest {
  private static final ServerId GIT = new ServerId("git");
  private static final ServerId NOTES = new ServerId("notes");

  private static Profiles read(String profiles) {
    return new ConfigReader(Map.of("OWNER", "acme"))
        .read(
            ("{'profiles':{" + profiles + "},'mcpServers':{}}").replace('\'', '"'),
            ConfigReader.Strictness.ALL_OR_NOTHING)
        .profiles();
  }

  private static Profile profile(String servers) {
    return read("'p':{'servers':{" + servers + "}}").get("p");
  }

  private static Catalogue catalogue(String... tools) {
    List<Tool> read =
        List.of(tools).stream()
            .map(name -> Tool.of(JsonSlice.of("{\"name\":\"" + name + "\"}")))
            .toList();
    return new Catalogue(
        Catalogue.byName(read),
        List.of(JsonSlice.of("{\"uri\":\"file:///a/b\"}"), JsonSlice.of("{\"uri\":\"x://c\"}")),
        List.of(JsonSlice.of("{\"uriTemplate\":\"file:///a/{path}\"}"), JsonSlice.of("{}")),
        List.of(JsonSlice.of("{\"name\":\"review\"}")),
        null,
        Map.of(),
        "0");
  }

  @Test
  void aServerWithoutKeysIsOfferedWhole() {
    Profile all = profile("'git':{}");

    Catalogue offered = all.offered(GIT, catalogue("log", "push"));

    assertEquals(List.of("log", "push"), List.copyOf(offered.tools().keySet()));
    assertEquals(2, offered.resources().size());
    assertEquals(1, offered.prompts().size());
    assertTrue(all.contains(GIT));
    assertEquals(false, all.contains(NOTES));
  }

  @Test
  void onlyTheNamedKindsAreOffered() {
    Catalogue offered =
        profile("'git':{'tools':['*','!push'],'resources':['file:///a/*']}")
            .offered(GIT, catalogue("log", "push"));

    assertEquals(List.of("log"), List.copyOf(offered.tools().keySet()));
    assertEquals(1, offered.resources().size());
    assertEquals(1, offered.templates().size());
    assertEquals(List.of(), offered.prompts());
  }

  @ParameterizedTest
  @CsvSource({
    "file:///a/b, true",
    "file:///other, false",
    "file:///a/../other, false",
    "file:///a/%2e%2e/other, false",
    "FILE:///a/b, true"
  })
  void anUnlistedResourceIsOfferedByItsUri(String uri, boolean isOffered) {
    Profile files = profile("'git':{'resources':['file:///a/*']}");

    assertEquals(isOffered, files.offers(GIT, Kind.RESOURCE, uri));
  }

  @Test
  void theFirstKeyThatFitsAServerCounts() {
    Profile profile = profile("'git':{'tools':['log']},'*':{'tools':['get_*']}");

    assertTrue(profile.offers(GIT, Kind.TOOL, "log"));
    assertEquals(false, profile.offers(GIT, Kind.TOOL, "get_x"));
    assertTrue(profile.offers(NOTES, Kind.TOOL, "get_x"));
  }

  @Test
  void aCatalogueChangesWithTheNamesOfItsTools() {
    String before = profile("'git':{}").offered(GIT, catalogue("log")).digest();

    String renamed =
        profile("'git':{'overrides':{'log':{'name':'history'}}}")
            .offered(GIT, catalogue("log"))
            .digest();

    assertEquals(false, before.equals(renamed));
    assertEquals(before, profile("'*':{}").offered(GIT, catalogue("log")).digest());
  }

  @Test
  void valuesMayComeFromTheEnvironment() {
    Profile profile =
        profile("'git':{'overrides':{'log':{'parameters':{'o':{'value':'${env:OWNER}'}}}}}");

    assertEquals(JsonSlice.of("\"acme\""), profile.shape(GIT, "log").parameters().get("o").value());
  }

  @Test
  void overridesWithoutEffectAreReported() {
    Profile profile =
        profile(
            "'git':{'tools':['log','none','x*'],'overrides':{'push':{'name':'p'},'gone':{'name':'g'},"
                + "'log':{'parameters':{'x':{'hidden':true}}}}}");

    assertEquals(
        List.of(
            "git, gone: the server has no such tool",
            "git, log: the server does not list its parameter 'x'",
            "git, none: the server has no such tool",
            "git, push: is not among the tools of the profile"),
        profile.problems(GIT, catalogue("log", "push")));
  }

  @Test
  void anUnknownProfileIsNotFound() {
    BridgeException refusal =
        assertThrows(BridgeException.class, () -> read("'p':{'servers':{}}").get("q"));

    assertEquals(ErrorCode.PROFILE_NOT_FOUND, refusal.code());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "'a b':{'servers':{}}; profiles.a b",
        "'p':{}; profiles.p.servers",
        "'p':null; profiles.p",
        "'p':{'servers':{'git':null}}; profiles.p.servers.git",
        "'p':{'servers':{'git':{'overrides':{'t':null}}}}; profiles.p.servers.git.overrides.t",
        "'p':{'servers':{'g*':{'overrides':{'t':{'name':'x'}}}}};"
            + "profiles.p.servers.g*.overrides.t.name",
        "'p':{'servers':{'git':{'tool':[]}}}; profiles.p.servers.git.tool",
        "'p':{'servers':{'git':{'tools':null}}}; profiles.p.servers.git.tools",
        "'p':{'servers':{'git':{'overrides':{'t':{'name':'a b'}}}}};"
            + "profiles.p.servers.git.overrides.t.name",
        "'p':{'servers':{'git':{'overrides':{'t':{'name':'git__x'}}}}};"
            + "profiles.p.servers.git.overrides.t.name",
        "'p':{'servers':{'git':{'overrides':{'t':{'name':'x_0123456789ab'}}}}};"
            + "profiles.p.servers.git.overrides.t.name",
        "'p':{'servers':{'a':{'overrides':{'t':{'name':'x'}}},'b':{'overrides':{'t':{'name':'x'}}}}};"
            + "profiles.p.servers.b.overrides.t.name",
        "'p':{'servers':{'a':{'overrides':{'t':{'parameters':{'x':{}}}}}}};"
            + "profiles.p.servers.a.overrides.t.parameters.x",
        "'p':{'servers':{'a':{'overrides':{'t':{'parameters':{'x':{'value':null}}}}}}};"
            + "profiles.p.servers.a.overrides.t.parameters.x.value",
        "'p':{'servers':{'a':{'overrides':{'t':{'parameters':{'x':{'value':1,'default':2}}}}}}};"
            + "profiles.p.servers.a.overrides.t.parameters.x.default",
        "'p':{'servers':{'a':{'overrides':{'t':{'parameters':{'x':{'hidden':true,'default':2}}}}}}};"
            + "profiles.p.servers.a.overrides.t.parameters.x.default",
        "'p':{'servers':{'a':{'overrides':{'t':{'parameters':{'x':{'value':1,'description':'d'}}}}}}};"
            + "profiles.p.servers.a.overrides.t.parameters.x.description"
      })
  void aProblemIsReportedWithItsPlace(String profiles, String path) {
    ConfigException problem = assertThrows(ConfigException.class, () -> read(profiles));

    assertTrue(
        problem.problems().stream().anyMatch(each -> each.path().equals(path)),
        problem.getMessage());
  }
}
