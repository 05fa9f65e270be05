package dev.mcpbridge.quota;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import io.github.bucket4j.TimeMeter;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Quotas as they are written in the configuration, by a clock of their own. */
class QuotasTest {
  private final Clock clock = new Clock();
  private int nodes = 1;

  private static final class Clock implements TimeMeter {
    private long nanos =
        TimeUnit.MILLISECONDS.toNanos(Instant.parse("2026-11-24T23:00:00Z").toEpochMilli());

    @Override
    public long currentTimeNanos() {
      return nanos;
    }

    @Override
    public boolean isWallClockBased() {
      return true;
    }

    void advance(Duration duration) {
      nanos += duration.toNanos();
    }
  }

  private static List<QuotaRule> rules(String quotas) {
    String text = "{'quotas':[" + quotas + "]}";
    return new ConfigReader(Map.of())
        .read(text.replace('\'', '"'), ConfigReader.Strictness.ALL_OR_NOTHING)
        .quotas();
  }

  private Quotas quotas(String quotas) {
    return new Quotas(rules(quotas), () -> nodes, clock);
  }

  private static Call call(String caller, String tool, String arguments, String... roles) {
    Principal principal = new Principal(caller, Set.of(Scope.CALL), Set.of(roles), null);
    return new Call(
        "1",
        new ServerId("s"),
        Target.tool(tool),
        JsonSlice.of(arguments),
        Caller.of(principal),
        0,
        false,
        Envelope.NONE,
        new CancellationToken());
  }

  private static boolean passes(Quotas quotas, Quotas.Place place, Call call) {
    return quotas.within(place, call, () -> Future.succeededFuture("done")).succeeded();
  }

  private static boolean passes(Quotas quotas, String caller, String... roles) {
    return passes(quotas, Quotas.Place.RECEIVER, call(caller, "t", "{}", roles));
  }

  private static BridgeException refusal(Quotas quotas, Call call) {
    Future<String> refused =
        quotas.within(Quotas.Place.RECEIVER, call, () -> Future.succeededFuture("done"));
    return (BridgeException) refused.cause();
  }

  private static int passed(Quotas quotas, int calls, String caller) {
    int passed = 0;
    for (int i = 0; i < calls; i++) {
      passed += passes(quotas, caller) ? 1 : 0;
    }
    return passed;
  }

  @Test
  void rateAllowsItsBurstAndThenItsRate() {
    Quotas quotas = quotas("{'name':'r','per':'caller','rate':60,'window':60,'burst':5}");

    assertEquals(5, passed(quotas, 20, "a"));
    clock.advance(Duration.ofSeconds(3));
    assertEquals(3, passed(quotas, 20, "a"));
    assertEquals(5, passed(quotas, 20, "b"));
    clock.advance(Duration.ofHours(1));
    assertEquals(5, passed(quotas, 20, "a"));
  }

  @Test
  void refusalNamesTheQuotaAndTheTime() {
    Quotas quotas = quotas("{'name':'slow','per':'caller','rate':1,'window':30}");
    passes(quotas, "a");

    BridgeException refusal = refusal(quotas, call("a", "t", "{}"));

    assertEquals(ErrorCode.RATE_LIMITED, refusal.code());
    assertEquals("slow", refusal.members().get("limit"));
    assertEquals(30, refusal.retryAfterSeconds());
  }

  @Test
  void quotaOfADayBeginsAnewAtMidnight() {
    Quotas quotas = quotas("{'name':'d','per':'caller','quota':2,'period':'day'}");

    assertEquals(2, passed(quotas, 5, "a"));
    clock.advance(Duration.ofMinutes(59));
    assertEquals(0, passed(quotas, 5, "a"));
    clock.advance(Duration.ofMinutes(1));
    assertEquals(2, passed(quotas, 5, "a"));
  }

  @Test
  void quotaOfAMonthBeginsAnewOnItsFirstDay() {
    Quotas quotas = quotas("{'name':'m','quota':1,'period':'month'}");

    assertEquals(1, passed(quotas, 5, "a"));
    clock.advance(Duration.ofDays(6));
    assertEquals(0, passed(quotas, 5, "b"));
    clock.advance(Duration.ofHours(1));
    assertEquals(1, passed(quotas, 5, "b"));
  }

  @Test
  void concurrentCallsEndWithTheirOutcome() {
    Quotas quotas = quotas("{'name':'c','per':'caller','concurrent':2}");
    Promise<String> first = Promise.promise();
    Promise<String> second = Promise.promise();
    quotas.within(Quotas.Place.RECEIVER, call("a", "t", "{}"), first::future);
    quotas.within(Quotas.Place.RECEIVER, call("a", "t", "{}"), second::future);

    assertFalse(passes(quotas, "a"));
    assertTrue(passes(quotas, "b"));
    first.fail("broken");
    assertTrue(passes(quotas, "a"));
    assertTrue(passes(quotas, "a"));
    second.complete("done");
    assertTrue(passes(quotas, "a"));
  }

