import CounterfoilProtocol

@testable import CounterfoilClient

/// The query of an authorization response, and the URL that carries it (RFC 6749 §4.1.2, RFC 9207 §2).
enum CallbackTarget {
    static func examine(_ bytes: [UInt8]) {
        if let state = OAuthState("Tm90aGluZyBidXQgYSBzdGF0ZQ"),
            let redirectURI = try? RedirectURI("http://127.0.0.1:4711/callback"),
            let issuer = try? Issuer("https://id.example.com")
        {
            let expectation = CallbackExpectation(
                redirectURI: redirectURI, state: state,
                question: .authorization(.init(issuer: issuer, issuerIsRequired: true, callbackServer: nil)))
            examineQuery(bytes, expectation, issuer)
            examineAddress(String(decoding: bytes, as: UTF8.self), redirectURI)
        }
    }

    private static func examineQuery(_ bytes: [UInt8], _ expectation: CallbackExpectation, _ issuer: Issuer) {
        guard let parameters = try? FormParameters(parsing: bytes) else { return }
        require(bytes.count <= FormParameters.defaultByteLimit, "a query too long is read")
        require(parameters.pairs.count <= FormParameters.pairLimit, "\(parameters.pairs.count) parameters")
        let written = parameters.encoded
        require(written.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a query is written with \(written)")
        require((try? FormParameters(parsing: written, byteLimit: .max)) == parameters, "not the same once written")

        let callback = AuthorizationCallback(at: expectation.redirectURI, parameters: parameters)
        let verdict = expectation.verdict(on: callback)
        require(expectation.verdict(on: callback) == verdict, "the same answer is judged differently")
        require(
            expectation.isAnswered(by: callback) == parameters.isOnly("state", expectation.state.exposed),
            "the state does not decide")
        if case .answer(let answer) = verdict { examine(answer, of: parameters, issuer) }

        // Values that are only for the log may differ.
        guard let response = try? AuthorizationResponse(parsing: parameters) else { return }
        let again = (try? AuthorizationResponse(parsing: response.parameters))?.parameters
        require(again == response.parameters, "an answer is not the same once written")
    }

    private static func examine(
        _ answer: CallbackExpectation.Answer, of parameters: FormParameters, _ issuer: Issuer
    ) {
        switch answer {
        case .code(let code):
            require(parameters.isOnly("code", code.exposed), "a code that is not the one that came")
            require(parameters.isOnly("iss", issuer.rawValue), "a code of another server")
            require(parameters.all("error").isEmpty, "a code beside an error")
        case .signedOut:
            require(false, "the end of a session in response to an authorization request")
        case .refused(let error):
            require(isSafeToShow(SignInError(error).description), "a refusal that cannot be shown")
            require(parameters.isOnly("iss", issuer.rawValue), "a refusal by another server")
        case .unsafe(let refusal):
            require(isSafeToShow(refusal.description), "a reason that cannot be shown")
        }
    }

    private static func examineAddress(_ text: String, _ redirectURI: RedirectURI) {
        if let returned = try? CallbackURL(text) {
            require(text.utf8.count <= CallbackURL.byteLimit, "an address too long is read")
            if let callback = try? returned.callback(at: redirectURI) {
                require(callback.redirectURI == redirectURI, "an answer at another address")
                require(text.lowercased().hasPrefix("http://127.0.0.1:4711/callback"), "another address is taken")
            }
        }
        guard let parameters = try? FormParameters(parsing: text) else { return }
        let address = redirectURI.appending(parameters)
        guard address.utf8.count <= CallbackURL.byteLimit else { return }
        let callback = try? CallbackURL(address).callback(at: redirectURI)
        require(callback?.parameters == parameters, "an answer is not the same once it is an address")
    }
}

extension FormParameters {
    /// Checks whether a parameter is present exactly once and has this value.
    fileprivate func isOnly(_ name: String, _ value: String) -> Bool {
        let values = pairs.filter { $0.name == name }.map(\.value)
        return values.count == 1 && Array(values[0].utf8) == Array(value.utf8)
    }
}
