import CounterfoilProtocol

/// What the answer to one authorization attempt must be; the rules that a callback has to pass, in their order.
///
/// A receiver holds one while it waits, so that an answer to something else does not end the wait; the attempt itself judges
/// by the same rules before it gives anything out.
public struct CallbackExpectation: Sendable {
    let redirectURI: RedirectURI
    let state: State
    let question: Question

    /// What is to be answered.
    enum Question: Sendable {
        /// An authorization request (RFC 6749 §4.1.2).
        case authorization(Authorization)
        /// The end of a session (OpenID Connect RP-Initiated Logout §3).
        case endOfSession
    }

    /// Who answers an authorization request.
    struct Authorization: Sendable {
        let issuer: Issuer
        let issuerIsRequired: Bool
        let callbackServer: ServerBehavior.CallbackServer?
    }

    /// Whether a callback ends the wait: only somebody who knows the state of the attempt could have sent it.
    ///
    /// That makes it neither sound nor a success; ``AuthorizationAttempt/complete(with:)`` judges that.
    public func isAnswered(by callback: AuthorizationCallback) -> Bool {
        if case .answer = verdict(on: callback) { true } else { false }
    }

    /// What a callback is.
    enum Verdict: Sendable, Hashable {
        /// Not the answer to this attempt: whoever sent it does not know the state. The wait goes on.
        case stranger(AuthorizationCallback.Refusal)
        /// The answer to this attempt, or an attempt to forge it by somebody who knows the state. The wait is over.
        case answer(Answer)
    }

    /// An answer that ends the wait.
    enum Answer: Sendable, Hashable {
        /// The person allowed it.
        case code(AuthorizationCode)
        /// The session has ended.
        case signedOut
        /// The person or the server refused.
        case refused(OAuthError)
        /// It cannot be trusted.
        case unsafe(AuthorizationCallback.Refusal)
    }

    /// Judges a callback; `state` before anything else, in constant time (RFC 6749 §10.12).
    func verdict(on callback: AuthorizationCallback) -> Verdict {
        guard let state = (try? callback.parameters.single("state")).flatMap({ $0 }).flatMap(State.init),
            state == self.state
        else { return .stranger(.wrongState) }
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
    /// Judges a callback that has the right state.
    fileprivate func answer(in callback: AuthorizationCallback) -> CallbackExpectation.Answer {
        let response: AuthorizationResponse
        do { response = try AuthorizationResponse(parsing: callback.parameters) } catch {
            return .unsafe(.malformed(error))
        }
        // RFC 9207 §2.4: compared as a string; an answer of another server is neither a code nor an error of this one.
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
