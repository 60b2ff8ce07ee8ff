import CounterfoilProtocol
import CounterfoilTokens

/// The content of a token endpoint response, parsed from the body without regard to the HTTP status.
///
/// The format is that of RFC 6749 §5.1 and §5.2, with the deviations that `ServerBehavior` describes. Parsing fails if
/// a number is out of bounds or if a member name occurs twice.
enum TokenEndpointResponse: Sendable, Hashable {
    /// Tokens, and the members that the client stores with them (`ServerBehavior.TokenResponseShape.details`).
    case tokens(TokenResponse, details: [String: String])
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
        guard let members = try? JSONReader.object(body) else { return nil }
        let isRefused = behavior.tokenResponse.successMember.map { members[$0] == .boolean(false) } ?? false
        if let refusal = Self.refusal(in: members, by: behavior.errors, isRefresh: isRefresh) {
            self = refusal
        } else if !isRefused, let (tokens, details) = Self.tokens(in: members, shape: behavior.tokenResponse) {
            self = .tokens(tokens, details: details)
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
        let description = members["error_description"].flatMap(\.text).map { String($0.prefix(1024)) }
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

    private static func tokens(
        in root: [String: JSONValue], shape: ServerBehavior.TokenResponseShape
    ) -> (TokenResponse, [String: String])? {
        var members = root
        for name in shape.path {
            guard case .object(let inner) = members[name] else { return nil }
            members = inner
        }
        guard let accessToken = members["access_token"].flatMap(\.text).flatMap(AccessToken.init),
            let tokenType = (members["token_type"] ?? root["token_type"]).flatMap(\.text)
        else { return nil }
        // An optional member that is present must be valid. For example, a malformed refresh token makes the whole
        // response invalid; it does not count as a missing one.
        var expiresIn: Int?
        var refreshToken: RefreshToken?
        var scope: Scope?
        var idToken: IDToken?
        if let (value, milliseconds) = lifetime(in: members, shape: shape) {
            guard let number = value.wholeNumber else { return nil }
            let seconds = milliseconds ? number / 1000 : number
            guard (0...315_360_000).contains(seconds) else { return nil }
            expiresIn = seconds
        }
        if let text = members.given("refresh_token") {
            guard let token = text.text.flatMap(RefreshToken.init) else { return nil }
            refreshToken = token
        }
        if let text = members.given("scope") {
            guard let words = text.text else { return nil }
            let spaced =
                shape.scopeSeparator == " "
                ? words : words.split(separator: shape.scopeSeparator).joined(separator: " ")
            guard let value = try? Scope(lenient: spaced) else { return nil }
            scope = value
        }
        if let text = members.given("id_token") {
            guard let token = text.text.flatMap(IDToken.init) else { return nil }
            idToken = token
        }
        let details = Dictionary(
            uniqueKeysWithValues: Set(shape.details).compactMap { name in
                (members[name] ?? root[name]).flatMap(\.text).map { (name, String($0.prefix(2048))) }
            })
        let response = TokenResponse(
            accessToken: accessToken, tokenType: tokenType, expiresIn: expiresIn, refreshToken: refreshToken,
            scope: scope, idToken: idToken)
        return (response, details)
    }

    private static func lifetime(
        in members: [String: JSONValue], shape: ServerBehavior.TokenResponseShape
    ) -> (JSONValue, milliseconds: Bool)? {
        if let name = shape.secondsMember, let value = members.given(name) { return (value, false) }
        return members.given("expires_in").map { ($0, shape.expiresInMilliseconds) }
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
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The value as a whole number; nil if it is not a whole number.
    ///
    /// A string of digits and a number such as `3600.0` also count as whole numbers.
    fileprivate var wholeNumber: Int? {
        switch self {
        case .integer(let number): Int(exactly: number)
        case .number(let number): Int(exactly: number)
        case .string(let text): text.utf8.count <= 20 ? Int(text) : nil
        default: nil
        }
    }
}
