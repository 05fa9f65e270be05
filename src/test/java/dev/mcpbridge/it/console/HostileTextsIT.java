package dev.mcpbridge.it.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.fixture.Browser;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server whose every text is an attack on the person who looks at it. */
@Tag("program")
class HostileTextsIT {
  private static final String SCRIPT =
      "<img src=x onerror=\"window.attacked=1\"></script><script>window.attacked=1</script>"
          + "${window.attacked=1}<a href=\"javascript:window.attacked=1\">x</a>";
  private static final String HIDDEN = "safe\u202Egnp.exe\u2066 \uDB40\uDC41\uDB40\uDC42\u200B";
  private static final int MANY = 10_000;

  @TempDir Path folder;

  private static String tools() {
    ArrayNode tools = Json.mapper().createArrayNode();
    ObjectNode attack = tools.addObject().put("name", "attack").put("title", SCRIPT);
    attack.put("description", SCRIPT + HIDDEN);
    tools.addObject().put("name", "na\u202Eme").putObject("inputSchema").put("type", "object");
    attack.putObject("annotations").put("title", SCRIPT).put("readOnlyHint", true);
    ObjectNode schema = attack.putObject("inputSchema").put("type", "object");
    schema.put("title", SCRIPT).put("description", SCRIPT);
    ObjectNode properties = schema.putObject("properties");
    properties.putObject("__proto__").put("type", "string").put("description", SCRIPT);
    properties.putObject("constructor").put("type", "string").put("default", SCRIPT);
    properties.putObject(SCRIPT).putArray("enum").add(SCRIPT).add(HIDDEN);
    properties.putObject("self").put("$ref", "#");
    properties.putObject("remote").put("$ref", "http://127.0.0.1:9/schema.json");
    ObjectNode large = tools.addObject().put("name", "large");
    large.put("description", "y".repeat(1 << 20)).putObject("inputSchema").put("type", "object");
    for (int i = tools.size(); i < MANY; i++) {
      tools.addObject().put("name", "tool_" + i).putObject("inputSchema").put("type", "object");
    }
    return tools.toString();
  }

  @Test
  void nothingRunsNothingIsFetchedAndNothingIsHidden() throws Exception {
    String entry = CatalogueServer.entry(folder.resolve("tools.json"), tools(), "");
    String limits = "'limits':{'messageBytes':16777216},";
    try (TestBridge bridge = TestBridge.of("{" + limits + "'mcpServers':{'h':" + entry + "}}");
        Browser browser = new Browser(folder.resolve("profile"))) {
      bridge.awaitReady("h");
      browser.open(bridge.uri("/console#/servers/h"));
      browser.until("document.body?.innerText.includes('10,000 tools')");

      JsonNode text = browser.evaluate("document.querySelector('.list').innerText");
      assertTrue(text.asText().contains("<img src=x onerror="), "markup is shown as text");
      assertTrue(text.asText().contains("safe\\u{202E}gnp.exe\\u{2066}"), "directions are marked");
      assertTrue(text.asText().contains("\\u{E0041}\\u{E0042}\\u{200B}"), "tags are marked");
      assertTrue(browser.evaluate("document.querySelectorAll('.list li').length").asInt() <= 500);

      JsonNode millis = search(browser, "tool_9999");
      assertEquals(1, browser.evaluate("document.querySelectorAll('.list li').length").asInt());
      System.out.println("10,000 tools searched in " + millis + " ms");

      browser.open(bridge.uri("/console#/try/h/attack"));
      browser.until("document.querySelectorAll('form input').length > 1");
      browser.evaluate(
          "[...document.querySelectorAll('form button')].find(b => b.innerText.startsWith('Enter"
              + " this')).click()");
      browser.until("document.querySelectorAll('fieldset input').length > 1");
      browser.evaluate("document.querySelector('[data-testid=run]').click()");
      browser.until("document.body?.innerText.includes('Outcome')");

      browser.open(bridge.uri("/console#/try/h/na%E2%80%AEme"));
      browser.until("document.title.includes('na\\\\u{202E}me')");
      browser.until("document.querySelector('h1')?.innerText === 'Tool na\\\\u{202E}me'");
      assertEquals("null", browser.evaluate("window.attacked ?? null").toString());
      assertEquals(
          0, browser.evaluate("document.querySelectorAll('main img, main script').length").asInt());
      assertFalse(
          browser
              .evaluate(
                  "performance.getEntriesByType('resource').some(r => !r.name.startsWith(location.origin))")
              .asBoolean(),
          "something was fetched from elsewhere");
      // The browser is a child of this JVM and its bridge, which must not read logs without a key.
      browser.errors().removeIf(error -> error.contains("/servers/h/log"));
      assertEquals(List.of(), browser.errors());
    }
  }

  @Test
  void oddResultsAndNamesDoNotStopThePage() throws Exception {
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{}}");
        Browser browser = new Browser(folder.resolve("profile"))) {
      browser.open(bridge.uri("/console"));
      browser.until("document.body?.innerText.includes('No server is configured') ?? false");

      JsonNode shown =
          browser.evaluate(
              """
              Promise.all([import('/console/result.js'), import('/console/view.js')])
                .then(([{result}, {addressOf, render}]) => {
                  const place = document.createElement('div');
                  const odd = ['{"content":[null,1,"x",{}]}', '{"content":{}}', '{}', '{"messages":[{"role":"user"}]}'];
                  odd.forEach((text) => render(result(text), place));
                  return typeof addressOf('try', 's', '\\uD800') === 'symbol'
                    && addressOf('try', 's', 'a/b') === '#/try/s/a%2Fb';
                })
              """);

      assertTrue(shown.asBoolean());
      assertEquals(List.of(), browser.errors());
    }
  }

  /** Milliseconds until the list is drawn. */
  private static JsonNode search(Browser browser, String text) throws Exception {
    return browser.evaluate(
        "(async () => {const i = document.querySelector('section input[type=search]');"
            + " const t = performance.now(); i.value = '"
            + text
            + "'; i.dispatchEvent(new Event('input'));"
            + " await new Promise(r => requestAnimationFrame(() => setTimeout(r)));"
            + " return Math.round(performance.now() - t)})()");
  }
}
