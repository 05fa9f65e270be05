package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceContextTest {
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private static Map<String, String> headers(String meta) {
    return TraceContext.headers(JsonSlice.of(meta.replace('\'', '"')));
  }

  @Test
  void aContextOfMetaBecomesHeaders() {
    assertEquals(
        Map.of("traceparent", PARENT, "tracestate", "a=b,c=d"),
        headers("{'traceparent':'" + PARENT + "','tracestate':'a=b,c=d','x':1}"));
    assertEquals(Map.of("traceparent", PARENT), headers("{'traceparent':'" + PARENT + "'}"));
    assertEquals(Map.of(), headers("{'tracestate':'a=b'}"));
    assertEquals(Map.of(), headers("{}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'traceparent':'garbage'}",
        "{'traceparent':1}",
        "{'traceparent':null}",
        "{'traceparent':{'traceparent':'x'}}",
        "{'traceparent':'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\\r\\nx: y'}",
        "{'traceparent':'00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01'}"
      })
  void anInvalidContextIsNoHeader(String meta) {
    assertEquals(Map.of(), headers(meta));
  }

  @Test
  void aStateThatCannotBeAHeaderIsLeftOut() {
    assertEquals(
        Map.of("traceparent", PARENT),
        headers("{'traceparent':'" + PARENT + "','tracestate':'a=b\\nx: y'}"));
    assertEquals(
        Map.of("traceparent", PARENT),
        headers("{'traceparent':'" + PARENT + "','tracestate':'" + "a".repeat(513) + "'}"));
  }

  @Test
  void aHeaderNamesTraceParentAndWhetherItIsRecorded() {
    assertEquals(
        new TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", true),
        TraceContext.of(PARENT));
    assertFalse(TraceContext.of(PARENT.replaceFirst("01$", "00")).isSampled());
    assertTrue(TraceContext.of(PARENT.replaceFirst("01$", "03")).isSampled());
    assertNull(TraceContext.of((String) null));
    assertNull(TraceContext.of(PARENT + "x"));
    assertNull(TraceContext.of(PARENT + "-x"), "version 00 has four fields");
    assertNotNull(TraceContext.of("01" + PARENT.substring(2) + "-x"));
    assertNull(TraceContext.of("ff" + PARENT.substring(2)));
    assertNull(TraceContext.of("00-" + "0".repeat(32) + "-b7ad6b7169203331-01"));
    assertNull(TraceContext.of(PARENT.replace("b7ad6b7169203331", "0".repeat(16))));
  }
}
