package dev.mcpbridge.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class GrantTest {
  private static final Registration CLIENT =
      new Registration("id", "secret", "client_secret_basic", null);

  private static Grant.Terms terms(String resource) {
    return new Grant.Terms(
        "https://s/mcp", "https://i", "https://i/token", null, CLIENT, resource, List.of("a", "b"));
  }

  private static Grant grant(String refresh, long issued, long expires) {
    return new Grant(
        terms("https://s/mcp"),
        new TokenEndpoint.Tokens("at", refresh, expires, null),
        issued,
        0,
        List.of("app"));
  }

  @Test
  void isTheSameAfterItWasStored() {
    for (Grant grant :
        List.of(
            grant("rt", 1, 100), grant(null, 1, Long.MAX_VALUE), grant("rt", 5, 9).refreshing(7))) {
      assertEquals(grant, Grant.of(grant.json()));
    }
  }

  @Test
  void isFreshForFourFifthsOfItsLifetime() {
    Grant grant = grant("rt", 1_000, 2_000);
    assertTrue(grant.isFresh(1_799));
    assertFalse(grant.isFresh(1_800));
    assertFalse(grant.isExpired(1_999));
    assertTrue(grant.isExpired(2_000));
    assertTrue(grant(null, 1, Long.MAX_VALUE).isFresh(Long.MAX_VALUE));
  }

  @Test
  void refreshTokenStaysIfThereIsNoNewOne() {
    Grant grant = grant("old", 1, 2);
    TokenEndpoint.Tokens without = new TokenEndpoint.Tokens("at2", null, 5, null);
    TokenEndpoint.Tokens with = new TokenEndpoint.Tokens("at2", "new", 5, List.of("a"));

    assertEquals("old", grant.renewed(without).tokens().refresh());
    assertEquals(List.of("a", "b"), grant.renewed(without).terms().scopes());
    assertEquals("new", grant.renewed(with).tokens().refresh());
    assertEquals(List.of("a"), grant.renewed(with).terms().scopes());
  }

  @Test
  void clientsStayWhenTheTokensAreRenewed() {
    TokenEndpoint.Tokens next = new TokenEndpoint.Tokens("at2", "new", 5, null);

    Grant renewed = grant("rt", 1, 2).refreshing(3).renewed(next);

    assertTrue(renewed.isFor("app"));
    assertTrue(renewed.isFor(null));
    assertFalse(renewed.isFor("other"));
    assertFalse(renewed.isFor(""));
  }

  @Test
  void newGrantIsForTheClientsOfTheEarlierOneToo() {
    Grant fresh = grant("new", 5, 9).usableBy(grant("old", 1, 2), "other");

    assertEquals("new", fresh.tokens().refresh());
    assertEquals(List.of("app", "other"), fresh.clients());
    assertEquals(List.of("other", "app"), fresh.usableBy(fresh, "app").clients());
    assertEquals(List.of("app", "other"), fresh.usableBy(fresh, null).clients());
  }

  @Test
  void widerGrantIsForTheClientThatWasAgreedToOnly() {
    Grant earlier = grant("old", 1, 2);
    TokenEndpoint.Tokens wider = new TokenEndpoint.Tokens("at", "rt", 9, List.of("a", "b", "c"));
    TokenEndpoint.Tokens narrower = new TokenEndpoint.Tokens("at", "rt", 9, List.of("b"));

    Grant more = Grant.of(earlier.terms(), wider).usableBy(earlier, "other");
    Grant less = Grant.of(earlier.terms(), narrower).usableBy(earlier, "other");

    assertEquals(List.of("other"), more.clients());
    assertEquals(List.of("app", "other"), less.clients());
    assertEquals(List.of("app"), earlier.renewed(wider).clients());
  }

  @Test
  void onlyTheLatestHundredClientsAreKept() {
    Grant grant = grant("rt", 1, 2);
    for (int i = 0; i < 200; i++) {
      grant = grant.usableBy(grant, "client-" + i);
    }

    assertEquals(100, grant.clients().size());
    assertFalse(grant.isFor("client-99"));
    assertTrue(grant.isFor("client-100"));
  }

  @Test
  void markOfARefreshIsForSomeSeconds() {
    Grant marked = grant("rt", 1, 2).refreshing(1_000);
    assertTrue(marked.isBeingRefreshed(15_999));
    assertFalse(marked.isBeingRefreshed(16_000));
    assertFalse(marked.notRefreshing().isBeingRefreshed(1_000));
  }

  @Test
  void refreshNamesTheResourceExactlyAsPublished() {
    assertEquals("https://s/mcp", grant("rt", 1, 2).refreshForm().get("resource"));
    Grant without =
        new Grant(terms(null), new TokenEndpoint.Tokens("at", "rt", 2, null), 1, 0, List.of());
    assertNull(without.refreshForm().get("resource"));
  }
}
