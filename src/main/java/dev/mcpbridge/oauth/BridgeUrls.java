package dev.mcpbridge.oauth;

/**
 * The pages of the bridge that take part in OAuth.
 *
 * @param url of the bridge, as browsers reach it, without a trailing slash
 */
public record BridgeUrls(String url) {

  /** The redirect URI of a server: one for each, so that an answer cannot be mixed up. */
  public String callback(String server) {
    return url + "/oauth/callback/" + server;
  }

  public String clientMetadata() {
    return url + "/oauth/client.json";
  }

  /** The consent page of a ticket. */
  public String connect(String ticket) {
    return url + "/connect/" + ticket;
  }
}
