package dev.mcpbridge.access;

import static dev.mcpbridge.access.AccessFixture.ANALYST;
import static dev.mcpbridge.access.AccessFixture.KEY;
import static dev.mcpbridge.access.AccessFixture.policy;
import static dev.mcpbridge.access.AccessFixture.section;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a caller sees of a server. */
class ServerRightsTest {
  private static final Tool LOG = tool("{'name':'log','annotations':{'readOnlyHint':true}}");
  private static final Tool PUSH = tool("{'name':'push'}");
  private static final Catalogue CATALOGUE =
      new Catalogue(
          Catalogue.byName(List.of(LOG, PUSH)),
          slices("{'uri':'file:///a'}", "{'uri':'file:///b'}", "{'other':'no uri'}"),
          slices("{'uriTemplate':'file:///a/{x}'}", "{'uriTemplate':'file:///b/{x}'}"),
          slices("{'name':'greet'}", "{'name':'part'}"),
          null,
          Map.of(),
          "d");

  private static Tool tool(String definition) {
    return Tool.of(JsonSlice.of(definition.replace('\'', '"')));
  }

  private static List<JsonSlice> slices(String... texts) {
    return Stream.of(texts).map(text -> JsonSlice.of(text.replace('\'', '"'))).toList();
  }

  private static ServerView view(Catalogue catalogue) {
    return ServerViews.of(
        new ServerId("git"), new ServerState.Starting(0), catalogue, null, InstanceLocation.SOLE);
  }

  private static ServerView declaring(String capabilities) {
    return view(Catalogue.EMPTY)
        .offering(
            Catalogue.EMPTY, new ServerIdentity(null, slices(capabilities).get(0), null, false));
  }

  private static Catalogue listed(String rules) {
    return policy(rules).of(ANALYST).at(view(CATALOGUE)).listed();
  }

  private static boolean isVisible(AccessPolicy policy, ServerView server) {
    return policy.of(ANALYST).at(server).isVisible();
  }

  @Test
  void listHasOnlyTheEntriesThatRulesAllow() {
    Catalogue tools = listed("{'name':'r','allow':['call'],'tools':['log']}");
    assertEquals(Set.of("log"), tools.tools().keySet());
    assertEquals(List.of(), tools.resources());
    assertEquals(List.of(), tools.templates());
    assertEquals(List.of(), tools.prompts());

    Catalogue resources =
        listed("{'name':'r','allow':['read'],'resources':['file:///a','file:///a/*']}");
    assertEquals(Set.of(), resources.tools().keySet());
    assertEquals(slices("{'uri':'file:///a'}"), resources.resources());
    assertEquals(slices("{'uriTemplate':'file:///a/{x}'}"), resources.templates());

    Catalogue prompts = listed("{'name':'r','allow':['get'],'prompts':['g*']}");
    assertEquals(slices("{'name':'greet'}"), prompts.prompts());
    assertEquals(List.of(), prompts.resources());
  }

  @Test
  void completeListIsTheCatalogueItself() {
    Catalogue whole =
        new Catalogue(
            CATALOGUE.tools(), List.of(), List.of(), CATALOGUE.prompts(), null, Map.of(), "d");
    ServerRights rights =
        policy("{'name':'r','allow':['call','read','get']}").of(ANALYST).at(view(whole));

    assertSame(whole, rights.listed());
  }

  @Test
  void eachKindAloneMakesAListIncomplete() {
    for (String hidden :
        List.of(
            "'tools':['push']", "'resources':['file:///b']",
            "'resources':['file:///b/*']", "'prompts':['part']")) {
      Catalogue listed =
          listed(
              "{'name':'a','allow':['call','read','get']},"
                  + "{'name':'d','deny':['list'],"
                  + hidden
                  + "}");

      assertNotSame(CATALOGUE, listed, hidden);
      assertNotEquals(CATALOGUE.digest(), listed.digest(), hidden);
    }
  }

  @Test
  void entityTagsOfListsDifferByWhatIsListed() {
    Set<String> digests =
        Set.of(
            listed("{'name':'r','allow':['call'],'tools':['log']}").digest(),
            listed("{'name':'r','allow':['call'],'tools':['push']}").digest(),
            listed("{'name':'r','allow':['get'],'prompts':['greet']}").digest(),
            listed("{'name':'r','allow':['read'],'resources':['file:///a']}").digest(),
            listed("{'name':'r','allow':['read'],'resources':['file:///a/*']}").digest());

    assertEquals(5, digests.size());
    assertEquals(
        listed("{'name':'r','allow':['call'],'tools':['log']}").digest(),
        listed("{'name':'other','allow':['call'],'tools':['l*']}").digest());
  }

