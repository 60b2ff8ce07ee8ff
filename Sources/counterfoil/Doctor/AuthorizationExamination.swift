import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol
import HTTPTypes

/// The check of authorization requests without a browser: no user signs in, and any issued code is discarded.
extension Examination {
    /// Checks the responses to three authorization requests (RFC 6749 §4.1.2.1).
    ///
    /// One request is valid. The server should reject the others: one has an unregistered redirect URI, and one has no
    /// code challenge.
    mutating func authorization(at server: AuthorizationServerConfiguration) async {
        guard let client = subject.clientID else {
            return advise(
                "authorization-not-tried", "no authorization request was sent",
                mend: "pass the client ID with --client-id")
        }
        guard let redirectURI = await redirect() else { return }
        var attempt = attempt(client, redirectURI, server, silently: true)
        var isPushed = false
        if server.pushedAuthorizationRequestEndpoint != nil {
            do throws(SignInError) {
                try await attempt.push(through: transport)
                isPushed = true
                sound("par", "the pushed authorization request was accepted")
            } catch {
                guard !server.requiresPushedRequests, error.permitsPlainRequest else { return pushRefused(error) }
                advise(
                    "par-refused", "the pushed authorization request failed: \(error)",
                    mend:
                        "this client then sends the request through the browser; enable the endpoint (RFC 9126 §2), or"
                        + " remove it from the metadata")
            }
        }
        guard let endpoint = try? EndpointURL(attempt.authorizationURL),
            let response = await ask(endpoint, headerFields: [.accept: "text/html"], as: "authorization endpoint")
        else { return }
        switch AuthorizationPage(response, redirectURI: redirectURI) {
        case .page(let status) where status >= 500 && !isPushed:
            guard await withoutSilence(client, redirectURI, server, status) else { return }
        case .page: return page(response, redirectURI)
        case .errorPage(let error): return errorPage(error, redirectURI)
        case .otherPage(let location):
            guard await isSignInPage(location, from: endpoint, redirectURI) else { return }
        case .callback(let callback):
            exchangeServer(named: callback, server)
            do throws(SignInError) {
                _ = try attempt.complete(with: callback)
                sound("authorization", "the authorization endpoint responds correctly without a page")
            } catch { judge(error) }
        }
        await unregisteredRedirect(client, server)
        await withoutPKCE(client, redirectURI, server)
    }

    private func attempt(
        _ client: ClientIdentifier, _ redirectURI: RedirectURI, _ server: AuthorizationServerConfiguration,
        silently: Bool
    ) -> AuthorizationAttempt {
        var options = NativeSignIn.Options()
        options.prompt = silently ? [.none] : []
        options.authentication = subject.authentication
        // RFC 8707 §2.1: MCP clients send `resource` to every server.
        options.resources = [subject.resource].compactMap { $0 }.compactMap { try? Resource($0) }
        return AuthorizationAttempt(
            at: server, clientID: client, redirectURI: redirectURI, scope: subject.scope, options: options)
    }

    private mutating func pushRefused(_ error: SignInError) {
        fault(
            "par-refused", "the pushed authorization request failed: \(error)",
            mend:
                "check the client ID and the redirect URI; allow pushed authorization requests of public clients"
                + " (RFC 9126 §2)", status: Failure(error).status)
    }

    /// Sends the request without `prompt=none`, because the server failed with it; returns false after a fault.
    private mutating func withoutSilence(
        _ client: ClientIdentifier, _ redirectURI: RedirectURI, _ server: AuthorizationServerConfiguration,
        _ status: Int
    ) async -> Bool {
        advise(
            "silent-fails", "the authorization endpoint fails (status \(status)) for prompt=none",
            mend: "respond with login_required (OpenID Connect Core §3.1.2.6); a sign-in does not send prompt=none")
        let attempt = attempt(client, redirectURI, server, silently: false)
        guard let endpoint = try? EndpointURL(attempt.authorizationURL),
            let response = await ask(endpoint, headerFields: [.accept: "text/html"], as: "authorization endpoint")
        else { return false }
        switch AuthorizationPage(response, redirectURI: redirectURI) {
        case .page(let status) where status < 400:
            sound("authorization", "the authorization endpoint shows a page")
            return true
        case .page:
            page(response, redirectURI)
            return false
        case .errorPage(let error):
            errorPage(error, redirectURI)
            return false
        case .otherPage(let location): return await isSignInPage(location, from: endpoint, redirectURI)
        case .callback(let callback):
            exchangeServer(named: callback, server)
            do throws(SignInError) {
                _ = try attempt.complete(with: callback)
                sound("authorization", "the authorization endpoint responds correctly without a page")
            } catch { judge(error) }
            return true
        }
    }

    /// The maximum number of redirects to other pages of the server that are followed.
    private static let redirectLimit = 3

