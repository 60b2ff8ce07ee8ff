// Darkroom, a photo viewer without a server of its own. It signs a user in with the authorization code flow and PKCE
// (RFC 6749 §4.1, RFC 7636, RFC 9700), and calls an API with the access token.

const { issuer, clientId, api } = document.documentElement.dataset;
const scope = "openid profile offline_access photos.read";
const redirectURI = new URL(".", location.href).href; // Registered, and the post-logout redirect URI too.

// The access token is in memory. The refresh token and the ID token are in sessionStorage: they outlive a reload, and
// end with the tab. localStorage would keep them on disk and share them with every tab. A script of an attacker on this
// origin could read either, so the policy in index.html admits no such script. Each refresh replaces the refresh token
// (rotation): the server revokes all of them if a copy is used.
let accessToken;
const session = {
  get refreshToken() { return sessionStorage.getItem("refresh_token"); },
  get idToken() { return sessionStorage.getItem("id_token"); },
  store(tokens) {
    accessToken = { value: tokens.access_token, expires: Date.now() + (tokens.expires_in - 30) * 1000 };
    if (tokens.refresh_token) sessionStorage.setItem("refresh_token", tokens.refresh_token);
    if (tokens.id_token) sessionStorage.setItem("id_token", tokens.id_token);
  },
  end() {
    accessToken = undefined;
    sessionStorage.clear();
  },
};

class SignInNeeded extends Error {}

// --- The server ------------------------------------------------------------------------------------------------------