  @Test
  void entityTagDependsOnTheWholeCatalogue() {
    Catalogue changed =
        new Catalogue(
            CATALOGUE.tools(), List.of(), List.of(), CATALOGUE.prompts(), null, Map.of(), "e");
    AccessPolicy policy = policy("{'name':'r','allow':['call'],'tools':['log']}");

    assertNotEquals(
        policy.of(ANALYST).at(view(CATALOGUE)).listed().digest(),
        policy.of(ANALYST).at(view(changed)).listed().digest());
  }

  @Test
  void annotationsOfAToolCountIfARuleAsksForThem() {
    Tool broken = tool("{'name':'broken','annotations':{'readOnlyHint':1e99999999999}}");
    ServerRights rights =
        policy(
                "{'name':'a','allow':['call']},"
                    + "{'name':'d','deny':['call'],'annotations':{'readOnlyHint':{'not':true}}}")
            .of(ANALYST)
            .at(view(CATALOGUE));

    assertTrue(rights.at(LOG).isListed());
    assertFalse(rights.at(PUSH).isListed());
    assertFalse(rights.at(broken).isListed());
    assertEquals(Set.of("log"), rights.listed().tools().keySet());
  }

  @Test
  void rightsAreKeptUntilTheCatalogueChanges() {
    Rights rights = policy("{'name':'r','allow':['call']}").of(ANALYST);
    ServerRights first = rights.at(view(CATALOGUE));

    assertSame(first, rights.at(view(CATALOGUE)));
    assertSame(first.at(LOG), first.at(LOG));
    assertNotSame(first, rights.at(view(Catalogue.EMPTY)));
  }

  @Test
  void nothingIsListedBeforeTheFirstStart() {
    assertNull(policy("{'name':'r','allow':['call']}").of(ANALYST).at(view(null)).listed());
  }

  @Test
  void serverIsVisibleByAnyOfItsEntries() {
    for (String rule :
        List.of(
            "'allow':['call'],'tools':['log']",
            "'allow':['read'],'resources':['file:///a']",
            "'allow':['read'],'resources':['file:///b/*']",
            "'allow':['get'],'prompts':['part']")) {
      assertTrue(isVisible(policy("{'name':'r'," + rule + "}"), view(CATALOGUE)), rule);
    }
    assertFalse(isVisible(policy("{'name':'r','allow':['call'],'tools':['x']}"), view(CATALOGUE)));
    assertFalse(
        isVisible(policy("{'name':'r','allow':['call'],'servers':['x']}"), view(CATALOGUE)));
  }

  @Test
  void serverIsVisibleBeforeItsFirstStartIfSomethingOfItCouldBeAllowed() {
    assertTrue(isVisible(policy("{'name':'r','allow':['call'],'tools':['x']}"), view(null)));
    assertTrue(isVisible(section("'default':'allow','rules':[]"), view(null)));
    assertTrue(
        isVisible(policy("{'name':'r','allow':['call'],'needs':['git:write']}"), view(null)));
    assertFalse(isVisible(policy("{'name':'r','allow':['call'],'servers':['x']}"), view(null)));
    assertFalse(isVisible(policy(""), view(null)));
  }

  @Test
  void serverIsHiddenBeforeItsFirstStartIfAllOfItIsDenied() {
    String allow = "{'name':'a','allow':['call','read','get']},";

    assertFalse(isVisible(policy(allow + "{'name':'d','deny':['list']}"), view(null)));
    assertFalse(
        isVisible(policy(allow + "{'name':'d','deny':['list'],'servers':['git']}"), view(null)));
    assertTrue(
        isVisible(policy(allow + "{'name':'d','deny':['list'],'servers':['x']}"), view(null)));
    assertTrue(isVisible(policy(allow + "{'name':'d','deny':['list'],'tools':['*']}"), view(null)));
    assertTrue(isVisible(policy(allow + "{'name':'d','deny':['call']}"), view(null)));
    assertFalse(
        isVisible(
            policy("{'name':'a','allow':['call']},{'name':'d','deny':['call']}"), view(null)));
    assertTrue(
        isVisible(
            policy(
                "{'name':'a','allow':['call']},"
                    + "{'name':'d','deny':['call'],'arguments':{'/x':{'equals':1}}}"),
            view(null)));
  }

  @Test
  void serverWithUnlistedResourcesIsVisibleToThoseWhoMayReadThem() {
    String reading = "{'name':'r','allow':['read']}";

    assertTrue(isVisible(policy(reading), declaring("{'resources':{}}")));
    assertFalse(isVisible(policy(reading), declaring("{'tools':{}}")));
    assertFalse(isVisible(policy("{'name':'r','allow':['call']}"), declaring("{'resources':{}}")));
  }

  @Test
  void administratorSeesEveryServer() {
    Principal admin = new Principal("root", Set.of(Scope.ADMIN), Set.of(), null);
    AccessPolicy policy = policy("{'name':'r','allow':['call'],'tools':['x']}");

    assertTrue(policy.of(admin).at(view(CATALOGUE)).isVisible());
    assertFalse(policy.of(KEY).at(view(CATALOGUE)).isVisible());
  }
}
