package dev.mcpbridge.profile;

import dev.mcpbridge.model.ServerId;

/**
 * What an address offers: all servers, one server, or a profile.
 *
 * @param server null unless it is one server
 * @param profile its name; null unless it is a profile
 */
public record Selection(ServerId server, String profile) {
  /** All servers. */
  public static final Selection ALL = new Selection(null, null);

  public static Selection of(ServerId server) {
    return new Selection(server, null);
  }

  public static Selection ofProfile(String name) {
    return new Selection(null, name);
  }

  /**
   * Whether a change of a server can be one of what is offered here. That of a profile is found out
   * by comparing what it offers.
   */
  public boolean mayContain(ServerId changed) {
    return server == null || server.equals(changed);
  }
}
