@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// The authorization endpoint, which responds at once, as if a signed-in user had decided.
extension MiniatureServer {
    /// Answers an authorization request (RFC 6749 §4.1.1 and §4.1.2).
    func authorize(
        _ request: RecordedRequest, from vault: inout VaultContents, at now: Date
    ) -> ScriptedAnswer {
        var parameters = RecordedParameters(request.query.pairs + request.form.pairs)
        let pushed = parameters["request_uri"]
        if let pushed {
            guard let kept = vault.pushedRequests[pushed], kept["client_id"] == parameters["client_id"] else {
                return rejection("invalid_request_uri", "This request is not known")
            }
            vault.pushedRequests[pushed] = nil
            parameters = kept
        }
        guard let clientID = parameters["client_id"], isKnown(clientID, in: vault) else {
            return rejection("invalid_client", "This application is not known")
        }
        guard let redirectURI = parameters["redirect_uri"], isAllowed(redirectURI) else {
            return rejection("invalid_request", "This redirect URI is not registered")
        }
        if case .page(let status) = script.authorization.outcome { return .html(status: status) }
        let answer: [FormParameters.Pair]
        if let refusal = refusal(of: parameters, wasPushed: pushed != nil) {
            answer = pairs(error: refusal)
        } else if parameters["prompt"] == "none", script.authorization.silentResponse != .code {
            switch script.authorization.silentResponse {
            case .page(let status): return .html(status: status)
            case .error(let error): answer = pairs(error: error)
            case .code: answer = []
            }
        } else {
            answer = outcome(of: parameters, clientID: clientID, in: &vault, at: now)
        }
        return .redirect(to: address(of: answer, state: parameters["state"], redirectURI: redirectURI))
    }

    /// Returns the response to a request whose client or redirect URI is not registered.
    private func rejection(_ error: String, _ text: String) -> ScriptedAnswer {
        switch script.authorization.rejection {
        case .page(let status): return .html(status: status, text)
        case .errorPage(let address):
            let query = FormParameters(["error": error, "error_description": text]).encoded
            return .redirect(to: address + (address.contains("?") ? "&" : "?") + query)
        case .pageElsewhere(let address, _): return .redirect(to: address)
        }
    }

    /// Returns the error code for an invalid request (RFC 6749 §4.1.2.1), or nil if the request is valid.
    private func refusal(of parameters: RecordedParameters, wasPushed: Bool) -> String? {
        if script.authorization.requiresPushedRequest, !wasPushed { return "invalid_request" }
        guard parameters["response_type"] == "code" else { return "unsupported_response_type" }
        let isS256 = parameters["code_challenge_method"] == CodeChallenge.method
        let isChallenge = parameters["code_challenge"].flatMap(CodeChallenge.init) != nil
        return script.authorization.requiresPKCE && !(isS256 && isChallenge) ? "invalid_request" : nil
    }

    private func outcome(
        of parameters: RecordedParameters, clientID: String, in vault: inout VaultContents, at now: Date
    ) -> [FormParameters.Pair] {
        switch script.authorization.outcome {
        case .error(let code, let description): pairs(error: code, description)
        case .codeAndError(let error):
            [code(for: parameters, clientID: clientID, in: &vault, at: now)] + pairs(error: error)
        case .twoCodes:
            [
                code(for: parameters, clientID: clientID, in: &vault, at: now),
                code(for: parameters, clientID: clientID, in: &vault, at: now),
            ]
        case .code, .page: [code(for: parameters, clientID: clientID, in: &vault, at: now)]
        }
    }

    private func pairs(error: String, _ description: String? = nil) -> [FormParameters.Pair] {
        [.init(name: "error", value: error)]
            + (description.map { [.init(name: "error_description", value: $0)] } ?? [])
    }

    private func code(
        for parameters: RecordedParameters, clientID: String, in vault: inout VaultContents, at now: Date
    ) -> FormParameters.Pair {
        let code = vault.secret()
        vault.codes[code] = IssuedCode(
            grant: grant(for: parameters, clientID: clientID, in: vault, at: now),
            redirectURI: parameters["redirect_uri"],
            challenge: parameters["code_challenge"],
            isPlain: parameters["code_challenge_method"] != CodeChallenge.method,
            home: script.authorization.codesBelongToSibling ? sibling : origin)
        return .init(name: "code", value: code)
    }