/** The server metadata (OpenID Connect Discovery §4). */
const metadata = (async () => {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`);
  if (!response.ok) throw new Error(`The metadata of ${issuer} cannot be read: HTTP status ${response.status}.`);
  const metadata = await response.json();
  if (metadata.issuer !== issuer) throw new Error(`The metadata are those of ${metadata.issuer}, not ${issuer}.`);
  return metadata;
})();

/** Sends a token request (RFC 6749 §3.2); a public client has no secret, only a client_id. */
async function requestTokens(parameters) {
  const { token_endpoint } = await metadata;
  const body = new URLSearchParams({ client_id: clientId, ...parameters });
  const response = await fetch(token_endpoint, { method: "POST", body });
  const answer = await response.json();
  if (answer.error === "invalid_grant") throw new SignInNeeded("Your session has ended. Please sign in again.");
  if (!response.ok) throw new Error(`${answer.error}: ${answer.error_description ?? "no tokens"}`);
  return answer;
}

// --- Sign-in ---------------------------------------------------------------------------------------------------------

const encode = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = () => encode(crypto.getRandomValues(new Uint8Array(32)));

/** Sends the user to the server. */
async function signIn() {
  const { authorization_endpoint } = await metadata;
  const pending = { state: random(), nonce: random(), verifier: random() };
  sessionStorage.setItem("pending", JSON.stringify(pending));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(pending.verifier));
  const url = new URL(authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectURI,
    scope,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: encode(digest),
    code_challenge_method: "S256",
  });
  location.assign(url);
}

/** Handles the authorization response (RFC 6749 §4.1.2): validates it, and exchanges the code for tokens. */
async function finishSignIn(response) {
  const pending = JSON.parse(sessionStorage.getItem("pending"));
  sessionStorage.removeItem("pending"); // A response counts once.
  if (!pending || response.get("state") !== pending.state) throw new Error("This tab did not start this sign-in.");
  // RFC 9207 §2.4: a response of another server is not an answer to our request.
  if (response.get("iss") !== issuer) throw new Error(`The response is not from ${issuer}.`);
  if (response.has("error")) throw new SignInNeeded(response.get("error_description") ?? response.get("error"));
  const tokens = await requestTokens({
    grant_type: "authorization_code",
    code: response.get("code"),
    redirect_uri: redirectURI,
    code_verifier: pending.verifier,
  });
  const claims = validClaims(tokens.id_token);
  if (claims.nonce !== pending.nonce) throw new Error("The ID token is not for this sign-in.");
  session.store(tokens);
}

/** The claims of an ID token that the token endpoint sent. TLS has authenticated the server, so that the signature need
 * not be verified (OpenID Connect Core §3.1.3.7). */
function validClaims(idToken) {
  const claims = claimsOf(idToken);
  const isForUs = claims.iss === issuer && [claims.aud].flat().includes(clientId);
  if (!isForUs || claims.exp * 1000 < Date.now()) throw new Error("The ID token is not valid.");
  return claims;
}

function claimsOf(idToken) {
  const payload = idToken.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(payload), (byte) => byte.charCodeAt(0))));
}

// --- The tokens in use -----------------------------------------------------------------------------------------------

/** The access token, refreshed when it is about to expire; concurrent callers share one refresh. */
let refreshing;
async function validAccessToken() {
  if (accessToken && Date.now() < accessToken.expires) return accessToken.value;
  refreshing ??= refresh().finally(() => (refreshing = undefined));
  await refreshing;
  return accessToken.value;
}

async function refresh() {
  if (!session.refreshToken) throw new SignInNeeded("Please sign in again.");
  const tokens = await requestTokens({ grant_type: "refresh_token", refresh_token: session.refreshToken });
  // OpenID Connect Core §12.2: the user is still the same.
  const isSame = !tokens.id_token || validClaims(tokens.id_token).sub === claimsOf(session.idToken).sub;
  if (!isSame) throw new SignInNeeded("Another user has signed in.");
  session.store(tokens);
}

/** Calls an API; a token that it refuses is refreshed once. */
async function call(url) {
  const send = (token) => fetch(url, { headers: { Authorization: `Bearer ${token}` } });
  const token = await validAccessToken();
  let response = await send(token);
  if (response.status === 401) {
    if (accessToken?.value === token) accessToken = undefined; // A concurrent call may have refreshed it already.
    response = await send(await validAccessToken());
  }
  if (response.status === 401) throw new SignInNeeded("The API refused the token.");
  if (!response.ok) throw new Error(`${url} answered with the HTTP status ${response.status}.`);
  return response.json();
}

/** Revokes the tokens (RFC 7009), then ends the session at the server (OpenID Connect RP-Initiated Logout §2). */
async function signOut() {
  const { revocation_endpoint, end_session_endpoint } = await metadata;
  const { refreshToken, idToken } = session;
  session.end();
  const body = new URLSearchParams({ client_id: clientId, token: refreshToken });
  await fetch(revocation_endpoint, { method: "POST", body });
  const url = new URL(end_session_endpoint);
  url.search = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: redirectURI });
  location.assign(url);
}

// --- The page --------------------------------------------------------------------------------------------------------

const element = (id) => document.getElementById(id);

async function showPhotos() {
  const { userinfo_endpoint } = await metadata;
  const [user, { photos }] = await Promise.all([call(userinfo_endpoint), call(`${api}/photos`)]);
  const items = photos.map((photo) => Object.assign(document.createElement("li"), { textContent: photo.title }));
  element("photos").replaceChildren(...items);
  show(true, `Photos of ${user.name ?? user.preferred_username}`);
}

function show(isSignedIn, text) {
  element("album").hidden = !isSignedIn;
  element("sign-in").hidden = isSignedIn;
  element("status").textContent = text;
}

/** Runs a step of the page, and shows its error. */
async function run(step) {
  try {
    await step();
  } catch (error) {
    if (error instanceof SignInNeeded) session.end();
    show(Boolean(session.refreshToken), error.message);
  }
}

element("sign-in").addEventListener("click", () => run(signIn));
element("sign-out").addEventListener("click", () => run(signOut));
element("reload").addEventListener("click", () => run(showPhotos));

run(async () => {
  const response = new URLSearchParams(location.search);
  history.replaceState(null, "", redirectURI); // The code is not for the history, nor for a reload.
  if (response.has("state")) await finishSignIn(response);
  if (accessToken || session.refreshToken) return showPhotos();
  show(false, "Sign in to see your photos.");
});
