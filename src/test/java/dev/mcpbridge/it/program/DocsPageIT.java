package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.Browser;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The documentation page in a real browser. */
@Tag("program")
class DocsPageIT {
  private static final String KEY = ApiKeys.generate();
  private static final String EFFECT = "#operations-s-effect";

  @TempDir Path folder;

  private String servers() {
    return "'mcpServers':{'git':{'builtin':'git','args':['--root','%s']},'s':%s}}"
        .formatted(
            folder, TestBridge.entry("'env':{'EFFECTS':'" + folder.resolve("effects") + "'}"));
  }

  private TestBridge bridge(String keys) throws Exception {
    return TestBridge.of("{" + keys + servers());
  }

  private static String exists(String selector) {
    return "!!document.querySelector(`" + selector + "`)";
  }

  private static void click(Browser browser, String selector) throws Exception {
    browser.until(exists(selector));
    browser.evaluate("document.querySelector(`" + selector + "`).click()");
  }

  private static void choose(Browser browser, String document) throws Exception {
    browser.until(exists("#document option[value=\"" + document + "\"]"));
    browser.evaluate(
        "{const d = document.getElementById('document'); d.value = '"
            + document
            + "'; d.dispatchEvent(new Event('change'))}");
    browser.until("new URLSearchParams(location.search).get('document') === '" + document + "'");
  }

  /** Enters arguments, sends them and waits for the result of the tool. */
  private static void execute(Browser browser) throws Exception {
    click(browser, EFFECT + " .opblock-summary-control");
    click(browser, EFFECT + " .try-out__btn");
    String text = "document.querySelector('" + EFFECT + " textarea')";
    browser.until("!!" + text);
    browser.evaluate(
        "Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call("
            + text
            + ", '{\"ms\": 0}'); "
            + text
            + ".dispatchEvent(new Event('input', {bubbles: true}))");
    click(browser, EFFECT + " .execute");
    browser.until(
        "document.querySelector('%s .live-responses-table')?.innerText.includes('done')"
            .formatted(EFFECT));
  }

  @Test
  void pageListsDocumentsAndCallsATool() throws Exception {
    try (TestBridge bridge = bridge("");
        Browser browser = new Browser(folder.resolve("profile"))) {
      bridge.awaitReady("s", "git");

      browser.open(bridge.uri("/docs"));

      browser.until(exists("#document option[value=\"/servers/s/openapi.json\"]"));
      JsonNode documents =
          browser.evaluate("[...document.querySelectorAll('#document option')].map(o => o.value)");
      assertEquals(
          "[\"/openapi.json\",\"/tools/openapi.json\",\"/servers/git/openapi.json\","
              + "\"/servers/s/openapi.json\"]",
          documents.toString());
      choose(browser, "/servers/git/openapi.json");
      int tools = bridge.get("/servers/git/tools").body().path("tools").size();
      assertTrue(tools > 3, "the git server has tools");
      browser.until(
          "document.querySelectorAll('.opblock').length === "
              + tools
              + " && document.body.innerText.includes('/servers/git/tools/git_status')");

      choose(browser, "/servers/s/openapi.json");
      execute(browser);

      assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
      assertEquals(List.of(), browser.errors());
    }
  }

  private static String api(String argument) {
    ApiDocument document =
        ApiDocument.create()
            .set("servers", "[{'url':'http://127.0.0.1:9'}]")
            .withPost(
                "/x",
                "x",
                "application/json",
                "{'type':'object','properties':{'" + argument + "':{'type':'string'}}}",
                "");
    return "{'type':'openapi','document':" + document.text() + "}";
  }

  /** The text of the page's schemas, all expanded. */
  private static String schemas(Browser browser, String server) throws Exception {
    String all = "#api .json-schema-2020-12-expand-deep-button";
    choose(browser, "/servers/" + server + "/openapi.json");
    browser.until(exists("#operations-" + server + "-x") + " && " + exists(all));
    browser.evaluate("document.querySelectorAll('" + all + "').forEach(each => each.click())");
    browser.until("document.querySelector('#api .models').innerText.includes('forbidden')");
    return browser.evaluate("document.querySelector('#api .models').innerText").asText();
  }

  @Test
  void documentIsShownWithItsOwnSchemasAfterAnother() throws Exception {
    String config = "{'mcpServers':{'one':" + api("pear") + ",'two':" + api("plum") + "}}";
    try (TestBridge bridge = TestBridge.of(config);
        Browser browser = new Browser(folder.resolve("profile"))) {
      bridge.awaitReady("one", "two");
      browser.open(bridge.uri("/docs"));
      browser.until(exists("#operations-one-one__x") + " && " + exists("#operations-two-two__x"));

      String one = schemas(browser, "one");
      String two = schemas(browser, "two");

      assertTrue(one.contains("pear") && !one.contains("plum"), one);
      assertTrue(two.contains("plum") && !two.contains("pear"), two);
      assertEquals(List.of(), browser.errors());
    }
  }

  @Test
  void pageAsksForARequiredKeyAndUsesIt() throws Exception {
    String keys = TestBridge.auth(TestBridge.key("page", KEY, "'read','call'")) + ",";
    try (TestBridge bridge = bridge(keys);
        Browser browser = new Browser(folder.resolve("profile"))) {
      browser.open(bridge.uri("/docs"));

      browser.until("document.getElementById('problem')?.textContent.length > 0");
      assertFalse(browser.evaluate(exists("#document option[value^=\"/servers/\"]")).asBoolean());

      browser.evaluate(
          "{const k = document.getElementById('key'); k.value = '"
              + KEY
              + "'; k.dispatchEvent(new Event('change'))}");

      choose(browser, "/servers/s/openapi.json");
      browser.until("document.getElementById('problem')?.textContent === ''");
      execute(browser);

      assertFalse(browser.evaluate("location.href").asText().contains(KEY));
      assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/docs,text/html; charset=utf-8",
    "/docs/docs.js,text/javascript",
    "/docs/docs.css,text/css",
    "/docs/swagger-ui.css,text/css",
    "/docs/swagger-ui-bundle.js,text/javascript"
  })
  void filesOfThePageAreServedWithoutAKey(String path, String type) throws Exception {
    String keys = TestBridge.auth(TestBridge.key("page", KEY, "'read'")) + ",";
    try (TestBridge bridge = TestBridge.of("{" + keys + "'mcpServers':{}}")) {
      Answer answer = bridge.get(path);

      assertEquals(200, answer.status());
      assertEquals(type, answer.header("content-type"));
      assertEquals("nosniff", answer.header("x-content-type-options"));
      String policy = answer.header("content-security-policy");
      assertTrue(policy.contains("default-src 'none'"), policy);
      assertTrue(policy.contains("script-src 'self';"), policy);
      assertTrue(policy.contains("frame-ancestors 'none'"), policy);
      assertFalse(answer.text().isBlank());
      assertEquals(401, bridge.get("/tools/openapi.json").status());
    }
  }
}