    /// Returns the grant for an authorization request, a device authorization request, or a token request
    /// with client credentials.
    func grant(
        for parameters: RecordedParameters, clientID: String, in vault: VaultContents, at now: Date
    ) -> ScriptedGrant {
        let scopes = script.authorization.scopeParameters.compactMap { parameters[$0] }
        let scope = script.authorization.grantedScope ?? scopes.first ?? ""
        var asked = scope.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
        let mayRefresh =
            switch script.refreshTokens.issue {
            case .always: true
            case .never: false
            case .withScope(let names): asked.contains(where: names.contains)
            case .withConsentPrompt:
                asked.contains("offline_access")
                    && (parameters["prompt"] ?? "").split(separator: " ").contains("consent")
            case .toAuthenticatedClients: script.clients.authentication.isAuthentication
            case .withOfflineAccessType:
                parameters["access_type"] == "offline"
                    && (parameters["prompt"] == "consent" || !vault.clientsWithRefreshToken.contains(clientID))
            }
        if script.refreshTokens.issue == .withConsentPrompt, !mayRefresh { asked.removeAll { $0 == "offline_access" } }
        return ScriptedGrant(
            authorization: Base64URL.encode(RandomBytes().bytes(16)), clientID: clientID,
            subject: script.authorization.subject, scope: asked.joined(separator: " "), nonce: parameters["nonce"],
            resources: parameters.all("resource"), signedIn: now,
            context: parameters["acr_values"]?.split(separator: " ").first.map(String.init), mayRefresh: mayRefresh,
            key: script.dpop.isIgnored ? nil : parameters["dpop_jkt"])
    }

    /// Returns the URL to which the browser is redirected with the response parameters.
    private func address(of answer: [FormParameters.Pair], state: String?, redirectURI: String) -> String {
        let rules = script.authorization
        var pairs = answer + rules.state.pairs("state", honest: state)
        let saysIssuer = !script.metadata.omitted.contains("authorization_response_iss_parameter_supported")
        pairs += rules.issuer.pairs("iss", honest: saysIssuer ? issuer : nil)
        pairs += rules.extras.map { extra in
            if case .text(let text) = extra.value { return .init(name: extra.name, value: filled(text)) }
            return .init(name: extra.name, value: extra.value.written)
        }
        let base = rules.destination.map(filled) ?? redirectURI
        return base + (base.contains("?") ? "&" : "?") + FormParameters(pairs).encoded + rules.trailing
    }

    func isKnown(_ clientID: String, in vault: VaultContents) -> Bool {
        vault.registrations[clientID] != nil || script.clients.known.map { $0.contains(clientID) } ?? true
    }

    private func isAllowed(_ redirectURI: String) -> Bool {
        switch script.clients.redirects {
        case .any: true
        case .exactly(let list): list.contains(redirectURI)
        case .beginning(let list): list.contains { redirectURI.hasPrefix($0) }
        case .anyPort(let list, let hosts):
            list.contains { registered in
                if registered == redirectURI { return true }
                guard let one = try? AbsoluteURI(parsing: registered),
                    let other = try? AbsoluteURI(parsing: redirectURI)
                else { return false }
                return one.scheme == other.scheme && one.host == other.host && hosts.contains(one.host ?? "")
                    && one.path == other.path && one.query == other.query
            }
        }
    }
}

extension AuthorizationScript.Returned {
    /// Returns the response parameters with this name; `honest` is the value that a correct server returns, or
    /// nil if a correct server omits the parameter.
    fileprivate func pairs(_ name: String, honest: String?) -> [FormParameters.Pair] {
        let values: [String?] =
            switch self {
            case .honest: [honest]
            case .omitted: []
            case .replaced(let other): [other]
            case .doubled(let other): [honest, other]
            }
        return values.compactMap { $0.map { .init(name: name, value: $0) } }
    }
}
