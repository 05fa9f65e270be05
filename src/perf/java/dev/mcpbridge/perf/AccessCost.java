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
    String ruled = configuration(issuer, apiKey, rules("plain", ""));
    String conditional =
        configuration(
            issuer, apiKey, rules("conditional", ",\"arguments\":{\"/count\":{\"min\":1}}"));
    try (BridgeProcess bridge = BridgeProcess.ofJar(jar, plain)) {
      run(bridge, apiKey, 64, WARM_UP_SECONDS, 1);
      for (int connections : new int[] {64, 1}) {
        for (int round = 0; round < ROUNDS; round++) {
          apply(bridge, plain, apiKey, "default");
          Samples withKey = run(bridge, apiKey, connections, 1, seconds);
          String unused = "\r\nX-Unused: " + "x".repeat(token.length());
          Samples longHeader = run(bridge, apiKey + unused, connections, 1, seconds);
          apply(bridge, ruled, token, "plain");
          Samples withRules = run(bridge, token, connections, 1, seconds);
          apply(bridge, conditional, token, "conditional");
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
    return new HttpLoad(bridge.port(), connections, EchoUpstream.PATH, EchoUpstream.CALL, header)
        .run(warmUp, seconds);
  }

  /** Replaces the configuration and waits until a rule decides about the call. */
  private void apply(BridgeProcess bridge, String configuration, String credential, String rule)
      throws Exception {
    bridge.configure(configuration);
    while (!explained(bridge, credential).contains("\"rule\":\"" + rule + "\"")) {
      Thread.sleep(50);
    }
  }

  private String explained(BridgeProcess bridge, String credential) throws Exception {
    String question =
        "{\"server\":\"echo\",\"tool\":\"echo\",\"arguments\":" + EchoUpstream.CALL + "}";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bridge.port() + "/access/explain"))
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + credential)
            .POST(HttpRequest.BodyPublishers.ofString(question))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  /** Ten of the rules are about the caller and the tool; one of them allows the call. */
  private static String rules(String name, String condition) {
    List<String> rules = new ArrayList<>();
    rules.add(
        "{\"name\":\"" + name + "\",\"allow\":[\"call\"],\"tools\":[\"echo\"]" + condition + "}");
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
        + ","
        + EchoUpstream.servers()
        + "}";
  }
}
