package dev.mcpbridge.it.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Browser;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The console that is open for long, at a bridge where much happens. */
@Tag("program")
class ConsoleLoadIT {
  /** Replaces the stream of events by one that has as many as are wanted. */
  private static final String MANY_EVENTS =
      """
      (() => {
        const real = window.fetch;
        const event = 'event: server\\ndata: {"server":"s","state":"ready"}\\n\\n';
        window.events = {rate: 500, sent: 0, reads: 0, longestFrame: 0};
        window.fetch = (path, init) => {
          if (String(path) === 'servers') {
            window.events.reads++;
          }
          if (String(path) !== 'events') {
            return real(path, init);
          }
          const start = (controller) => setInterval(() => {
            const count = window.events.rate / 20;
            controller.enqueue(new TextEncoder().encode(event.repeat(count)));
            window.events.sent += count;
          }, 50);
          return Promise.resolve(new Response(new ReadableStream({start})));
        };
        let last = performance.now();
        const frame = (now) => {
          window.events.longestFrame = Math.max(window.events.longestFrame, now - last);
          last = now;
          if (!window.events.shown && document.querySelector('tbody tr')) {
            window.events.shown = now;
          }
          requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
      })()
      """;

  @TempDir Path folder;

  @Test
  void manyEventsCauseFewRequestsAndTakeNoMemory() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("");
        Browser browser = new Browser(folder.resolve("profile"))) {
      browser.before(MANY_EVENTS);
      browser.open(bridge.uri("/console"));
      browser.until("!!document.querySelector('[data-testid=server-s]')");
      System.out.println(
          "first screen after " + browser.evaluate("Math.round(window.events.shown)") + " ms");
      browser.evaluate("window.events.longestFrame = 0");
      browser.until("window.events.sent > 2500");
      int reads = browser.evaluate("window.events.reads").asInt();
      System.out.println(
          "longest frame at 500 events a second: "
              + browser.evaluate("Math.round(window.events.longestFrame)")
              + " ms");
      assertTrue(reads < 50, "the servers were read " + reads + " times for 2,500 events");

      // A day with one event a second.
      browser.evaluate("window.events.rate = 20000");
      browser.until("window.events.sent > 10000");
      long before = browser.heap();
      int elements = browser.evaluate("document.querySelectorAll('*').length").asInt();
      browser.until("window.events.sent > 100000");

      long grown = browser.heap() - before;
      assertTrue(grown < 2_000_000, "the page grew by " + grown + " bytes");
      assertEquals(elements, browser.evaluate("document.querySelectorAll('*').length").asInt());
      assertEquals(List.of(), browser.errors());
    }
  }
}