    /// Follows a redirect to another page; returns false after a fault, if the page is an error page.
    ///
    /// The redirect is followed only within the origin of the authorization endpoint, and without cookies.
    private mutating func isSignInPage(
        _ location: String, from endpoint: EndpointURL, _ redirectURI: RedirectURI
    ) async -> Bool {
        var location = location
        for _ in 0..<Self.redirectLimit {
            if location.hasPrefix("/"), !location.hasPrefix("//") { location = endpoint.origin + location }
            guard let page = try? EndpointURL(location), page.origin.lowercased() == endpoint.origin.lowercased() else {
                break
            }
            guard let response = await ask(page, headerFields: [.accept: "text/html"], as: "page of the server") else {
                return false
            }
            switch AuthorizationPage(response, redirectURI: redirectURI) {
            case .page(let status) where (400..<500).contains(status):
                self.page(response, redirectURI)
                return false
            case .errorPage(let error):
                errorPage(error, redirectURI)
                return false
            case .otherPage(let next):
                location = next
                continue
            case .page, .callback: break
            }
            break
        }
        sound("authorization", "the authorization endpoint redirects to another page, which is no error page")
        return true
    }

    private mutating func errorPage(_ error: String, _ redirectURI: RedirectURI) {
        fault(
            "redirect-refused",
            "the authorization endpoint redirects to an error page (\(error)): the client or the redirect URI \(redirectURI)"
                + " is not registered",
            mend:
                "register exactly that redirect URI for a native application; register each port if ports are compared",
            status: .refused)
    }

    /// Determines the redirect URI, and checks that this device can listen at it; returns nil if it cannot be used.
    private mutating func redirect() async -> RedirectURI? {
        let text = subject.redirectURI ?? subject.vendor?.profile.redirect.loopback ?? "\(LoopbackRedirectURI.standard)"
        let uri: RedirectURI
        do {
            _ = try RedirectOption.registered(text)
            uri = try RedirectURI(text)
        } catch {
            fault("redirect-unusable", "\(error)", mend: "register another redirect URI", status: .usage)
            return nil
        }
        guard case .loopback = uri.kind else {
            advise("redirect-kind", "only a sign-in shows whether the response arrives at \(uri)")
            return uri
        }
        do throws(SignInError) {
            let uri = try Self.loopback(text)
            let receiver = try await LoopbackReceiver.listen(at: uri)
            let used = receiver.redirectURI
            await receiver.close()
            sound("redirect", "this device can listen at \(used)")
            if used.rawValue.hasPrefix("http://localhost") {
                advise(
                    "redirect-localhost", "other programs may resolve localhost to another address",
                    mend: "register http://127.0.0.1 (RFC 8252 §8.3)")
            }
            return used
        } catch {
            fault(
                "redirect-cannot-listen", "this device cannot listen at \(text): \(error)",
                mend: "end the program that uses the port, or register a redirect URI without a port (RFC 8252 §7.3)",
                status: .unavailable)
            return nil
        }
    }

    private static func loopback(_ text: String) throws(SignInError) -> LoopbackRedirectURI {
        do { return try LoopbackRedirectURI(text) } catch { throw .unusable("\(error)") }
    }

    private mutating func page(_ response: TransportResponse, _ redirectURI: RedirectURI) {
        if response.statusCode == 429 || response.statusCode >= 500 {
            return fault(
                "busy", "the authorization endpoint fails or is overloaded (status \(response.statusCode))",
                mend: "try again later", status: .unavailable)
        }
        guard response.statusCode >= 400 else {
            return advise(
                "authorization-page", "the authorization endpoint shows a page despite prompt=none",
                mend: "if the page is an error and not the sign-in, register the client and \(redirectURI)")
        }
        fault(
            "redirect-refused",
            "the authorization endpoint shows an error (status \(response.statusCode)) and does not redirect: the client or the"
                + " redirect URI \(redirectURI) is not registered",
            mend:
                "register exactly that redirect URI for a native application; register each port if ports are compared",
            status: .refused)
    }

    /// The error codes that are correct for `prompt=none`, because no user is signed in (OpenID Connect Core §3.1.2.6).
    private static let expected: Set<String> = [
        "login_required", "consent_required", "interaction_required", "account_selection_required",
    ]

    private mutating func judge(_ error: SignInError) {
        switch error {
        case .refused(let refusal) where Self.expected.contains(refusal.code.rawValue):
            sound("authorization", "the authorization endpoint responds correctly (\(refusal.code.rawValue))")
        case .refused(let refusal) where refusal.code == .accessDenied:
            advise(
                "access-denied", "\(error)", mend: "check at the server which users and licenses may use the client")
        case .refused(let refusal):
            fault(
                "authorization-refused", "a valid authorization request is rejected: \(error)",
                mend: refusal.code == .invalidScope
                    ? "allow the scope for the client, or request another with --scope"
                    : refusal.code == .invalidTarget
                        ? "let the client request tokens for the API, or ignore resource; MCP clients always send it (RFC 8707 §2)"
                        : "check what the server requires of the client (response type code, PKCE, pushed authorization requests)",
                status: .refused)
        case .unsafe(.callback(let refusal)): callback(refusal)
        default:
            fault(
                "authorization-fails", "\(error)", mend: "check the log of the server", status: Failure(error).status)
        }
    }

