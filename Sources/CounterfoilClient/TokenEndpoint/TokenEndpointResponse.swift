@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The content of a token endpoint response, parsed from the body without regard to the HTTP status.
///
/// The format is that of RFC 6749 §5.1 and §5.2, with the deviations that `ServerBehavior` describes. Parsing fails if
/// there is no valid access token or if a member name occurs twice, except in the response to a refresh, whose refresh
/// token replaces the former one (RFC 6749 §6). An optional member with an invalid value counts as absent, so that one
/// odd value costs neither the access token nor a new refresh token.
enum TokenEndpointResponse: Sendable, Hashable {
    /// Tokens, and the members that the client stores with them (`ServerBehavior.TokenResponseShape.details`).
    ///
    /// `ignored` are the names of the optional members that count as absent because their values are not valid. The
    /// token type is empty if the response has none.
    case tokens(TokenResponse, details: [String: String], ignored: [String])
    /// The response to a refresh with an `access_token` that the client must not use.
    ///
    /// The refresh token in it, if there is one, replaces the one that was sent (RFC 6749 §6).
    case unusable(refreshToken: RefreshToken?, TokenResponseRefusal)
    /// An error, with the vendor's own error code translated to the standard one.
    case refusal(OAuthError)
    /// An error with which the server throttles the client.
    ///
    /// The client waits for `seconds` if the response has no `Retry-After` header field.
    case throttled(OAuthError, seconds: Int)
    /// An error that refers the client to another server of the vendor, where the user's account is.
    case otherServer(OAuthError, origin: String)

    /// Parses a body; nil if it contains neither valid tokens nor an error.
    init?(parsing body: [UInt8], of behavior: ServerBehavior, isRefresh: Bool) {
        let members: [String: JSONValue]
        var hasDuplicates = false
        if let strict = try? JSONReader.object(body, acceptingHugeNumbers: true) {
            members = strict
        } else if isRefresh, let lenient = try? JSONReader.lenientObject(body) {
            (members, hasDuplicates) = lenient
        } else {
            return nil
        }
        let isRefused = behavior.tokenResponse.successMember.map { members[$0] == .boolean(false) } ?? false
        if !hasDuplicates, let refusal = Self.refusal(in: members, by: behavior.errors, isRefresh: isRefresh) {
            self = refusal
        } else if !isRefused, let issued = Self.tokenMembers(in: members, shape: behavior.tokenResponse) {
            if !hasDuplicates, let tokens = Self.tokens(in: issued, of: members, shape: behavior.tokenResponse) {
                self = tokens
            } else {
                let refreshToken = issued["refresh_token"].flatMap(\.text).flatMap(RefreshToken.init)
                guard isRefresh, refreshToken != nil || issued["access_token"] != nil else { return nil }
                self = .unusable(
                    refreshToken: refreshToken, hasDuplicates ? .duplicateMembers : .unusableAccessToken)
            }
        } else {
            return nil
        }
    }

    /// Parses an error; nil if the member `error` is missing, empty or not a string.
    ///
    /// Some APIs send an object in `error`, which is not an OAuth error.
    private static func refusal(
        in members: [String: JSONValue], by errors: ServerBehavior.ErrorShape, isRefresh: Bool
    ) -> TokenEndpointResponse? {
        guard case .string(let word) = members["error"], !word.isEmpty else { return nil }
        let description = members["error_description"].flatMap(\.text).flatMap(shortened)
        if errors.transient.contains(word) {
            return .throttled(OAuthError(.temporarilyUnavailable, description ?? word), seconds: errors.pause)
        }
        if let other = errors.otherServer, word == other.word, let place = members[other.member].flatMap(\.text),
            let origin = other.origins[place]
        {
            return .otherServer(OAuthError(.invalidGrant, description ?? word), origin: origin)
        }
        let meaning = (isRefresh ? errors.meaningsOfRefresh[word] : nil) ?? errors.meanings[word]
        let code = OAuthError.Code(rawValue: meaning ?? String(word.prefix(256)))
        return .refusal(OAuthError(code, description ?? (meaning == nil ? nil : word)))
    }

    /// Cuts a long description at a blank, because the beginning of a token would not be recognized as a secret.
    private static func shortened(_ description: String) -> String? {
        let limit = 1024
        guard description.count > limit else { return description }
        let beginning = description.prefix(limit)
        return beginning.lastIndex(of: " ").map { String(beginning[..<$0]) }
    }

