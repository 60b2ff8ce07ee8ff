import CounterfoilProtocol

/// A `WWW-Authenticate` field of an API (RFC 9110 §11.6.1).
enum ChallengeTarget {
    static func examine(_ bytes: [UInt8]) {
        let field = String(decoding: bytes, as: UTF8.self)
        let challenges = AuthenticationChallenge.list(in: field)
        require(AuthenticationChallenge.list(in: field) == challenges, "the same field reads differently")
        require(challenges.count <= AuthenticationChallenge.challengeLimit, "\(challenges.count) challenges")
        require(field.utf8.count <= AuthenticationChallenge.byteLimit || challenges.isEmpty, "a field too long is read")
        for challenge in challenges {
            require(
                !challenge.scheme.isEmpty && challenge.scheme.lowercased() == challenge.scheme, "a scheme's letters")
            require(challenge.token68 == nil || challenge.parameters.isEmpty, "a token and parameters at once")
            require(challenge.parameters.count <= AuthenticationChallenge.parameterLimit, "too many parameters")
            require(challenge.parameters.keys.allSatisfy { challenge[$0.uppercased()] != nil }, "a name's letters")
        }
        // Within the limits, parsing the written field gives the same challenges.
        let written = challenges.map(written).joined(separator: ", ")
        if written.utf8.count <= AuthenticationChallenge.byteLimit {
            require(AuthenticationChallenge.list(in: written) == challenges, "not the same once written: \(written)")
        }
        examineWriter(of: field)
    }

    /// Writes a challenge; a quoted string can contain any text (RFC 9110 §5.6.4).
    private static func written(_ challenge: AuthenticationChallenge) -> String {
        if let token = challenge.token68 { return "\(challenge.scheme) \(token)" }
        let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { name, value in
            let quoted = value.unicodeScalars.reduce(into: "") { text, scalar in
                if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
                text.unicodeScalars.append(scalar)
            }
            return "\(name)=\"\(quoted)\""
        }
        return parameters.isEmpty ? challenge.scheme : "\(challenge.scheme) \(parameters.joined(separator: ", "))"
    }

    /// Checks that the middleware for APIs writes exactly one challenge, whatever text it contains.
    private static func examineWriter(of text: String) {
        let challenge = BearerChallenge(
            realm: text, resourceMetadata: text, error: OAuthError(.init(rawValue: "invalid_token"), text))
        let field = challenge.description
        require(isSafeToShow(field), "a challenge with control characters is written")
        guard field.utf8.count <= AuthenticationChallenge.byteLimit else { return }
        let read = AuthenticationChallenge.list(in: field)
        require(read.count == 1 && read.first?.scheme == "bearer", "our own challenge reads as \(read.count): \(field)")
        require(read.first?["error"] == "invalid_token", "the error of our own challenge is lost: \(field)")
    }
}
