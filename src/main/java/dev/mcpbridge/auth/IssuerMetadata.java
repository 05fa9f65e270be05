package dev.mcpbridge.auth;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.jwk.JWKSet;
import dev.mcpbridge.config.AuthConfig;
import io.vertx.core.Future;
import java.io.IOException;
import java.net.URI;
import java.text.ParseException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an issuer publishes about itself: its metadata by OpenID Connect Discovery or RFC 8414, and
 * its keys (RFC 7517). Confined to the event loop.
 */
final class IssuerMetadata {
  private static final Pattern MAX_AGE = Pattern.compile("max-age=(\\d{1,9})");
  private static final long DEFAULT_LIFETIME_MILLIS = TimeUnit.HOURS.toMillis(1);
  private static final Pattern TRUSTWORTHY =
      Pattern.compile("https://.+|http://(localhost|127\\.[0-9.]+|\\[::1])(:[0-9]+)?(/.*)?");

  /** How long metadata is used, and one without what is needed. */
  private static final long LIFETIME_MILLIS = TimeUnit.HOURS.toMillis(1);

  private static final long INCOMPLETE_MILLIS = TimeUnit.SECONDS.toMillis(30);

  private final String issuer;
  private final Function<String, Future<IssuerClient.Answer>> get;
  private final LongSupplier clock;
  private Future<JsonNode> metadata;
  private long discoveredMillis;

  /**
   * @param get fetches a URL
   * @param clock monotonic, in milliseconds
   */
  IssuerMetadata(
      AuthConfig.Issuer issuer,
      Function<String, Future<IssuerClient.Answer>> get,
      LongSupplier clock) {
    this.issuer = issuer.issuer();
    this.get = get;
    this.clock = clock;
  }

  /** Fetches the keys, and the metadata if they are not known. */
  Future<IssuerKeys.Fetched> keys() {
    return url("jwks_uri").compose(get).compose(IssuerMetadata::keys);
  }

  /** Whether the issuer says that it names itself in its answers to browsers (RFC 9207). */
  Future<Boolean> isNamedInAnswers() {
    return document()
        .map(known -> known.path("authorization_response_iss_parameter_supported").asBoolean());
  }

  /** Old metadata is used until newer one has come. */
  private Future<JsonNode> document() {
    if (metadata == null || metadata.failed()) {
      discoveredMillis = clock.getAsLong();
      metadata = discover();
    } else if (isOlderThan(LIFETIME_MILLIS)) {
      discoveredMillis = clock.getAsLong();
      discover().onSuccess(newer -> metadata = Future.succeededFuture(newer));
    }
    return metadata;
  }

  /** An URL of the metadata; fails if the issuer has none, or one that is not protected. */
  Future<String> url(String member) {
    return document()
        .compose(
            known -> {
              String url = known.path(member).asText();
              if (TRUSTWORTHY.matcher(url).matches()) {
                return Future.succeededFuture(url);
              }
              if (isOlderThan(INCOMPLETE_MILLIS)) {
                metadata = null;
              }
              return Future.failedFuture(
                  new IOException("its metadata has no " + member + " with https"));
            });
  }

  private boolean isOlderThan(long millis) {
    return metadata != null
        && metadata.isComplete()
        && clock.getAsLong() - discoveredMillis >= millis;
  }

  /** Tries both well-known addresses (RFC 8414 sections 3.1 and 5). */
  private Future<JsonNode> discover() {
    String base = issuer.replaceAll("/$", "");
    String path = URI.create(base).getRawPath();
    String origin = base.substring(0, base.length() - path.length());
    return read(base + "/.well-known/openid-configuration")
        .recover(none -> read(origin + "/.well-known/oauth-authorization-server" + path));
  }

  private Future<JsonNode> read(String url) {
    return get.apply(url)
        .compose(
            answer ->
                answer.json().path("issuer").asText().equals(issuer)
                    ? Future.succeededFuture(answer.json())
                    : Future.failedFuture(new IOException("its metadata names another issuer")));
  }

  private static Future<IssuerKeys.Fetched> keys(IssuerClient.Answer answer) {
    try {
      Matcher maxAge = MAX_AGE.matcher(answer.cacheControl() == null ? "" : answer.cacheControl());
      return Future.succeededFuture(
          new IssuerKeys.Fetched(
              JWKSet.parse(answer.json().toString()),
              maxAge.find()
                  ? TimeUnit.SECONDS.toMillis(Long.parseLong(maxAge.group(1)))
                  : DEFAULT_LIFETIME_MILLIS));
    } catch (ParseException e) {
      return Future.failedFuture(new IOException("its keys cannot be read"));
    }
  }
}