    /// Returns the members of the object that contains the tokens; nil if there is no such object.
    private static func tokenMembers(
        in root: [String: JSONValue], shape: ServerBehavior.TokenResponseShape
    ) -> [String: JSONValue]? {
        var members = root
        for name in shape.path {
            guard case .object(let inner) = members[name] else { return nil }
            members = inner
        }
        return members
    }

    private static func tokens(
        in members: [String: JSONValue], of root: [String: JSONValue], shape: ServerBehavior.TokenResponseShape
    ) -> TokenEndpointResponse? {
        guard let accessToken = members["access_token"].flatMap(\.text).flatMap(AccessToken.init) else { return nil }
        var ignored: [String] = []
        func optional<Value>(_ name: String, _ parse: (JSONValue) -> Value?) -> Value? {
            guard let given = members.given(name) else { return nil }
            let value = parse(given)
            if value == nil { ignored.append(name) }
            return value
        }
        let lifetime = lifetimeMember(in: members, shape: shape)
        let response = TokenResponse(
            accessToken: accessToken,
            tokenType: (members["token_type"] ?? root["token_type"]).flatMap(\.text) ?? "",
            expiresIn: optional(lifetime.name) { $0.seconds(in: 0...315_360_000, dividedBy: lifetime.divisor) },
            refreshToken: optional("refresh_token") { $0.text.flatMap(RefreshToken.init) },
            scope: optional("scope") { scope($0, separator: shape.scopeSeparator) },
            idToken: optional("id_token") { $0.text.flatMap(IDToken.init) })
        let details = Dictionary(
            uniqueKeysWithValues: Set(shape.details).compactMap { name in
                (members[name] ?? root[name]).flatMap(\.detail).map { (name, String($0.prefix(2048))) }
            })
        return .tokens(response, details: details, ignored: ignored)
    }

    /// Returns the member with the lifetime, and the number of its units in a second.
    private static func lifetimeMember(
        in members: [String: JSONValue], shape: ServerBehavior.TokenResponseShape
    ) -> (name: String, divisor: Double) {
        if let name = shape.secondsMember, members.given(name) != nil { return (name, 1) }
        return ("expires_in", shape.expiresInMilliseconds ? 1000 : 1)
    }

    /// Parses a scope; some servers send a list of its values instead of a string.
    private static func scope(_ value: JSONValue, separator: String) -> Scope? {
        switch value {
        case .string(let text):
            return try? Scope(
                lenient: separator == " " ? text : text.split(separator: separator).joined(separator: " "))
        case .array(let values):
            let words = values.compactMap(\.text)
            guard words.count == values.count else { return nil }
            return try? Scope(lenient: words.joined(separator: " "))
        default: return nil
        }
    }
}

extension [String: JSONValue] {
    /// Returns the value of a member; nil if it is absent, null or an empty string, which all count as missing.
    fileprivate func given(_ name: String) -> JSONValue? {
        guard let value = self[name], value != .null, value != .string("") else { return nil }
        return value
    }
}

extension JSONValue {
    /// The value as a detail of the credentials: the text, or a whole number or truth value as in JSON; nil otherwise.
    fileprivate var detail: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .boolean(let value): String(value)
        case .object, .array, .number, .null: nil
        }
    }

    /// Returns the value as a number of seconds, by default rounded down; nil if it is no number or out of the range.
    ///
    /// A string that consists of a decimal number, such as `"3600"` or `"3599.5"`, counts as that number. A string with
    /// a unit or in words does not.
    func seconds(
        in range: ClosedRange<Int>, dividedBy divisor: Double = 1, rounded rule: FloatingPointRoundingRule = .down
    ) -> Int? {
        let number: Double
        switch self {
        case .integer(let integer): number = Double(integer)
        case .number(let fraction): number = fraction
        case .string(let text):
            let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            guard isDecimal, text.utf8.count <= 20, let parsed = Double(text) else { return nil }
            number = parsed
        case .object, .array, .boolean, .null: return nil
        }
        let seconds = (number / divisor).rounded(rule)
        guard seconds >= Double(range.lowerBound), seconds <= Double(range.upperBound) else { return nil }
        return Int(seconds)
    }
}