    private mutating func callback(_ refusal: AuthorizationCallback.Refusal) {
        switch refusal {
        case .wrongState:
            fault(
                "state-wrong", "the response does not contain the state of the request exactly once and unchanged",
                mend: "return state unchanged, also with errors (RFC 6749 §4.1.2)")
        case .missingIssuer:
            fault(
                "iss-missing", "\(refusal)",
                mend:
                    "send iss in every response, also with errors, or remove the promise from the metadata (RFC 9207 §2)"
            )
        case .wrongIssuer:
            fault("iss-wrong", "\(refusal)", mend: "send the issuer of the metadata, byte for byte (RFC 9207 §2.4)")
        case .malformed(.contradictory):
            fault(
                "code-and-error", "the response contains both a code and an error",
                mend: "send only one of them (RFC 6749 §4.1.2)")
        case .malformed(.parameters):
            fault(
                "parameter-twice", "the response contains a parameter twice",
                mend: "send each parameter once (RFC 6749 §3.1)")
        case .foreignServer:
            fault(
                "foreign-exchange-server", "\(refusal)",
                mend: "do not use this server: another server would receive the code")
        case .malformed, .wrongRedirectURI:
            fault("answer-malformed", "\(refusal)", mend: "send a response as in RFC 6749 §4.1.2")
        }
    }

    /// Records a fault if the parameter `accounts-server` of the callback names another server for the code exchange.
    ///
    /// Zoho uses this parameter. At other servers, an attacker could add it to obtain the code.
    private mutating func exchangeServer(
        named callback: AuthorizationCallback, _ server: AuthorizationServerConfiguration
    ) {
        guard server.behavior.callbackServer == nil else { return }
        let named = callback.parameters.all("accounts-server").filter { !$0.isEmpty }
        guard let origin = named.first, origin != server.tokenEndpoint.origin else { return }
        fault(
            "foreign-exchange-server",
            "the response names another server for the code: \(String(origin.prefix(200)).strippingControlCharacters)",
            mend:
                "use --vendor zoho if this is Zoho; such a server is used only if the profile of the vendor lists it"
        )
    }

    /// Checks that the server does not redirect to an unregistered redirect URI (RFC 6749 §3.1.2.4).
    private mutating func unregisteredRedirect(
        _ client: ClientIdentifier, _ server: AuthorizationServerConfiguration
    ) async {
        let stranger = "https://counterfoil.invalid/\(UUID().uuidString.lowercased())"
        guard let uri = try? RedirectURI(stranger) else { return }
        guard let response = await plainRequest(client, uri, server, changing: { _ in }) else { return }
        guard response.head.headerFields[.location]?.hasPrefix(stranger) == true else {
            return sound(
                "redirect-exact", "the authorization endpoint does not redirect to an unregistered redirect URI")
        }
        fault(
            "redirect-anywhere", "the authorization endpoint redirects to an unregistered redirect URI",
            mend: "compare redirect URIs with the registered ones as strings (RFC 9700 §2.1)")
    }

    /// Checks that the server issues no code for a request without a code challenge (RFC 9700 §2.1.1).
    ///
    /// An attacker who obtained such a code could redeem it.
    private mutating func withoutPKCE(
        _ client: ClientIdentifier, _ redirectURI: RedirectURI, _ server: AuthorizationServerConfiguration
    ) async {
        guard !server.requiresPushedRequests else { return }
        let response = await plainRequest(client, redirectURI, server) { form in
            form = FormParameters(form.pairs.filter { !$0.name.hasPrefix("code_challenge") })
        }
        guard let response,
            case .callback(let callback) = AuthorizationPage(response, redirectURI: redirectURI),
            !callback.parameters.all("code").isEmpty
        else { return }
        advise(
            "pkce-not-required", "the server issues codes for requests without PKCE",
            mend: "require PKCE of native applications (RFC 9700 §2.1.1)")
    }

    private mutating func plainRequest(
        _ client: ClientIdentifier, _ redirectURI: RedirectURI, _ server: AuthorizationServerConfiguration,
        changing change: (inout FormParameters) -> Void
    ) async -> TransportResponse? {
        let attempt = attempt(client, redirectURI, server, silently: !has("silent-fails"))
        let base = server.authorizationEndpoint.rawValue
        let query = attempt.authorizationURL.dropFirst(base.count + 1)
        guard var form = try? FormParameters(parsing: String(query)) else { return nil }
        change(&form)
        guard let endpoint = try? EndpointURL(base + (base.contains("?") ? "&" : "?") + form.encoded) else {
            return nil
        }
        return await ask(endpoint, headerFields: [.accept: "text/html"], as: "authorization endpoint")
    }
}