  @Test
  void callThatFailsBeforeItStartsKeepsNoPlace() {
    Quotas quotas = quotas("{'name':'c','per':'caller','concurrent':1}");

    Future<String> broken =
        quotas.within(
            Quotas.Place.RECEIVER,
            call("a", "t", "{}"),
            () -> {
              throw new IllegalStateException("broken");
            });

    assertEquals("broken", broken.cause().getMessage());
    assertTrue(passes(quotas, "a"));
  }

  @Test
  void sameCallAgainAndAgainIsStoppedAndOthersAreNot() {
    Quotas quotas = quotas("{'name':'loop','repeats':3,'window':60}");
    int passed = 0;
    for (int i = 0; i < 10; i++) {
      passed += passes(quotas, Quotas.Place.RECEIVER, call("a", "t", "{\"n\":1}")) ? 1 : 0;
    }

    assertEquals(3, passed);
    assertTrue(passes(quotas, Quotas.Place.RECEIVER, call("a", "t", "{\"n\":2}")));
    assertTrue(passes(quotas, Quotas.Place.RECEIVER, call("a", "u", "{\"n\":1}")));
    assertTrue(passes(quotas, Quotas.Place.RECEIVER, call("b", "t", "{\"n\":1}")));
    assertTrue(
        refusal(quotas, call("a", "t", "{\"n\":1}")).getMessage().contains("Do not repeat it"));
    clock.advance(Duration.ofSeconds(60));
    assertTrue(passes(quotas, Quotas.Place.RECEIVER, call("a", "t", "{\"n\":1}")));
  }

  @Test
  void callThatOneQuotaRefusesIsNotCountedByTheOthers() {
    Quotas quotas =
        quotas(
            "{'name':'all','rate':3,'window':60},"
                + "{'name':'each','per':'caller','rate':1,'window':60}");

    assertEquals(1, passed(quotas, 10, "a"));
    assertEquals(1, passed(quotas, 10, "b"));
    assertEquals(1, passed(quotas, 10, "c"));
    assertEquals(0, passed(quotas, 10, "d"));
  }

  @Test
  void callersOfARoleShareItsCount() {
    Quotas quotas =
        quotas("{'name':'r','per':'role','who':{'roles':['bot','dev']},'rate':2,'window':60}");

    assertTrue(passes(quotas, "a", "bot", "x"));
    assertTrue(passes(quotas, "b", "bot"));
    assertFalse(passes(quotas, "c", "bot"));
    assertTrue(passes(quotas, "c", "dev", "x"));
    assertTrue(passes(quotas, "c", "x"));
    assertFalse(passes(quotas, "c", "dev", "bot"));
  }

  @Test
  void callersWithoutAClientAreNotCountedByClient() {
    Quotas quotas = quotas("{'name':'c','per':'client','rate':1,'window':60}");

    assertEquals(5, passed(quotas, 5, "a"));
  }

  @Test
  void ownerCountsWhatIsLimitedForServersAndTools() {
    Quotas quotas =
        quotas(
            "{'name':'s','per':'server','rate':2,'window':60},"
                + "{'name':'c','per':'caller','rate':1,'window':60}");
    Call call = call("a", "t", "{}");

    assertTrue(passes(quotas, Quotas.Place.RECEIVER, call));
    assertFalse(passes(quotas, Quotas.Place.RECEIVER, call));
    assertTrue(passes(quotas, Quotas.Place.OWNER, call));
    assertTrue(passes(quotas, Quotas.Place.OWNER, call("b", "u", "{}")));
    assertFalse(passes(quotas, Quotas.Place.OWNER, call("b", "u", "{}")));
  }

  @Test
  void nodesShareTheQuotasOfCallersButNotThoseOfServers() {
    Quotas quotas =
        quotas("{'name':'c','per':'caller','quota':9}," + "{'name':'s','per':'server','quota':9}");
    nodes = 3;

    assertEquals(3, passed(quotas, 20, "a"));
    int atOwner = 0;
    for (int i = 0; i < 20; i++) {
      atOwner += passes(quotas, Quotas.Place.OWNER, call("a", "t", "{}")) ? 1 : 0;
    }
    assertEquals(9, atOwner);
    nodes = 1;
    assertEquals(6, passed(quotas, 20, "a"));
    nodes = 100;
    assertEquals(1, passed(quotas, 20, "b"));
  }

