package dev.mcpbridge.call;

import dev.mcpbridge.model.RiskLevel;

/**
 * What the access rules say of a call that may be made.
 *
 * @param atLeast the risk level that it has at least
 * @param wouldDeny the rule that would refuse it if the rules were enforced; null without one
 */
record Permission(RiskLevel atLeast, String wouldDeny) {
  static final Permission UNRESTRICTED = new Permission(RiskLevel.LOW, null);
}
