package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.ECKey;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.LongForm;
import dev.mcpbridge.fixture.OwnProcess;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TokenForge;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Callers with access tokens for a long time, while keys rotate, tokens expire, rules are reloaded
 * and issuers fail: 10 s, or 30 min with {@code -Dtests.long=true}.
 */
@Tag("access")
@Tag("slow")
class AccessSoakIT {
  private static final int SECONDS =
      Integer.getInteger("soak.seconds", LongForm.times(10, 30 * 60));

  /** The bridge fetches the keys of an issuer at most once in this time. */
  private static final long FETCH_NANOS = TimeUnit.SECONDS.toNanos(32);

  private static final long ROTATION_NANOS = TimeUnit.SECONDS.toNanos(SECONDS < 120 ? 4 : 50);
  private static final long OUTAGE_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final String ALLOWED = "'ann','bob','carl'";

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, LongAdder> seen = new ConcurrentSkipListMap<>();
  private final long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
  @AutoClose private final IssuerStub issuer;
  @AutoClose private final IssuerStub opaque = IssuerStub.at("");
  @AutoClose private final TestBridge bridge;

  private volatile SigningKey key = new SigningKey(TokenForge.ec("k0"), System.nanoTime());
  private volatile ECKey withdrawn = TokenForge.ec("never");
  private volatile long opaqueFailedNanos = System.nanoTime() - FETCH_NANOS;

  /**
   * @param sinceNanos since when it is published
   */
  private record SigningKey(ECKey key, long sinceNanos) {}

  AccessSoakIT() throws Exception {
    issuer = IssuerStub.at("", key.key());
    bridge = TestBridge.of(config(ALLOWED));
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void eachTokenGetsItsAnswerAndNothingLeaks() throws Exception {
    opaque.knows("good", "{'active':true,'sub':'bob','aud':'all','scope':'mcp:call'}");
    bridge.until(() -> status(token(key.key(), "ann", 60)) == 200);
    long heapBefore = OwnProcess.heap();
    long descriptors = OwnProcess.descriptors();

    List<Future<?>> work = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      work.add(repeat(this::callWithSignedToken));
      work.add(repeat(this::callWithOpaqueToken));
    }
    work.add(repeat(this::rotate));
    work.add(repeat(this::reload));
    work.add(repeat(this::failForAWhile));
    for (Future<?> each : work) {
      each.get();
    }

    bridge.until(() -> status(token(key.key(), "ann", 60)) != 503);
    bridge.until(() -> OwnProcess.descriptors() <= descriptors + 20);
    long heapAfter = OwnProcess.heap();
    System.out.printf(
        "soak %d s: %s; heap %d -> %d kB%n", SECONDS, seen, heapBefore >> 10, heapAfter >> 10);
    assertTrue(heapAfter < heapBefore + (24 << 20), "the heap grew by " + (heapAfter - heapBefore));
    assertTrue(
        Stream.of("valid 200", "expired 401", "unknown 401", "opaque 200", "denied 404")
            .allMatch(seen::containsKey),
        seen.toString());
  }

  private String config(String allowed) {
    return ("{'auth':{'publicUrl':'https://tools.example.org','issuers':["
            + "{'name':'corp','issuer':'%s','audiences':['all'],'clockSkew':0},"
            + "{'name':'other','issuer':'%s','audiences':['all'],"
            + "'introspection':{'clientId':'bridge','clientSecret':'s3cret'}}]},"
            + "'access':{'rules':[{'name':'some','allow':['call'],'who':{'principals':["
            + "'corp|ann','corp|carl','other|bob'%s]}}]},'mcpServers':{'s':%s}}")
        .formatted(
            issuer.url(),
            opaque.url(),
            allowed.contains("'dora'") ? ",'corp|dora'" : "",
            TestBridge.entry(""));
  }

  private Future<?> repeat(Callable<?> step) {
    return threads.submit(
        () -> {
          while (System.nanoTime() < endNanos) {
            step.call();
          }
          return null;
        });
  }

  private Void callWithSignedToken() throws Exception {
    SigningKey used = key;
    switch (ThreadLocalRandom.current().nextInt(4)) {
      case 0 -> check("expired", token(used.key(), "ann", -1), 401);
      case 1 -> check("unknown", token(withdrawn, "ann", 60), 401);
      case 2 -> valid(used, "carl");
      default -> valid(used, "ann");
    }
    return null;
  }

  /** A new key is unknown until the bridge may fetch again. */
  private void valid(SigningKey used, String subject) throws Exception {
    int status = check("valid", token(used.key(), subject, 60), 200, 401);
    long now = System.nanoTime();
    assertTrue(
        status == 200 || now - used.sinceNanos() < FETCH_NANOS || key != used,
        "a token of a key that is long known was refused");
  }

  private Void callWithOpaqueToken() throws Exception {
    long failed = opaqueFailedNanos;
    int status = check("opaque", "good", 200, 503);
    boolean isExcused = failed != opaqueFailedNanos || System.nanoTime() - failed < FETCH_NANOS;
    assertTrue(status == 200 || isExcused, "503 although the issuer answers");
    return null;
  }

  /** The old key is withdrawn in the next rotation, as issuers do. */
  private Void rotate() throws Exception {
    TimeUnit.NANOSECONDS.sleep(Math.min(ROTATION_NANOS, endNanos - System.nanoTime()));
    SigningKey old = key;
    ECKey next = TokenForge.ec("k" + System.nanoTime());
    issuer.publish(old.key(), next);
    key = new SigningKey(next, System.nanoTime());
    return null;
  }

  /** No call after the acknowledgement passes the old rules. */
  private Void reload() throws Exception {
    bridge.reload(config(ALLOWED + ",'dora'"));
    SigningKey used = key;
    int allowed = check("allowed", token(used.key(), "dora", 60), 200, 401);
    bridge.reload(config(ALLOWED));
    check("denied", token(used.key(), "dora", 60), 404, allowed == 200 ? 404 : 401);
    TimeUnit.MILLISECONDS.sleep(300);
    return null;
  }

  private Void failForAWhile() throws Exception {
    TimeUnit.NANOSECONDS.sleep(OUTAGE_NANOS);
    opaqueFailedNanos = System.nanoTime();
    opaque.answer("/introspect", exchange -> IssuerStub.json(exchange, 500, "{}"));
    TimeUnit.NANOSECONDS.sleep(OUTAGE_NANOS);
    opaque.heal();
    opaqueFailedNanos = System.nanoTime();
    return null;
  }

  private int check(String what, String token, Integer... expected) throws Exception {
    Answer answer = call(token);
    seen.computeIfAbsent(what + " " + answer.status(), name -> new LongAdder()).increment();
    assertTrue(List.of(expected).contains(answer.status()), what + ": " + answer);
    if (answer.status() == 503) {
      assertEquals("issuer_unavailable", answer.code());
    }
    return answer.status();
  }

  private Answer call(String token) throws Exception {
    return bridge.call("echo", "{\"text\":\"x\"}", "authorization", "Bearer " + token);
  }

  private int status(String token) throws Exception {
    return call(token).status();
  }

  private String token(ECKey signer, String subject, int seconds) {
    Date expiry = Date.from(Instant.now().plusSeconds(seconds));
    return TokenForge.sign(
        signer,
        TokenForge.claims(issuer.url(), "all", "mcp:call")
            .subject(subject)
            .expirationTime(expiry)
            .build());
  }
}
