import CounterfoilProtocol

/// The checks that a callback must pass to answer one request.
///
/// A receiver holds an expectation while it waits, so that an unrelated callback does not end the wait.
/// The attempt applies the same checks before it returns a code.
public struct CallbackExpectation: Sendable {
    let redirectURI: RedirectURI
    let state: State
    let question: Question

    /// The kind of request that the callback answers.
    enum Question: Sendable {
        /// An authorization request (RFC 6749 §4.1.2).
        case authorization(Authorization)
        /// A logout request (OpenID Connect RP-Initiated Logout §3).
        case endOfSession
    }

    /// The server that answers an authorization request, and its rules for the response.
    struct Authorization: Sendable {
        let issuer: Issuer
        let issuerIsRequired: Bool
        let callbackServer: ServerBehavior.CallbackServer?
    }

    /// Returns whether a callback ends the wait, which only a sender that knows the state can cause.
    ///
    /// Such a callback can still be invalid or an error; the sign-in validates it.
    public func isAnswered(by callback: AuthorizationCallback) -> Bool {
        if case .answer = verdict(on: callback) { true } else { false }
    }

    /// The result of checking a callback.
    enum Verdict: Sendable, Hashable {
        /// An unrelated callback: its sender does not know the state, and the wait continues.
        case unrelated(AuthorizationCallback.Refusal)
        /// The response to this request, or a forgery by a sender that knows the state; the wait ends.
        case answer(Answer)
    }

    /// A response that ends the wait.
    enum Answer: Sendable, Hashable {
        /// The user allowed the request.
        case code(AuthorizationCode)
        /// The session at the server has ended.
        case signedOut
        /// The user or the server refused the request.
        case refused(OAuthError)
        /// The response failed a check and cannot be trusted.
        case unsafe(AuthorizationCallback.Refusal)
    }

    /// Checks a callback: `state` first and in constant time (RFC 6749 §10.12), then everything else.
    func verdict(on callback: AuthorizationCallback) -> Verdict {
        guard let state = (try? callback.parameters.single("state")).flatMap({ $0 }).flatMap(State.init),
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
        // RFC 9207 §2.4: compare as strings. The response of another server is neither a code nor an
        // error of this one.
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
