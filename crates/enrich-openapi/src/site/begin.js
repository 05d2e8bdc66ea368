// Shows the OpenAPI document with Swagger UI. The page loads nothing from other hosts: no
// validator, no fonts.
window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#interface",
  deepLinking: true,
  validatorUrl: null,
  // The browser does not store API keys: when the page is closed or reloaded, they are lost.
  persistAuthorization: false,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
});

// Hides the link to the account page if the server has no account page.
fetch("/account/sign-in", { method: "HEAD" }).then(
  (response) => { document.getElementById("account-link").hidden = response.status === 404; },
  () => {},
);
