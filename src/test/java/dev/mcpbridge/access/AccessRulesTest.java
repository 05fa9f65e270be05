package dev.mcpbridge.access;

import static dev.mcpbridge.access.AccessFixture.ANALYST;
import static dev.mcpbridge.access.AccessFixture.KEY;
import static dev.mcpbridge.access.AccessFixture.json;
import static dev.mcpbridge.access.AccessFixture.policy;
import static dev.mcpbridge.access.AccessFixture.token;
import static dev.mcpbridge.access.AccessFixture.tool;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Decisions of rules as they are written in the configuration. */
class AccessRulesTest {
  private static ItemRights rights(AccessPolicy policy, Principal caller, Item item) {
    return ItemRights.of(policy.of(caller), item);
  }

  private static boolean mayCall(
      AccessPolicy policy, Principal caller, Item tool, String arguments) {
    Decision decision = rights(policy, caller, tool).decide(Action.CALL, json(arguments)::at);
    return decision instanceof Decision.Allowed;
  }

  private static boolean mayCall(AccessPolicy policy, Principal caller, Item tool) {
    return mayCall(policy, caller, tool, "{}");
  }

  private static boolean mayRead(AccessPolicy policy, String uri) {
    Item resource = Item.of(new ServerId("files"), Item.Kind.RESOURCE, uri);
    return rights(policy, ANALYST, resource).decide(Action.READ, place -> null)
        instanceof Decision.Allowed;
  }

  @Test
  void withoutRulesNothingIsAllowedAndListed() {
    AccessPolicy policy = policy("");

    assertFalse(mayCall(policy, ANALYST, tool("git", "git_log")));
    assertFalse(rights(policy, ANALYST, tool("git", "git_log")).isListed());
  }

  @Test
  void withoutTheSectionEverythingIsAllowed() {
    AccessPolicy policy = new AccessPolicy(AccessRules.NONE);

    assertTrue(mayCall(policy, Principal.ANONYMOUS, tool("git", "git_log")));
    assertTrue(rights(policy, ANALYST, tool("git", "git_log")).isListed());
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      textBlock =
          """
          {'authenticated':true}                                 => true
          {'anonymous':true}                                     => false
          {'roles':['analyst','other']}                          => true
          {'roles':['other']}                                    => false
          {'principals':['corp|alice']}                          => true
          {'principals':['corp|*']}                              => true
          {'principals':['alice']}                               => false
          {'issuers':['corp']}                                   => true
          {'issuers':['evil']}                                   => false
          {'clients':['app']}                                    => true
          {'clients':['bot']}                                    => false
          {'scopes':['mcp:call']}                                => true
          {'scopes':['git:write']}                               => false
          {'keys':['corp|alice']}                                => false
          {'roles':['analyst'],'clients':['bot']}                => false
          """)
  void ruleIsAboutCallersThatFitEveryKey(String who, boolean fits) {
    AccessPolicy policy = policy("{'name':'r','allow':['call'],'who':" + who + "}");

    assertEquals(fits, mayCall(policy, ANALYST, tool("git", "git_log")));
  }

  @Test
  void keysAreNamedByKeysAndNotBySubjectsThatAreNamedLikeThem() {
    AccessPolicy policy = policy("{'name':'r','allow':['call'],'who':{'keys':['edge']}}");

    assertTrue(mayCall(policy, KEY, tool("git", "git_log")));
    assertFalse(mayCall(policy, token("edge", "edge", "edge", "x"), tool("git", "git_log")));
  }

  @Test
  void scopesOfKeysAreThoseOfTheBridge() {
    AccessPolicy policy = policy("{'name':'r','allow':['call'],'who':{'scopes':['call']}}");

    assertTrue(mayCall(policy, KEY, tool("git", "git_log")));
    assertFalse(mayCall(policy, ANALYST, tool("git", "git_log")));
  }

  @Test
  void denyWinsWhateverTheOrder() {
    String allow = "{'name':'a','allow':['call']}";
    String deny = "{'name':'d','deny':['call'],'tools':['git_push']}";

    for (String rules : List.of(allow + "," + deny, deny + "," + allow)) {
      assertTrue(mayCall(policy(rules), ANALYST, tool("git", "git_log")));
      assertFalse(mayCall(policy(rules), ANALYST, tool("git", "git_push")));
      assertFalse(rights(policy(rules), ANALYST, tool("git", "git_push")).isListed());
    }
  }

