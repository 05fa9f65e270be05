"use strict";

// The page's own part: which documents there are, and the key that is sent for them and for calls.
// The key stays in this tab. The chosen document is in the page's address, and each one gets a page
// load of its own: Swagger UI goes on showing the schemas of the first document that it was given.
const documents = document.getElementById("document");
const key = document.getElementById("key");
const problem = document.getElementById("problem");

key.value = sessionStorage.getItem("key") || "";

function withKey(request) {
  if (key.value) {
    request.headers["X-API-Key"] = key.value;
  }
  return request;
}

function show() {
  SwaggerUIBundle({
    url: documents.value,
    dom_id: "#api",
    deepLinking: false,
    docExpansion: "list",
    validatorUrl: null,
    requestInterceptor: withKey,
  });
}

function option(url, text) {
  documents.add(new Option(text, url));
}

async function list() {
  option("/openapi.json", "the bridge itself");
  option("/tools/openapi.json", "tools of all servers");
  const answer = await fetch("/servers", withKey({ headers: {} }));
  problem.textContent = answer.ok ? "" : (await answer.json()).detail;
  if (answer.ok) {
    for (const server of (await answer.json()).servers) {
      option(`/servers/${encodeURIComponent(server.id)}/openapi.json`, `tools of ${server.id}`);
    }
  }
  documents.value = new URLSearchParams(location.search).get("document");
  documents.value ||= "/tools/openapi.json";
  show();
}

documents.addEventListener("change", () => {
  location.search = new URLSearchParams({ document: documents.value });
});
key.addEventListener("change", () => {
  sessionStorage.setItem("key", key.value);
  location.reload();
});
list();
