package dev.mcpbridge.perf;

import com.nimbusds.jose.jwk.RSAKey;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.TokenForge;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;

/**
 * What access tokens and rules cost: the same bridge with an API key and without rules, with an
 * unused header as long as a token, and, after a reload, with a token and 100 rules, in turns. Only
 * the ratios are meaningful.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each step.
 */
public final class AccessCost {
  private static final String ARGUMENTS =
      "{\"text\":\"the quick brown fox jumps over the lazy dog\",\"count\":42}";
  private static final String PATH = "/servers/echo/tools/echo";
  private static final double WARM_UP_SECONDS = 15;
  private static final int ROUNDS = 5;
  private static final int RULES = 100;

  private final HttpClient client = HttpClient.newHttpClient();

  private AccessCost() {}

  public static void main(String[] args) throws Exception {
    RSAKey key = TokenForge.rsa("r1");
    String apiKey = ApiKeys.generate();
    try (IssuerStub issuer = IssuerStub.at("/realm", key)) {
      String token =
          TokenForge.sign(
              key,
              TokenForge.claims(issuer.url(), "https://bench.example", "mcp:call")
                  .claim("roles", List.of("role1", "role2"))
                  .expirationTime(new Date(System.currentTimeMillis() + 3_600_000))
                  .build());
      new AccessCost().measure(args[0], Double.parseDouble(args[2]), issuer.url(), apiKey, token);
    }
  }

  private void measure(String jar, double seconds, String issuer, String apiKey, String token)
      throws Exception {
    String plain = configuration("", apiKey, "");
    String ruled = configuration(issuer, apiKey, rules(""));
    String conditional =
        configuration(issuer, apiKey, rules(",\"arguments\":{\"/count\":{\"min\":1}}"));
    try (BridgeProcess bridge = BridgeProcess.ofJar(jar, plain)) {
      run(bridge, apiKey, 64, WARM_UP_SECONDS, 1);
      for (int connections : new int[] {64, 1}) {
        for (int round = 0; round < ROUNDS; round++) {
          apply(bridge, plain, token, 401);
          Samples withKey = run(bridge, apiKey, connections, 1, seconds);
          String unused = "\r\nX-Unused: " + "x".repeat(token.length());
          Samples longHeader = run(bridge, apiKey + unused, connections, 1, seconds);
          apply(bridge, ruled, token, 200);
          Samples withRules = run(bridge, token, connections, 1, seconds);
          apply(bridge, conditional, token, 200);
          Samples withCondition = run(bridge, token, connections, 1, seconds);
          System.out.printf(
              Locale.ROOT,
              "c=%-3d key %.0f/s   key and %d bytes more %.3f   token, %d rules %.3f"
                  + "   with a condition %.3f%n",
              connections,
              withKey.perSecond(),
              token.length(),
              longHeader.perSecond() / withKey.perSecond(),
              RULES,
              withRules.perSecond() / withKey.perSecond(),
              withCondition.perSecond() / withKey.perSecond());
        }
      }
    }
  }

  private static Samples run(
      BridgeProcess bridge, String credential, int connections, double warmUp, double seconds)
      throws Exception {
    String header = "Authorization: Bearer " + credential + "\r\n";
    return new HttpLoad(bridge.port(), connections, PATH, ARGUMENTS, header).run(warmUp, seconds);
  }

  /** Replaces the configuration and waits until a call with the token gets the status. */
  private void apply(BridgeProcess bridge, String configuration, String token, int status)
      throws Exception {
    bridge.configure(configuration);
    do {
      Thread.sleep(1_500);
    } while (call(bridge, token) != status);
  }

  private int call(BridgeProcess bridge, String token) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bridge.port() + PATH))
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + token)
            .POST(HttpRequest.BodyPublishers.ofString(ARGUMENTS))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  /** Ten of the rules are about the caller and the tool; one of them allows the call. */
  private static String rules(String condition) {
    List<String> rules = new ArrayList<>();
    rules.add("{\"name\":\"used\",\"allow\":[\"call\"],\"tools\":[\"echo\"]" + condition + "}");
    for (int i = 1; i < RULES; i++) {
      String effect = i % 3 == 0 ? "deny" : "allow";
      String tool = i % 10 == 1 ? "ech*" : "other_" + i;
      rules.add(
          "{\"name\":\"r%d\",\"%s\":[\"%s\"],\"who\":{\"roles\":[\"role%d\"]},\"tools\":[\"%s\"]}"
              .formatted(i, effect, effect.equals("deny") ? "get" : "call", i % 5, tool));
    }
    return ",\"access\":{\"rules\":[" + String.join(",", rules) + "]}";
  }

  private static String configuration(String issuer, String apiKey, String access) {
    String issuers =
        issuer.isEmpty() ? "" : ",\"issuers\":[{\"name\":\"i\",\"issuer\":\"" + issuer + "\"}]";
    return "{\"auth\":{\"publicUrl\":\"https://bench.example\",\"keys\":[{\"name\":\"bench\","
        + "\"scopes\":[\"read\",\"call\"],\"sha256\":\""
        + ApiKeys.fingerprint(apiKey)
        + "\"}]"
        + issuers
        + "}"
        + access
        + ",\"mcpServers\":{\"echo\":{\"command\":\""
        + Ladder.java()
        + "\",\"args\":[\"-XX:+UseSerialGC\",\"-cp\",\""
        + System.getProperty("java.class.path")
        + "\",\""
        + EchoUpstream.class.getName()
        + "\"]}}}";
  }
}
