package dev.mcpbridge.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.CacheConfig;
import dev.mcpbridge.config.CacheConfig.Scope;
import dev.mcpbridge.config.CacheConfig.ToolRule;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.CacheNote;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is kept of which results, and for whom. */
class ResultCacheTest {
  static final CacheConfig CONFIG =
      new CacheConfig(
          List.of(
              new ToolRule(new Glob("own_*"), 10_000, Scope.CALLER),
              new ToolRule(new Glob("all_*"), 10_000, Scope.SHARED)),
          Scope.CALLER,
          true,
          1 << 20);

  private final AtomicLong clock = new AtomicLong();
  private final ResultCache cache = new ResultCache(CONFIG, clock::get);

  static Call call(String id, String caller, String credential, Target target, String arguments) {
    return new Call(
        id,
        new ServerId("s"),
        target,
        JsonSlice.of(arguments),
        Caller.of(new Principal(caller, Set.of(), Set.of(), null)).withAuthorization(credential),
        System.nanoTime() + Duration.ofSeconds(20).toNanos(),
        false,
        Envelope.NONE,
        new CancellationToken());
  }

  static Call call(String caller, String tool, String arguments) {
    return call("c1", caller, null, Target.tool(tool), arguments);
  }

  private static JsonSlice result(String text) {
    return JsonSlice.of("{\"content\":[{\"type\":\"text\",\"text\":\"" + text + "\"}]}");
  }

  private KeptResult keep(Call call, JsonSlice result) {
    return cache.keep(cache.key(call), call.target(), result);
  }

  private JsonSlice find(Call call) {
    String key = cache.key(call);
    return key == null ? null : cache.find(key);
  }

  @Test
  void resultIsFoundWithItsAgeUntilItsTimeIsOver() {
    Call call = call("alice", "own_x", "{}");
    keep(call, result("a"));

    clock.addAndGet(Duration.ofSeconds(4).toNanos());
    CacheNote note = CacheNote.of(find(call));

    assertEquals(CacheNote.Status.HIT, note.status());
    assertEquals(4, note.ageSeconds());
    assertEquals(6, note.ttlSeconds());
    clock.addAndGet(Duration.ofSeconds(6).toNanos());
    assertNull(find(call));
  }

  @Test
  void ownResultsAreFoundByTheirCallerOnly() {
    keep(call("alice", "own_x", "{}"), result("a"));

    assertNotNull(find(call("alice", "own_x", "{}")));
    assertNull(find(call("bob", "own_x", "{}")));
    assertNull(find(call("c1", "alice", "Bearer t", Target.tool("own_x"), "{}")));
    assertNull(find(call("alice", "own_y", "{}")));
    assertNull(find(call("alice", "own_x", "{\"a\":1}")));
  }

  @Test
  void sharedResultsAreFoundByAllWithoutACredentialOfTheirOwn() {
    keep(call("alice", "all_x", "{}"), result("a"));

    assertNotNull(find(call("bob", "all_x", "{}")));
    assertNull(cache.key(call("c1", "bob", "Bearer t", Target.tool("all_x"), "{}")));
  }

  @Test
  void toolsWithoutARuleAreNotKept() {
    assertNull(cache.key(call("alice", "other", "{}")));
    assertNull(cache.key(call("c1", "alice", null, new Target(Target.Kind.PROMPT, "own_x"), "{}")));
  }