  @Test
  void exclamationMarkExcludesNames() {
    AccessPolicy policy =
        policy("{'name':'r','allow':['call'],'servers':['git'],'tools':['git_*','!git_push']}");

    assertTrue(mayCall(policy, ANALYST, tool("git", "git_log")));
    assertFalse(mayCall(policy, ANALYST, tool("git", "git_push")));
    assertFalse(mayCall(policy, ANALYST, tool("git", "other")));
    assertFalse(mayCall(policy, ANALYST, tool("files", "git_log")));
  }

  @Test
  void ruleWithToolsIsNotAboutResources() {
    AccessPolicy policy = policy("{'name':'r','allow':['call','read'],'tools':['*']}");

    assertTrue(mayCall(policy, ANALYST, tool("files", "x")));
    assertFalse(mayRead(policy, "file:///srv/x"));
  }

  @Test
  void denyingListDeniesEverything() {
    AccessPolicy policy =
        policy("{'name':'a','allow':['call','read']},{'name':'d','deny':['list']}");

    assertFalse(mayCall(policy, ANALYST, tool("files", "x")));
    assertFalse(mayRead(policy, "file:///srv/x"));
  }

  @Test
  void listAloneShowsWithoutAllowingTheCall() {
    AccessPolicy policy = policy("{'name':'audit','allow':['list']}");

    assertTrue(rights(policy, ANALYST, tool("git", "git_log")).isListed());
    assertFalse(mayCall(policy, ANALYST, tool("git", "git_log")));
  }

  @Test
  void readingIncludesSubscribingUnlessThatIsDenied() {
    Item resource = Item.of(new ServerId("files"), Item.Kind.RESOURCE, "file:///x");
    AccessPolicy allowed = policy("{'name':'a','allow':['read']}");
    AccessPolicy denied = policy("{'name':'a','allow':['read']},{'name':'d','deny':['subscribe']}");

    assertInstanceOf(
        Decision.Allowed.class,
        rights(allowed, ANALYST, resource).decide(Action.SUBSCRIBE, place -> null));
    assertInstanceOf(
        Decision.Refused.class,
        rights(denied, ANALYST, resource).decide(Action.SUBSCRIBE, place -> null));
    assertTrue(rights(denied, ANALYST, resource).isListed());
  }

