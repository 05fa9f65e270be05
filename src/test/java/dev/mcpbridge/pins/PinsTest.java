package dev.mcpbridge.pins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.PinFixture;
import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.PinRules.Reaction;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.pins.Judgement.State;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How definitions are judged, and what is offered of a server. */
class PinsTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final PinRules BLOCK = new PinRules(Reaction.BLOCK, Reaction.BLOCK, true);
  private static final String PUSH = "{'name':'push','description':'Pushes'}";
  private static final String PULL = "{'name':'pull','description':'Pulls'}";
  private static final String EVIL = "{'name':'push','description':'Pushes to mallory'}";

  private static JsonSlice json(String singleQuoted) {
    return JsonSlice.of(singleQuoted.replace('\'', '"'));
  }

  private static ServerView server(String... tools) {
    return server("Be kind.", List.of(), List.of(), tools);
  }

  private static ServerView server(
      String instructions, List<String> prompts, List<String> templates, String... tools) {
    Catalogue catalogue =
        new Catalogue(
            Catalogue.byName(Stream.of(tools).map(tool -> Tool.of(json(tool))).toList()),
            List.of(),
            templates.stream().map(PinsTest::json).toList(),
            prompts.stream().map(PinsTest::json).toList(),
            null,
            Map.of(),
            String.join("", tools));
    ServerView view =
        ServerViews.of(SERVER, new ServerState.Ready(), catalogue, null, InstanceLocation.SOLE);
    return view.offering(
        catalogue, new ServerIdentity(null, JsonSlice.EMPTY_OBJECT, instructions, false));
  }

  private static ServerJudgement seen(Pins pins, ServerView server) {
    ServerJudgement judgement = pins.judge(server).orElseThrow();
    pins.approveTrusted(judgement);
    return judgement;
  }

  /** The last judgement after the first sight of a server. */
  private static ServerJudgement after(Pins pins, ServerView first, ServerView... later) {
    ServerJudgement judgement = seen(pins, first);
    for (ServerView each : later) {
      judgement = seen(pins, each);
    }
    return judgement;
  }

  private static Judgement of(ServerJudgement server, DefinitionKind kind, String name) {
    return server.all().get(new Name(kind, name));
  }

  private static Judgement tool(ServerJudgement server, String name) {
    return of(server, DefinitionKind.TOOL, name);
  }

  private static List<String> offered(ServerJudgement server) {
    return List.copyOf(server.shown().catalogue().tools().keySet());
  }

  @Test
  void firstDefinitionsOfAServerAreApproved() {
    ServerJudgement first = seen(PinFixture.of(BLOCK), server(PUSH, PULL));

    assertEquals(Map.of(State.APPROVED, 3L), first.counts());
    assertEquals(List.of("push", "pull"), offered(first));
    assertSame(first.whole(), first.shown());
  }

  @ParameterizedTest
  @CsvSource({"OFF,false", "WARN,false", "BLOCK,true"})
  void changedToolIsHeldIfTheRulesSayBlock(Reaction changed, boolean isHeld) {
    Pins pins = PinFixture.of(new PinRules(changed, Reaction.WARN, true));

    ServerJudgement later = after(pins, server(PUSH, PULL), server(EVIL, PULL));

    assertEquals(State.CHANGED, tool(later, "push").state());
    assertEquals(isHeld, tool(later, "push").isHeld());
    assertEquals(isHeld ? List.of("pull") : List.of("push", "pull"), offered(later));
  }

  @ParameterizedTest
  @CsvSource({"WARN,false", "BLOCK,true"})
  void newToolIsHeldIfTheRulesSayBlock(Reaction added, boolean isHeld) {
    Pins pins = PinFixture.of(new PinRules(Reaction.BLOCK, added, true));

    ServerJudgement later = after(pins, server(PULL), server(PUSH, PULL));

    assertEquals(State.NEW, tool(later, "push").state());
    assertEquals(isHeld, tool(later, "push").isHeld());
  }

  @Test
  void newToolIsApprovedIfNewOnesAreNotJudgedAndItsLaterChangeIsHeld() {
    Pins pins = PinFixture.of(new PinRules(Reaction.BLOCK, Reaction.OFF, true));

    ServerJudgement added = after(pins, server(PULL), server(PUSH, PULL));
    ServerJudgement changed = seen(pins, server(EVIL, PULL));

    assertEquals(State.APPROVED, tool(added, "push").state());
    assertTrue(tool(changed, "push").isHeld());
  }

  @Test
  void serverThatOfferedNothingAtFirstHasOnlyNewTools() {
    ServerView nothing = server(null, List.of(), List.of());

    ServerJudgement later = after(PinFixture.of(BLOCK), nothing, server(PUSH));

    assertEquals(State.NEW, tool(later, "push").state());
    assertEquals(List.of(), offered(later));
  }

  @Test
  void renamedToolIsNewAndTheOldNameIsMissing() {
    ServerJudgement later =
        after(PinFixture.of(BLOCK), server(PUSH), server(PUSH.replace("'push'", "'push2'")));

    assertEquals(State.MISSING, tool(later, "push").state());
    assertTrue(tool(later, "push2").isHeld());
  }

  @Test
  void toolThatReturnsAsItWasIsApprovedAndOneThatReturnsChangedIsHeld() {
    Pins pins = PinFixture.of(BLOCK);

    ServerJudgement same = after(pins, server(PUSH, PULL), server(PULL), server(PUSH, PULL));
    ServerJudgement changed = after(pins, server(PULL), server(EVIL, PULL));

    assertEquals(State.APPROVED, tool(same, "push").state());
    assertTrue(tool(changed, "push").isHeld());
  }

  @Test
  void changedInstructionsPromptsAndTemplatesAreHeld() {
    // Given
    Pins pins = PinFixture.of(BLOCK);
    List<String> prompts = List.of("{'name':'p','arguments':[]}", "{'name':'q'}");
    List<String> templates = List.of("{'uriTemplate':'f:///{x}','name':'f'}");

    // When
    ServerJudgement later =
        after(
            pins,
            server("Be kind.", prompts, templates, PUSH),
            server(
                "Be evil.",
                List.of("{'name':'p','arguments':[{'name':'secret'}]}", "{'name':'q'}"),
                List.of("{'uriTemplate':'f:///{x}','name':'g'}"),
                PUSH));

    // Then
    assertTrue(of(later, DefinitionKind.INSTRUCTIONS, "").isHeld());
    assertTrue(of(later, DefinitionKind.PROMPT, "p").isHeld());
    assertTrue(of(later, DefinitionKind.TEMPLATE, "f:///{x}").isHeld());
    assertNull(later.shown().identity().instructions());
    assertEquals(List.of(json("{'name':'q'}")), later.shown().catalogue().prompts());
    assertEquals(List.of(), later.shown().catalogue().templates());
    assertEquals(List.of("push"), offered(later));
  }

  @Test
  void secondPromptOfTheSameNameIsHeldWithTheFirst() {
    // Given
    List<String> one = List.of("{'name':'p'}");
    List<String> two = List.of("{'name':'p'}", "{'name':'p','description':'evil'}");

    // When
    ServerJudgement later =
        after(PinFixture.of(BLOCK), server(null, one, List.of()), server(null, two, List.of()));

    // Then
    assertEquals(List.of(), later.shown().catalogue().prompts());
  }

  @Test
  void rulesThatAskHoldTheFirstDefinitionsUntilEachIsApproved() {
    // Given
    Pins pins = PinFixture.of(new PinRules(Reaction.BLOCK, Reaction.BLOCK, false));
    ServerJudgement first = seen(pins, server(PUSH, PULL));

    // When
    decide(pins, first, "push", true);
    ServerJudgement later = seen(pins, server(PUSH, PULL));

    // Then
    assertEquals(List.of(), offered(first));
    assertEquals(List.of("push"), offered(later));
    assertEquals("alice", tool(later, "push").pin().by());
  }

  private static Future<Void> decide(
      Pins pins, ServerJudgement shown, String tool, boolean isApproval) {
    Judgement judgement = tool(shown, tool);
    return pins.decide(
        SERVER,
        List.of(new PinDecision(judgement.name(), isApproval, judgement.digest())),
        "alice");
  }

  @Test
  void approvalOffersExactlyWhatWasShown() {
    // Given
    Pins pins = PinFixture.of(BLOCK);
    ServerJudgement shown = after(pins, server(PUSH), server(EVIL));

    // When
    Future<Void> decided = decide(pins, shown, "push", true);

    // Then
    assertTrue(decided.succeeded());
    assertEquals(List.of("push"), offered(seen(pins, server(EVIL))));
    assertEquals(List.of(), offered(seen(pins, server(PUSH))), "the old one is not approved now");
  }

  @Test
  void approvalOfADefinitionThatHasChangedAgainIsRefused() {
    // Given
    Pins pins = PinFixture.of(BLOCK);
    ServerJudgement shown = after(pins, server(PUSH), server(EVIL));
    seen(pins, server(EVIL.replace("mallory", "eve")));

    // When
    Future<Void> decided = decide(pins, shown, "push", true);

    // Then
    assertEquals(ErrorCode.DEFINITION_CHANGED, BridgeException.of(decided.cause()).code());
    assertEquals(List.of(), offered(seen(pins, server(EVIL))));
  }

  @Test
  void oneDecisionThatCannotBeTakenStopsAll() {
    // Given
    Pins pins = PinFixture.of(BLOCK);
    ServerJudgement shown = after(pins, server(), server(PUSH));

    // When
    Future<Void> decided =
        pins.decide(
            SERVER,
            List.of(
                new PinDecision(tool(shown, "push").name(), true, tool(shown, "push").digest()),
                new PinDecision(new Name(DefinitionKind.TOOL, "none"), true, "v1:sha256:0")),
            "alice");

    // Then
    assertEquals(ErrorCode.NOT_FOUND, BridgeException.of(decided.cause()).code());
    assertEquals(List.of(), offered(seen(pins, server(PUSH))));
  }

  @Test
  void blockedToolStaysBlockedWhateverItBecomesUntilItIsApproved() {
    // Given
    Pins pins = PinFixture.of(new PinRules(Reaction.WARN, Reaction.WARN, true));
    ServerJudgement first = seen(pins, server(PUSH, PULL));

    // When
    decide(pins, first, "push", false);
    ServerJudgement later = seen(pins, server(EVIL, PULL));
    decide(pins, later, "push", true);

    // Then
    assertEquals(State.BLOCKED, tool(later, "push").state());
    assertEquals(List.of("pull"), offered(later));
    assertEquals(List.of("push", "pull"), offered(seen(pins, server(EVIL, PULL))));
  }

  @Test
  void blockedPromptIsRefusedWhenItsServerDoesNotListItAnyLonger() {
    // Given
    Pins pins = PinFixture.of(new PinRules(Reaction.WARN, Reaction.WARN, true));
    ServerJudgement first = seen(pins, server(null, List.of("{'name':'p'}"), List.of()));
    Judgement prompt = of(first, DefinitionKind.PROMPT, "p");
    pins.decide(SERVER, List.of(new PinDecision(prompt.name(), false, prompt.digest())), "alice");

    // When
    ServerJudgement later = seen(pins, server(null, List.of(), List.of()));

    // Then
    assertEquals(State.BLOCKED, of(later, DefinitionKind.PROMPT, "p").state());
    assertThrows(
        BridgeException.class,
        () -> pins.requireOffered(SERVER, new Target(Target.Kind.PROMPT, "p")));
  }

  @ParameterizedTest
  @CsvSource({"WARN,false", "BLOCK,true"})
  void promptThatIsNotListedIsRefusedIfNewOnesAreHeld(Reaction added, boolean isRefused) {
    Pins pins = PinFixture.of(new PinRules(Reaction.BLOCK, added, true));
    seen(pins, server(PUSH));
    Target prompt = new Target(Target.Kind.PROMPT, "never listed");

    if (isRefused) {
      assertThrows(BridgeException.class, () -> pins.requireOffered(SERVER, prompt));
    } else {
      pins.requireOffered(SERVER, prompt);
    }
  }

  @Test
  void callOfAHeldToolIsRefusedAndSaysWhy() {
    Pins pins = PinFixture.of(BLOCK);
    after(pins, server(PUSH, PULL), server(EVIL, PULL));

    BridgeException refused =
        assertThrows(BridgeException.class, () -> pins.requireOffered(SERVER, Target.tool("push")));

    assertEquals(ErrorCode.DEFINITION_CHANGED, refused.code());
    assertTrue(refused.getMessage().contains("has changed the definition"), refused.getMessage());
    assertEquals("Pushes to mallory", pins.heldTool(SERVER, "push").description());
    pins.requireOffered(SERVER, Target.tool("pull"));
    assertNull(pins.heldTool(SERVER, "pull"));
  }

  /** Every start reads the lock file that the one before has left. */
  @Test
  void thousandRestartsWithReorderedListsRaiseNoFalseAlarm() throws Exception {
    // Given
    List<String> tools =
        numbered("{'name':'t%d','inputSchema':{'type':'object','required':['a']}}");
    List<String> prompts = numbered("{'name':'p%d','arguments':[{'name':'a'}]}");
    List<String> templates = numbered("{'name':'r%d','uriTemplate':'file:///%1$d/{x}'}");
    PinStore first = PinFixture.store();
    seen(
        PinFixture.of(BLOCK, first),
        server("Be kind.", prompts, templates, tools.toArray(String[]::new)));
    String lock = LockText.write(Map.of(SERVER, first.of(SERVER)));
    Random random = new Random(7);

    for (int restart = 0; restart < 1_000; restart++) {
      // When
      List.of(tools, prompts, templates).forEach(list -> Collections.shuffle(list, random));
      boolean isSwapped = random.nextBoolean();
      String[] listed =
          tools.stream()
              .map(
                  tool ->
                      isSwapped
                          ? tool.replace(
                              "'type':'object','required':['a']",
                              "'required':[ 'a' ],  'type':'object'")
                          : tool)
              .toArray(String[]::new);
      PinStore store = PinFixture.store();
      store.put(SERVER, store.version(SERVER), LockText.read(lock).get(SERVER));
      ServerJudgement judgement =
          seen(PinFixture.of(BLOCK, store), server("Be kind.", prompts, templates, listed));

      // Then
      assertEquals(Map.of(State.APPROVED, 61L), judgement.counts());
      assertEquals(lock, LockText.write(Map.of(SERVER, store.of(SERVER))));
    }
  }

  private static List<String> numbered(String definition) {
    return new ArrayList<>(IntStream.range(0, 20).mapToObj(definition::formatted).toList());
  }

  @Test
  void viewsWithTheSameDefinitionsShareWhatIsOffered() {
    Pins pins = PinFixture.of(BLOCK);
    ServerView evil = server(EVIL, PULL);
    ServerJudgement one = after(pins, server(PUSH, PULL), evil);

    ServerJudgement other = pins.judge(evil.plusQueued(1)).orElseThrow();

    assertSame(one.shown().catalogue(), other.shown().catalogue());
    assertEquals(1, other.shown().counters().queued());
    assertNotEquals(evil.catalogue().digest(), other.shown().catalogue().digest());
  }

  @Test
  void serversAreNotJudgedWithoutRules() {
    Pins pins = PinFixture.of(PinRules.OFF);

    assertTrue(pins.judge(server(PUSH)).isEmpty());
    assertFalse(pins.known(SERVER).isPresent());
  }
}
