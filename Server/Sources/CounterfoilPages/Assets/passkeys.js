/* Signs in with a passkey, adds one, and notifies the browser of changes (WebAuthn Level 3). */
(() => {
  'use strict';
  if (!window.PublicKeyCredential || !navigator.credentials) return;

  const bytes = (text) => Uint8Array.from(
    atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const identified = (credential) => ({ ...credential, id: bytes(credential.id) });

  /* In JSON, members that are bytes are base64url (WebAuthn §5.1.8 and §5.1.9). */
  const options = (json) => {
    const parsed = JSON.parse(json);
    parsed.challenge = bytes(parsed.challenge);
    if (parsed.user) parsed.user = identified(parsed.user);
    for (const list of ['allowCredentials', 'excludeCredentials']) {
      if (parsed[list]) parsed[list] = parsed[list].map(identified);
    }
    return parsed;
  };

  const answer = (credential) => {
    const { response } = credential;
    const members = {};
    for (const name of ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle', 'attestationObject']) {
      if (response[name]) members[name] = text(response[name]);
    }
    if (response.getTransports) members.transports = response.getTransports();
    return JSON.stringify({
      id: credential.id, rawId: text(credential.rawId), type: credential.type, response: members,
      clientExtensionResults: credential.getClientExtensionResults(),
    });
  };

  /* What the browser can do, as far as it says so (WebAuthn §5.1.7 and §5.1.8). */
  const capabilities = async () => await PublicKeyCredential.getClientCapabilities?.() ?? {
    userVerifyingPlatformAuthenticator:
      await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable?.(),
  };

  /* The browser handles one request at a time. */
  let pending;

  for (const form of document.querySelectorAll('form[data-passkey]')) {
    const button = form.querySelector('button[data-ask]');
    const problem = form.querySelector('[data-problem]');
    const adds = form.dataset.passkey === 'create';
    const isUpgrade = form.dataset.mediation === 'conditional';

    const ask = async (mediation) => {
      pending?.abort();
      const { signal } = pending = new AbortController();
      const request = { publicKey: options(form.dataset.options), signal, ...(mediation && { mediation }) };
      const credential = await (adds ? navigator.credentials.create(request) : navigator.credentials.get(request));
      form.elements.passkey.value = answer(credential);
      form.submit();
    };

    /* The passkeys are among the suggestions of the name field. */
    const suggest = async () => {
      if (!form.querySelector('[autocomplete~="webauthn"]')) return;
      if (!await PublicKeyCredential.isConditionalMediationAvailable?.() || button.disabled) return;
      ask('conditional').catch(() => {});
    };

    if (isUpgrade) {
      /* Not in place of what the user has asked for meanwhile. */
      capabilities().then((can) => {
        if (can.conditionalCreate && !pending) return ask('conditional');
      }).catch(() => {});
      continue;
    }
    /* After the password, the server offers a passkey in a browser that can create one on this device. */
    const { can_create_passkey: ability } = form.elements;
    if (ability) {
      capabilities().then((can) => {
        if (can.userVerifyingPlatformAuthenticator) ability.value = 'true';
      }).catch(() => {});
    }
    button.addEventListener('click', async (event) => {
      /* Enter in a field of the form presses a submit button, too. */
      if (button.type === 'submit') {
        event.preventDefault();
        if (!form.reportValidity()) return;
      }
      problem.hidden = true;
      button.disabled = true;
      try { await ask(); } catch {
        button.disabled = false;
        button.focus();
        problem.hidden = false;
        suggest();
      }
    });
    /* A form that is sent with a password, or shown again from the history, has no answer of a passkey. */
    form.addEventListener('submit', () => { form.elements.passkey.value = ''; });
    window.addEventListener('pageshow', () => {
      form.elements.passkey.value = '';
      button.disabled = false;
    });
    for (const part of form.querySelectorAll('[data-with-passkey]')) part.hidden = false;
    for (const part of form.querySelectorAll('[data-without-passkey]')) part.hidden = true;
    suggest();
  }

  /* The browser forgets passkeys that are deleted here, and shows the names that the user has here (§5.1.10). */
  const signal = (name, members) => PublicKeyCredential[name]?.(members).catch(() => {});
  for (const { dataset } of document.querySelectorAll('[data-rp-id]')) {
    const rpId = dataset.rpId;
    if (dataset.unknown) signal('signalUnknownCredential', { rpId, credentialId: dataset.unknown });
    if (!dataset.user) continue;
    const { id: userId, name, displayName, credentials: allAcceptedCredentialIds } = JSON.parse(dataset.user);
    signal('signalAllAcceptedCredentials', { rpId, userId, allAcceptedCredentialIds });
    signal('signalCurrentUserDetails', { rpId, userId, name, displayName });
  }
})();
