package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What else a client sends with a call. */
class EnvelopeTest {
  private static JsonSlice json(String text) {
    return JsonSlice.of(text.replace('\'', '"'));
  }

  private static Envelope of(String meta, String capabilities) {
    return new Envelope(json("{'e':1}"), json(meta), json(capabilities), "info");
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      quoteCharacter = '~',
      textBlock =
          """
          {}                           => false => false
          {'elicitation':{}}           => true  => false
          {'elicitation':{'form':{}}}  => true  => false
          {'elicitation':{'url':{}}}   => false => true
          {'elicitation':null}         => false => false
          """)
  void modesOfElicitationAreDeclared(String capabilities, boolean forms, boolean urls) {
    Envelope envelope = of("{}", capabilities);

    assertEquals(forms, envelope.supportsElicitation("form"));
    assertEquals(urls, envelope.supportsElicitation("url"));
  }

  @Test
  void capabilitiesCanBeRemoved() {
    Envelope both = of("{}", "{'roots':{},'sampling':{}}");

    Envelope one = both.without("roots");

    assertTrue(both.hasCapability("roots"));
    assertFalse(one.hasCapability("roots"));
    assertTrue(one.hasCapability("sampling"));
    assertSame(one, one.without("roots"));
    assertFalse(one.withoutCapabilities().hasCapability("sampling"));
    assertEquals("info", one.withoutCapabilities().logLevel());
    assertFalse(Envelope.NONE.hasCapability("roots"));
  }

  @Test
  void membersOfTheMetaAreSetAndRemoved() {
    Envelope envelope = of("{'a':1}", "{}");

    assertEquals(json("{'a':1,'b':2}"), envelope.withMeta("b", json("2")).meta());
    assertEquals(json("{}"), envelope.withoutMeta("a").meta());
    assertSame(envelope, envelope.withoutMeta("b"));
    assertSame(Envelope.NONE, Envelope.NONE.withoutMeta("a"));
    assertEquals(json("{'x':1}"), envelope.withExtras(json("{'x':1}")).extras());
    assertEquals(json("{'a':1}"), envelope.withExtras(json("{'x':1}")).meta());
  }

  @Test
  void whatTracesAndTokensOfProgressSayIsNotReviewed() {
    Envelope envelope = of("{'progressToken':1,'traceparent':'t','com.example/amount':5}", "{}");

    assertEquals(json("{'com.example/amount':5}"), envelope.reviewedMeta());
  }

  @Test
  void callInTheBackgroundIsLessUrgentUnlessItsClientSaysHowUrgentItIs() {
    Envelope unspecified = of("{}", "{}");
    Envelope urgent = unspecified.withUrgency(3);

    assertEquals(Urgency.UNSPECIFIED_IN_BACKGROUND, unspecified.inBackground().urgency());
    assertSame(urgent, urgent.inBackground());
    assertSame(urgent, urgent.withUrgency(3));
    assertEquals(3, urgent.withMeta("a", json("1")).urgency());
  }
}
