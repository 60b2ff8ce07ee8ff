import CounterfoilClient
import CounterfoilProtocol
import Foundation
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
        var options = NativeSignIn.Options()
        options.prompt = [.none]
        var attempt = AuthorizationAttempt(
            at: server, clientID: client, redirectURI: redirectURI, scope: subject.scope, options: options)
        if server.pushedAuthorizationRequestEndpoint != nil {
            do throws(SignInError) { try await attempt.push(through: transport) } catch {
                return fault(
                    "par-refused", "the pushed authorization request failed: \(error)",
                    mend:
                        "check the client ID and the redirect URI; allow pushed authorization requests of public clients"
                        + " (RFC 9126 §2)", status: Failure(error).status)
            }
        }
        guard let endpoint = try? EndpointURL(attempt.authorizationURL),
            let response = await ask(endpoint, headerFields: [.accept: "text/html"], as: "authorization endpoint")
        else { return }
        switch Self.callback(in: response, at: redirectURI) {
        case .page: return page(response, redirectURI)
        case .elsewhere: sound("authorization", "the authorization endpoint redirects to another page")
        case .answer(let callback):
            exchangeServer(named: callback, server)
            do throws(SignInError) {
                _ = try attempt.complete(with: callback)
                sound("authorization", "the authorization endpoint responds correctly without a page")
            } catch { judge(error) }
        }
        await unregisteredRedirect(client, server)
        await withoutPKCE(client, redirectURI, server)
    }

    private enum Answer {
        case page
        case elsewhere
        case answer(AuthorizationCallback)
    }

    /// Determines whether a response is a page, a redirect to the redirect URI, or a redirect to another URL.
    private static func callback(in response: TransportResponse, at redirectURI: RedirectURI) -> Answer {
        guard (300..<400).contains(response.statusCode), let location = response.head.headerFields[.location] else {
            return .page
        }
        let halves = location.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0] == redirectURI.rawValue.prefix(while: { $0 != "?" }),
            let parameters = try? FormParameters(parsing: String(halves[1]))
        else { return .elsewhere }
        return .answer(AuthorizationCallback(at: redirectURI, parameters: parameters))
    }

    /// Determines the redirect URI, and checks that this device can listen at it; returns nil if it cannot be used.
    private mutating func redirect() async -> RedirectURI? {
        let text = subject.redirectURI ?? subject.vendor?.profile.redirect.loopback ?? "\(LoopbackRedirectURI.standard)"
        let uri: RedirectURI
        do { uri = try RedirectURI(text) } catch {
            fault(
                "redirect-unusable", "the redirect URI cannot be used: \(error)", mend: "register another redirect URI",
                status: .usage)
            return nil
        }
        guard case .loopback = uri.kind else {
            do { _ = try RedirectOption.registered(text) } catch {
                fault("redirect-unusable", "\(error)", mend: "register another redirect URI", status: .usage)
                return nil
            }
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
        guard let response, case .answer(let callback) = Self.callback(in: response, at: redirectURI),
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
        var options = NativeSignIn.Options()
        options.prompt = [.none]
        let attempt = AuthorizationAttempt(
            at: server, clientID: client, redirectURI: redirectURI, scope: subject.scope, options: options)
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
