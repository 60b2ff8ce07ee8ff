import CounterfoilProtocol

/// The checks that a callback must pass to be the response to one request.
///
/// A redirect receiver uses an expectation while it waits, so that an unrelated callback does not end the wait. The
/// sign-in applies the same checks again before it uses the response.
public struct CallbackExpectation: Sendable {
    let redirectURI: RedirectURI
    let state: OAuthState
    let question: Question

    /// The kind of request to which the callback is the response.
    enum Question: Sendable {
        /// An authorization request (RFC 6749 §4.1.2).
        case authorization(Authorization)
        /// A logout request (OpenID Connect RP-Initiated Logout §3).
        case endOfSession
    }

    /// The rules for the response to an authorization request, which depend on the server.
    struct Authorization: Sendable {
        let issuer: Issuer
        let issuerIsRequired: Bool
        let callbackServer: ServerBehavior.CallbackServer?
    }

    /// Returns true if a callback contains the `state` of the request, so that the receiver stops waiting.
    ///
    /// A sender that does not know the state cannot end the wait. A callback with the right state can still be
    /// invalid or contain an error; the sign-in validates it.
    public func isAnswered(by callback: AuthorizationCallback) -> Bool {
        if case .answer = verdict(on: callback) { true } else { false }
    }

    enum Verdict: Sendable, Hashable {
        /// The callback is unrelated, because it does not contain the state of the request; the wait continues.
        case unrelated(AuthorizationCallback.Refusal)
        /// The callback contains the state of the request; the wait ends.
        ///
        /// It is the response, or a forgery by a sender that knows the state.
        case answer(Answer)
    }

    /// A response that ends the wait.
    enum Answer: Sendable, Hashable {
        /// The user allowed the request.
        case code(AuthorizationCode)
        /// The server redirected back after a logout request.
        case signedOut
        /// The user or the server refused the request.
        case refused(OAuthError)
        /// The response failed a check and cannot be trusted.
        case unsafe(AuthorizationCallback.Refusal)
    }

    /// Checks a callback: first `state`, compared in constant time (RFC 6749 §10.12), then everything else.
    func verdict(on callback: AuthorizationCallback) -> Verdict {
        guard let state = (try? callback.parameters.single("state")).flatMap({ $0 }).flatMap(OAuthState.init),
            state == self.state
        else { return .unrelated(.wrongState) }
        guard callback.redirectURI.rawValue.utf8.elementsEqual(redirectURI.rawValue.utf8) else {
            return .answer(.unsafe(.wrongRedirectURI))
        }
        switch question {
        case .endOfSession: return .answer(.signedOut)
        case .authorization(let request): return .answer(request.answer(in: callback))
        }
    }
}

extension CallbackExpectation.Authorization {
    /// Checks a callback that has the expected state.
    fileprivate func answer(in callback: AuthorizationCallback) -> CallbackExpectation.Answer {
        let response: AuthorizationResponse
        do { response = try AuthorizationResponse(parsing: callback.parameters) } catch {
            return .unsafe(.malformed(error))
        }
        // RFC 9207 §2.4: compare `iss` as a string. If it names another issuer, the client uses neither a code nor an
        // error from the response. An empty `iss` is present and does not match, although the parser omits it.
        guard !callback.parameters.pairs.contains(where: { $0.name == "iss" && $0.value.isEmpty }) else {
            return .unsafe(.wrongIssuer)
        }
        switch response.issuer {
        case let issuer?:
            guard issuer.utf8.elementsEqual(self.issuer.rawValue.utf8) else { return .unsafe(.wrongIssuer) }
        case nil:
            guard !issuerIsRequired else { return .unsafe(.missingIssuer) }
        }
        if let callbackServer, !callbackServer.isKnown(in: callback) { return .unsafe(.foreignServer) }
        switch response.outcome {
        case .code(let code): return .code(code)
        case .error(let error): return .refused(error)
        }
    }
}
