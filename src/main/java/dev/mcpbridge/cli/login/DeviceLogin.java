package dev.mcpbridge.cli.login;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A login in a browser of another machine, with a code that its user enters (RFC 8628). */
final class DeviceLogin {
  static final String GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";
  private static final int DEFAULT_INTERVAL_SECONDS = 5;
  private static final int MAX_SECONDS = 1_800;

  private DeviceLogin() {}

  /**
   * @param show shows a text to the user
   */
  static Login run(
      BridgeIssuer issuer,
      Login.Client client,
      String scope,
      IssuerRequests requests,
      Consumer<String> show)
      throws InterruptedException {
    Map<String, String> form = client.form(null);
    form.put("scope", scope);
    form.put("resource", issuer.resource());
    IssuerRequests.Response begun =
        requests.post(issuer.endpoint("device_authorization_endpoint"), client, form);
    if (!begun.ok()) {
      throw IssuerRequests.refused("The issuer refuses the login: " + begun.reason());
    }
    show.accept(
        "Open %s and enter the code %s"
            .formatted(
                IssuerRequests.printable(begun.body().path("verification_uri").asText()),
                IssuerRequests.printable(begun.body().path("user_code").asText())));
    return Login.of(issuer, client, tokens(issuer, client, begun.body(), requests));
  }

  private static JsonNode tokens(
      BridgeIssuer issuer, Login.Client client, JsonNode begun, IssuerRequests requests)
      throws InterruptedException {
    Map<String, String> form = client.form(GRANT_TYPE);
    form.put("device_code", begun.path("device_code").asText());
    form.put("resource", issuer.resource());
    long seconds = Math.min(MAX_SECONDS, begun.path("expires_in").asLong(MAX_SECONDS));
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    long interval = Math.max(1, begun.path("interval").asLong(DEFAULT_INTERVAL_SECONDS));
    while (System.nanoTime() - end < 0) {
      TimeUnit.SECONDS.sleep(Math.min(interval, 60));
      IssuerRequests.Response answer = poll(issuer, client, form, requests);
      if (answer != null && answer.hasToken()) {
        return answer.body();
      }
      if (answer == null || answer.isLater() || answer.error().equals("slow_down")) {
        interval += DEFAULT_INTERVAL_SECONDS;
      } else if (!answer.error().equals("authorization_pending")) {
        throw IssuerRequests.refused("The login was refused: " + answer.reason());
      }
    }
    throw IssuerRequests.refused("The code was not entered in time");
  }

  /** Null if the issuer cannot be reached now (RFC 8628 section 3.5). */
  private static IssuerRequests.Response poll(
      BridgeIssuer issuer, Login.Client client, Map<String, String> form, IssuerRequests requests)
      throws InterruptedException {
    try {
      return requests.post(issuer.endpoint("token_endpoint"), client, form);
    } catch (BridgeException e) {
      if (e.code() != ErrorCode.ISSUER_UNAVAILABLE) {
        throw e;
      }
      return null;
    }
  }
}
