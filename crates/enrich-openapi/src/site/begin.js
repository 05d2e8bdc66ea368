// Shows the interface's document. Nothing is asked of any other host: no validator, no fonts.
window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#interface",
  deepLinking: true,
  validatorUrl: null,
  // Keys stay in the page and are gone with it.
  persistAuthorization: false,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
});

// An operator may serve no account page.
fetch("/account/sign-in", { method: "HEAD" }).then(
  (response) => { document.getElementById("account-link").hidden = response.status === 404; },
  () => {},
);
