window.onload = () => {
  window.ui = SwaggerUIBundle({
    url: "openapi.json",
    dom_id: "#swagger-ui",
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    layout: "StandaloneLayout",
  });
  window.ui.initOAuth({ clientId: "@client_id@", usePkceWithAuthorizationCodeGrant: true });
};