  @Test
  void whatElseTheServerSeesIsPartOfTheKey() {
    Call plain = call("alice", "own_x", "{}");
    Call withMeta = plain.withMeta("com.example/locale", JsonSlice.of("\"de\""));
    Call traced = plain.withMeta("traceparent", JsonSlice.of("\"00-a-b-01\""));

    assertNotEquals(cache.key(plain), cache.key(withMeta));
    assertEquals(cache.key(plain), cache.key(traced));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"content\":[],\"isError\":true}",
        "{\"content\":[],\"_meta\":{\"x\":1}}",
        "{\"resultType\":\"input_required\",\"content\":[]}"
      })
  void resultsThatAreNotTheAnswerAreNotKept(String result) {
    assertNull(keep(call("alice", "own_x", "{}"), JsonSlice.of(result)));
  }

  @Test
  void largeResultsAreNotKept() {
    assertNull(keep(call("alice", "own_x", "{}"), result("x".repeat(300_000))));
  }

  @Test
  void keptResultsAreBounded() {
    for (int i = 0; i < 200; i++) {
      keep(call("alice", "own_x", "{\"i\":" + i + "}"), result("x".repeat(100_000)));
    }

    long found = 0;
    for (int i = 0; i < 200; i++) {
      found += find(call("alice", "own_x", "{\"i\":" + i + "}")) == null ? 0 : 1;
    }
    assertTrue(found <= 10, found + " of 100 kB each");
  }

  @Test
  void resourceIsKeptAsLongAsItsServerAllowsAndForgottenAlone() {
    Call one = call("c1", "alice", null, new Target(Target.Kind.RESOURCE, "x://1"), "{}");
    Call two = call("c1", "alice", null, new Target(Target.Kind.RESOURCE, "x://2"), "{}");
    keep(one, JsonSlice.of("{\"contents\":[],\"ttlMs\":3000}"));
    keep(two, JsonSlice.of("{\"contents\":[],\"ttlMs\":3000}"));

    assertNull(keep(one, JsonSlice.of("{\"contents\":[]}")));
    assertNull(keep(one, JsonSlice.of("{\"contents\":[],\"ttlMs\":0}")));
    assertEquals(3, CacheNote.of(find(one)).ttlSeconds());
    clock.addAndGet(Duration.ofSeconds(1).toNanos());
    assertTrue(find(one).text().contains("\"ttlMs\":2000"), find(one).text());

    cache.clear("x://1");
    assertNull(find(one));
    assertNotNull(find(two));
  }

  @Test
  void resourceThatItsServerMarksAsPrivateIsNeverShared() {
    CacheConfig shared = new CacheConfig(List.of(), Scope.SHARED, true, 1 << 20);
    Call call = call("c1", "alice", null, new Target(Target.Kind.RESOURCE, "x://1"), "{}");
    JsonSlice open = JsonSlice.of("{\"contents\":[],\"ttlMs\":9,\"cacheScope\":\"public\"}");
    JsonSlice closed = JsonSlice.of(open.text().replace("public", "private"));
    ResultCache all = new ResultCache(shared, clock::get);

    assertNotNull(all.keep(all.key(call), call.target(), open));
    assertNull(all.keep(all.key(call), call.target(), closed));
    assertNotNull(keep(call, closed), "for its caller only");
  }

  /** Each result names for whom it was made; only the same caller may find it. */
  @Property(tries = 300)
  void noCallerFindsTheResultOfAnother(
      @ForAll @Size(max = 40) List<@IntRange(max = 255) Integer> steps) {
    ResultCache own = new ResultCache(CONFIG, clock::get);
    Map<String, String> made = new HashMap<>();
    for (int step : steps) {
      String caller = "caller" + (step & 3);
      String credential = (step & 4) == 0 ? null : "Bearer " + (step >> 3 & 1);
      String tool = (step & 16) == 0 ? "own_t" : "all_t";
      Call call =
          call("c", caller, credential, Target.tool(tool), "{\"n\":" + (step >> 5 & 3) + "}");
      String who = tool.equals("own_t") ? caller + "/" + credential : "all/" + credential;
      String mine = who + "/" + tool + "/" + call.arguments().text();
      String key = own.key(call);
      if (step > 240) {
        own.clear();
      }
      if (key != null) {
        JsonSlice found = own.find(key);
        if (found != null) {
          assertTrue(found.text().contains("\"" + made.get(mine) + "\""), found.text());
        }
        made.put(mine, mine.replaceAll("[^a-z0-9]", "_"));
        own.keep(key, call.target(), result(made.get(mine)));
      }
    }
  }
}