  @Test
  void reloadKeepsTheCountsOfUnchangedQuotas() {
    String same = "{'name':'same','per':'caller','quota':2}";
    Quotas quotas = quotas(same + ",{'name':'other','per':'caller','quota':5}");
    assertEquals(2, passed(quotas, 5, "a"));

    quotas.reload(rules(same));
    assertEquals(0, passed(quotas, 5, "a"));
    quotas.reload(rules("{'name':'same','per':'caller','quota':3}"));
    assertEquals(3, passed(quotas, 5, "a"));
    quotas.reload(rules("{'name':'same','per':'caller','concurrent':1}"));
    nodes = 2;
    assertEquals(5, passed(quotas, 5, "a"));
  }

  @Test
  void quotaThatIsClosestToItsEndIsTold() {
    Quotas quotas =
        quotas(
            "{'name':'wide','per':'caller','rate':100,'window':60},"
                + "{'name':'tight','per':'caller','rate':3,'window':60}");
    passes(quotas, "a");

    Quotas.Remainder closest = quotas.closest(call("a", "t", "{}")).orElseThrow();

    assertEquals("tight", closest.rule().name());
    assertEquals(2, closest.left());
    assertEquals(20, closest.resetSeconds());
    assertTrue(quotas.closest(call("b", "t", "{}")).isEmpty());
  }

  @Test
  void countsOfADaySurviveARestart(@TempDir Path folder) throws Exception {
    String rule = "{'name':'d','per':'caller','quota':3,'period':'day'}";
    Path file = folder.resolve("state").resolve("quotas.json");
    Quotas before = quotas(rule);
    passed(before, 2, "a");
    new QuotaFile(before, file).write();

    Quotas after = quotas(rule);
    new QuotaFile(after, file).read();
    assertEquals(1, passed(after, 5, "a"));
    assertEquals(3, passed(after, 5, "b"));
    Quotas busy = quotas(rule);
    assertEquals(1, passed(busy, 1, "a"));
    new QuotaFile(busy, file).read();
    assertEquals(0, passed(busy, 5, "a"));

    clock.advance(Duration.ofHours(2));
    Quotas nextDay = quotas(rule);
    new QuotaFile(nextDay, file).read();
    assertEquals(3, passed(nextDay, 5, "a"));
  }

  @Test
  void brokenFileIsReportedAndReplaced(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("quotas.json");
    Files.writeString(file, "{\"counts\":[{");
    Quotas quotas = quotas("{'name':'d','per':'caller','quota':3}");
    QuotaFile kept = new QuotaFile(quotas, file);

    kept.read();
    passed(quotas, 1, "a");
    kept.write();

    assertTrue(Files.readString(file).contains("\"used\":1"));
  }

  @Test
  void folderThatCannotBeWrittenIsReportedOnceAndCountingGoesOn(@TempDir Path folder)
      throws Exception {
    Path file = Files.writeString(folder.resolve("a file"), "").resolve("quotas.json");
    Quotas quotas = quotas("{'name':'d','per':'caller','quota':3}");
    QuotaFile kept = new QuotaFile(quotas, file);

    try (CapturedLog log = new CapturedLog()) {
      assertEquals(1, passed(quotas, 1, "a"));
      kept.write();
      assertEquals(1, passed(quotas, 1, "a"));
      kept.write();

      assertEquals(
          1, log.lines().stream().filter(line -> line.contains("cannot be written")).count());
    }
    assertEquals(1, passed(quotas, 5, "a"));
  }

  @Test
  void manyCallersAreBoundedAndUnusedCountsMakeRoom() {
    Quotas quotas = quotas("{'name':'c','per':'caller','rate':1,'window':60}");
    for (int i = 0; i < 20_000; i++) {
      assertTrue(passes(quotas, "caller" + i));
    }

    BridgeException full = refusal(quotas, call("one more", "t", "{}"));
    clock.advance(Duration.ofSeconds(61));

    assertEquals(ErrorCode.OVERLOADED, full.code());
    assertTrue(passes(quotas, "caller1"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {'name':'q'}                                    | ''
          {'name':'q','rate':1,'quota':1}                 | ''
          {'name':'q','rate':0}                           | .rate
          {'name':'q','concurrent':1,'window':5}          | .window
          {'name':'q','rate':1,'period':'day'}            | .period
          {'name':'q','quota':1,'burst':2}                | .burst
          {'name':'q','quota':1,'period':'week'}          | .period
          {'name':'q','rate':1,'per':'everybody'}         | .per
          {'name':'q','rate':1,'per':[]}                  | .per
          {'name':'q','rate':1,'who':null}                | .who
          {'name':'q','rate':1,'per':['caller','x']}      | .per
          {'name':'q','rate':1,'tool':['x']}              | .tool
          {'rate':1}                                      | .name
          """)
  void mistakeInAQuotaIsReportedWithItsPlace(String quota, String place) {
    ConfigException refusal = assertThrows(ConfigException.class, () -> rules(quota));

    assertEquals("quotas[0]" + place, refusal.problems().get(0).path(), refusal.getMessage());
  }
}