  /** Each value is tried with a rule that allows and with one that denies. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {'equals':'x'}          | 'x'                    | yes
          {'equals':'x'}          | '\\u0078'              | yes
          {'equals':'x'}          | 'y'                    | no
          {'equals':'x'}          | 1                      | undecided
          {'equals':'x'}          | null                   | undecided
          {'equals':1}            | 1.0                    | yes
          {'equals':1}            | 1e0                    | yes
          {'equals':1}            | 1.00000000000000000001 | no
          {'equals':{'a':1}}      | {'a':1}                | yes
          {'equals':{'a':1}}      | {'a':2}                | no
          {'equals':{'a':1}}      | {'a':1.0}              | yes
          {'equals':{'a':[1,{}]}} | {'a':[1e0,{}]}         | yes
          {'equals':{'a':1}}      | {'a':1,'b':1}          | no
          {'equals':{'a':1}}      | {'b':1}                | no
          {'equals':[1]}          | [1,1]                  | no
          {'in':['x',2]}          | 2                      | yes
          {'in':['x',2]}          | 'y'                    | no
          {'in':['x',2]}          | true                   | undecided
          {'not':'x'}             | 'y'                    | yes
          {'not':'x'}             | 'x'                    | no
          {'not':'x'}             | 1                      | undecided
          {'prefix':'/a'}         | '/ab'                  | yes
          {'prefix':'/a'}         | '/b'                   | no
          {'glob':'*.txt'}        | 'a.txt'                | yes
          {'glob':'*.txt'}        | 'a.txt.exe'            | no
          {'matches':'[a-z]+'}    | 'abc'                  | yes
          {'matches':'[a-z]+'}    | 'abc;'                 | no
          {'min':1,'max':9}       | 9                      | yes
          {'min':1,'max':9}       | 9.000000000000000001   | no
          {'max':9}               | 1e400                  | no
          {'max':9}               | 1e999999               | no
          {'max':9}               | -1e400                 | yes
          {'max':9}               | '5'                    | undecided
          {'maxLength':2}         | 'ab'                   | yes
          {'maxLength':2}         | 'abc'                  | no
          {'maxLength':1}         | '\\ud83d\\ude00'       | yes
          {'under':'/srv/a'}      | '/srv/a/b'             | yes
          {'under':'/srv/a'}      | '/srv/a'               | yes
          {'under':'/srv/a/'}     | '/srv//./a/b'          | yes
          {'under':'/srv/a'}      | '/srv/ab'              | no
          {'under':'/srv/a'}      | '/etc/passwd'          | no
          {'under':'/srv/a'}      | '/srv/a/../../etc'     | undecided
          {'under':'/srv/a'}      | '/srv/a/..'            | undecided
          {'under':'/srv/a'}      | '/srv/a/%2e%2E/etc'    | undecided
          {'under':'/srv/a'}      | '/srv/a/..%2fetc'      | undecided
          {'under':'/srv/a'}      | '/srv/a\\\\..\\\\etc'  | undecided
          {'under':'/srv/a'}      | '/srv/a/x\\u0000'      | undecided
          {'under':'/srv/a'}      | 'srv/a/b'              | undecided
          {'under':'/srv/a'}      | '/srv/a/%252e%252e/x'  | undecided
          {'under':'/srv/a'}      | '/srv/a/..;/x'         | undecided
          {'under':'/srv/a'}      | '/srv/a/\uff0e\uff0e/x' | undecided
          {'under':'/srv/a'}      | ['/srv/a']             | undecided
          {'present':true}        | null                   | yes
          {'absent':true}         | 1                      | no
          """)
  void conditionHoldsFailsOrIsUndecided(String condition, String value, String outcome) {
    String arguments = "{'v':" + value + "}";
    String conditions = "'arguments':{'/v':" + condition + "}";
    Item tool = tool("s", "t");

    boolean allowed =
        mayCall(
            policy("{'name':'a','allow':['call']," + conditions + "}"), ANALYST, tool, arguments);
    boolean denied =
        !mayCall(
            policy("{'name':'a','allow':['call']},{'name':'d','deny':['call']," + conditions + "}"),
            ANALYST,
            tool,
            arguments);

    assertEquals(outcome.equals("yes"), allowed);
    assertEquals(!outcome.equals("no"), denied);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{'equals':1}", "{'not':1}", "{'min':0}", "{'under':'/x'}", "{'present':true}"})
  void missingValueFulfilsNoRuleThatAllows(String condition) {
    String conditions = "'arguments':{'/a/b':" + condition + "}";

    assertFalse(
        mayCall(
            policy("{'name':'a','allow':['call']," + conditions + "}"), ANALYST, tool("s", "t")));
  }

  @Test
  void missingValueFulfilsRulesThatDeny() {
    String allow = "{'name':'a','allow':['call']},";
    String deny = "{'name':'d','deny':['call'],'arguments':{'/a':{'equals':1}}}";

    assertFalse(mayCall(policy(allow + deny), ANALYST, tool("s", "t")));
    assertTrue(mayCall(policy(allow + deny), ANALYST, tool("s", "t"), "{'a':2}"));
  }

  @Test
  void otherUnicodeFormOfATextIsDeniedButNotAllowed() {
    String decomposed = "{'p':'/srv/cafe\u0301'}";
    String fullWidth = "{'p':'\uff0fetc'}";
    String allow = "{'name':'a','allow':['call'],'arguments':{'/p':{'equals':'/srv/caf\u00e9'}}}";
    String deny =
        "{'name':'a','allow':['call']},{'name':'d','deny':['call'],"
            + "'arguments':{'/p':{'prefix':'/etc'}}}";

    assertTrue(mayCall(policy(allow), ANALYST, tool("s", "t"), "{'p':'/srv/caf\u00e9'}"));
    assertFalse(mayCall(policy(allow), ANALYST, tool("s", "t"), decomposed));
    assertFalse(mayCall(policy(deny), ANALYST, tool("s", "t"), fullWidth));
    assertFalse(
        mayCall(
            policy(deny.replace("'prefix':'/etc'", "'under':'/srv/secret'")),
            ANALYST,
            tool("s", "t"),
            "{'p':'/srv/\uff53ecret/x'}"));
    assertTrue(mayCall(policy(deny), ANALYST, tool("s", "t"), "{'p':'/srv'}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          file:///srv/public/a.txt          | true
          FILE:///srv/public/a.txt          | true
          file:///srv/%70ublic/a.txt        | true
          file:///srv/public/a%20b          | true
          file:///srv/secret/a.txt          | false
          file:///srv/public/../secret      | false
          file:///srv/public/%2e%2e/secret  | false
          file:///srv/public/..%2fsecret    | false
          file:///srv/public/%5c..%5csecret | false
          file:///srv/public/%zz            | false
          file:///srv/public/%c3            | false
          file:///srv/public/a%00           | false
          file:///srv/public/%252e%252e/x   | false
          """)
  void resourcesAreComparedInOneForm(String uri, boolean allowed) {
    AccessPolicy allowing =
        policy("{'name':'a','allow':['read'],'resources':['file:///srv/public/**']}");
    AccessPolicy denying =
        policy(
            "{'name':'a','allow':['read']},"
                + "{'name':'d','deny':['read'],'resources':['file:///srv/secret*']}");

    assertEquals(allowed, mayRead(allowing, uri));
    boolean isAmbiguousOrSecret = !allowed;
    assertEquals(isAmbiguousOrSecret, !mayRead(denying, uri));
  }

  /** What many servers read as the same resource. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "file:///srv/./secret/a",
        "file:///srv/%2e/secret/a",
        "file:///srv//secret/a",
        "file:////srv/secret/a",
        "file:/srv/secret/a",
        "file://localhost/srv/secret/a",
        "file:///srv/\uff53ecret/a",
        "file:///srv/exact?x",
        "file:///srv/exact#x",
        "https://api.example:443/secret/a",
        "https://api.example:/secret/a",
        "https://user@api.example/secret/a",
        "https://api.example//secret/a",
        "https:/api.example/secret/a",
        "https:api.example/secret/a",
        "https:///api.example/secret/a",
        "https://api.example./secret/a",
        " https://api.example/secret/a",
        "file:srv/secret/a",
        "NOTE://Secret",
        "note://Secret:",
        "note://Secret ",
        "https://api.example/folder/.",
      })
  void ruleThatDeniesAResourceDeniesItInEveryForm(String uri) {
    String all = "{'name':'a','allow':['read']}";
    String denied =
        "'file:///srv/secret*','file:///srv/exact','https://api.example/secret*','note://Secret','https://api.example/folder/'";
    String deny = ",{'name':'d','deny':['read'],'resources':[" + denied + "]}";
    String part =
        "{'name':'a','allow':['read'],'resources':['*',"
            + denied.replaceAll("'(?=[a-z])", "'!")
            + "]}";

    assertTrue(mayRead(policy(all), uri));
    assertFalse(mayRead(policy(all + deny), uri));
    assertFalse(mayRead(policy(part), uri));
  }

  @ParameterizedTest
  @CsvSource({
    "postgres://user@db.example/*, postgres://user@db.example/orders/schema",
    "imap://alice@mail.example/*, imap://alice@mail.example/INBOX",
    "fetch://https://example.com/*, fetch://https://example.com/a?b=c",
    "https://h.example:443/*, https://h.example:443/x",
    "file://localhost/srv/*, file://localhost/srv/a",
    "file:///src/*.md, file:///src/Why%3F.md",
    "file:///src/*, file:///src/report（final）.md",
    "note:*, note:a b",
    "*, anything at all"
  })
  void ruleThatAllowsAResourceAllowsItAsItIsWritten(String pattern, String uri) {
    assertTrue(
        mayRead(policy("{'name':'a','allow':['read'],'resources':['" + pattern + "']}"), uri));
  }

  @Test
  void ruleThatDeniesAResourceLeavesOthers() {
    AccessPolicy policy =
        policy(
            "{'name':'a','allow':['read']},{'name':'d','deny':['read'],"
                + "'resources':['file:///srv/secret*','https://api.example/secret*']}");

    for (String uri :
        List.of(
            "file:///srv/./public//a?b",
            "file:///",
            "https://api.example:444/secret",
            "https://api.example/x?next=//secret",
            "note:secret",
            "urn:isbn:1",
            "")) {
      assertTrue(mayRead(policy, uri), uri);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          file:///srv/public/{name}   | true
          file:///{+path}             | true
          file:///srv/{a}/{b}.txt     | true
          file:///srv/private/{name}  | false
          http://x/{name}             | false
          """)
  void templateIsListedIfSomeExpansionMayBeRead(String template, boolean listed) {
    AccessPolicy policy =
        policy("{'name':'a','allow':['read'],'resources':['file:///srv/public/**']}");
    Item item = Item.of(new ServerId("files"), Item.Kind.TEMPLATE, template);

    assertEquals(listed, rights(policy, ANALYST, item).isListed());
  }

  @Test
  void templateIsHiddenIfAllExpansionsAreDenied() {
    AccessPolicy policy =
        policy(
            "{'name':'a','allow':['read']},"
                + "{'name':'d','deny':['read'],'resources':['file:///srv/*','!file:///srv/b/*']}");

    assertFalse(listsTemplate(policy, "file:///srv/a/{name}"));
    assertTrue(listsTemplate(policy, "file:///srv/{name}"));
    assertTrue(listsTemplate(policy, "file:///{name}"));
  }

  private static boolean listsTemplate(AccessPolicy policy, String template) {
    Item item = Item.of(new ServerId("files"), Item.Kind.TEMPLATE, template);
    return rights(policy, ANALYST, item).isListed();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {'readOnlyHint':true}   | true
          {'readOnlyHint':false}  | false
          {'readOnlyHint':'true'} | false
          {'readOnlyHint':null}   | false
          {}                      | false
          []                      | false
          """)
  void annotationsCountWithTheirDefaults(String annotations, boolean allowed) {
    AccessPolicy policy =
        policy(
            "{'name':'a','allow':['call']},"
                + "{'name':'d','deny':['call'],'annotations':{'readOnlyHint':{'not':true}}}");
    Item tool = Item.tool(new ServerId("s"), "t", json(annotations));

    assertEquals(allowed, mayCall(policy, ANALYST, tool));
    assertEquals(allowed, rights(policy, ANALYST, tool).isListed());
  }

  @Test
  void missingScopesOfATokenAreNamedAndTheToolStaysListed() {
    AccessPolicy policy =
        policy(
            "{'name':'a','allow':['call'],'needs':['git:write','git:read']},"
                + "{'name':'b','allow':['call'],'needs':['git:write']}");
    ItemRights rights = rights(policy, ANALYST, tool("git", "git_push"));

    Decision decision = rights.decide(Action.CALL, json("{}")::at);

    assertEquals(new Decision.Refused("b", Set.of("git:write")), decision);
    assertTrue(rights.isListed());
    assertTrue(
        mayCall(
            policy,
            token("corp", "alice", "app", "analyst", "git:write"),
            tool("git", "git_push")));
  }

  @ParameterizedTest
  @CsvSource({"PROMPT, get, greet", "TEMPLATE, read, 'file:///{x}'"})
  void completionNeedsTheScopesOfItsRule(Item.Kind kind, String use, String name) {
    AccessPolicy policy = policy("{'name':'a','allow':['" + use + "'],'needs':['git:write']}");
    Item item = Item.of(new ServerId("s"), kind, name);
    Principal writer = token("corp", "alice", "app", "analyst", "git:write");

    assertEquals(
        new Decision.Refused("a", Set.of("git:write")),
        rights(policy, ANALYST, item).decide(Action.COMPLETE, place -> null));
    assertInstanceOf(
        Decision.Allowed.class,
        rights(policy, writer, item).decide(Action.COMPLETE, place -> null));
  }

  @Test
  void keyCannotGetMoreScopesSoTheToolIsHidden() {
    AccessPolicy policy = policy("{'name':'a','allow':['call'],'needs':['git:write']}");
    ItemRights rights = rights(policy, KEY, tool("git", "git_push"));

    assertEquals(
        new Decision.Refused("default", Set.of()), rights.decide(Action.CALL, json("{}")::at));
    assertFalse(rights.isListed());
  }

  @Test
  void highestRiskOfTheRulesThatAllowCounts() {
    AccessPolicy policy =
        policy(
            "{'name':'a','allow':['call']},{'name':'b','allow':['call'],'risk':2},"
                + "{'name':'c','allow':['call'],'risk':3,'arguments':{'/force':{'equals':true}}}");
    ItemRights rights = rights(policy, ANALYST, tool("git", "git_push"));

    assertEquals(
        new Decision.Allowed("a", RiskLevel.MEDIUM), rights.decide(Action.CALL, json("{}")::at));
    assertEquals(
        new Decision.Allowed("a", RiskLevel.HIGH),
        rights.decide(Action.CALL, json("{'force':true}")::at));
  }

  @Test
  void callersForWhomTheSameRulesCountShareTheirRights() {
    AccessPolicy policy = policy("{'name':'a','allow':['call'],'who':{'roles':['analyst']}}");
    Principal bob = token("corp", "bob", "other", "analyst", "x");

    assertTrue(policy.of(ANALYST) == policy.of(bob));
    assertTrue(policy.of(ANALYST) != policy.of(KEY));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {'allow':['call']}                                          | name
          {'name':'a'}                                                | ''
          {'name':'a','allow':['call'],'deny':['call']}               | ''
          {'name':'a','allow':['run']}                                | allow[0]
          {'name':'a','allow':[]}                                     | allow
          {'name':'a b','allow':['call']}                             | name
          {'name':'a','deny':['call'],'risk':2}                       | ''
          {'name':'a','allow':['call'],'tools':null}                  | tools
          {'name':'a','allow':['call'],'who':null}                    | who
          {'name':'a','allow':['call'],'who':{}}                      | who
          {'name':'a','allow':['call'],'who':{'roles':null}}          | who.roles
          {'name':'a','allow':['call'],'who':{'roles':[]}}            | who.roles
          {'name':'a','allow':['call'],'needs':[]}                    | needs
          {'name':'a','allow':['call'],'who':{'authenticated':false}} | who.authenticated
          {'name':'a','allow':['call'],'tools':['!']}                 | tools[0]
          {'name':'a','allow':['call'],'arguments':{}}                | arguments
          {'name':'a','allow':['call'],'arguments':{'/p':null}}       | arguments./p
          {'name':'a','allow':['call'],'arguments':{'/p':{'under':'/x/../y'}}} | arguments./p.under
          {'name':'a','allow':['call'],'risk':4}                      | risk
          {'name':'a','allow':['call'],'tool':['x']}                  | tool
          {'name':'a','allow':['call'],'tools':[]}                    | tools
          {'name':'a','allow':['call'],'who':{'role':['x']}}          | who.role
          {'name':'a','allow':['call'],'who':{'authenticated':true,'anonymous':true}} | who
          {'name':'a','allow':['call'],'arguments':{'path':{'equals':1}}}     | arguments.path
          {'name':'a','allow':['call'],'arguments':{'/path':{}}}              | arguments./path
          {'name':'a','allow':['call'],'arguments':{'/path':{'equal':1}}}     | arguments./path.equal
          {'name':'a','allow':['call'],'arguments':{'/path':{'matches':'('}}} | arguments./path.matches
          {'name':'a','allow':['call'],'arguments':{'/path':{'max':'1'}}}     | arguments./path.max
          {'name':'a','allow':['call'],'annotations':{'readOnlyHint':{'equals':true}}} | annotations
          {'name':'a','deny':['call'],'annotations':{'readonlyHint':{'equals':true}}}  | annotations.readonlyHint
          """)
  void mistakeInARuleIsReportedWithItsPlace(String rule, String place) {
    var refusal =
        org.junit.jupiter.api.Assertions.assertThrows(
            dev.mcpbridge.config.ConfigException.class, () -> policy(rule));

    String path = "access.rules[0]" + (place.isEmpty() ? "" : "." + place);
    assertEquals(
        Set.of(path),
        refusal.problems().stream().map(p -> p.path()).collect(Collectors.toSet()),
        refusal.getMessage());
  }

  @Test
  void rulesThatCannotApplyAreWarnedOf() {
    String text =
        "{'access':{'rules':["
            + "{'name':'a','allow':['call'],'servers':['gti','g*'],'who':{'keys':['k'],'issuers':['i']}},"
            + "{'name':'b','allow':['call'],'tools':['x'],'who':{'roles':['r']}},"
            + "{'name':'c','deny':['call'],'tools':['x']},"
            + "{'name':'d','allow':['call'],'resources':['*']}]},"
            + "'mcpServers':{'git':{'command':'sh'}}}";

    List<String> warnings =
        new ConfigReader(Map.of("PATH", "/usr/bin:/bin"))
                .read(text.replace('\'', '"'), ConfigReader.Strictness.ALL_OR_NOTHING)
                .warnings()
                .stream()
                .map(Object::toString)
                .toList();

    assertEquals(5, warnings.size(), warnings::toString);
    assertEquals(
        new HashSet<>(Arrays.asList("a", "b", "d")),
        warnings.stream()
            .map(warning -> warning.replaceAll("(?s).*access\\.rules\\.(\\w+).*", "$1"))
            .collect(Collectors.toSet()));
  }
}
