import CounterfoilProtocol
import CounterfoilTokens

/// What the body of a token endpoint's answer says, whatever its status.
///
/// RFC 6749 §5.1 and §5.2, read by the shape that the server has. Every number is bounded, and two members of one name make
/// the answer unreadable.
enum TokenAnswer: Sendable, Hashable {
    /// Tokens, and what the application keeps besides.
    case tokens(TokenResponse, details: [String: String])
    /// A refusal in the standard's words.
    case refusal(OAuthError)
    /// A refusal that will pass, after this many seconds.
    case later(OAuthError, seconds: Int)
    /// A refusal because the person's account is at another server of the vendor.
    case elsewhere(OAuthError, origin: String)

    /// Reads a body; nil when it is neither tokens nor a refusal.
    init?(parsing body: [UInt8], of behavior: ServerBehavior, isRefresh: Bool) {
        guard let answer = try? JSONReader.object(body) else { return nil }
        let isRefused = behavior.tokenResponse.successMember.map { answer[$0] == .boolean(false) } ?? false
        if let refusal = Self.refusal(in: answer, by: behavior.errors, isRefresh: isRefresh) {
            self = refusal
        } else if !isRefused, let (tokens, details) = Self.tokens(in: answer, shape: behavior.tokenResponse) {
            self = .tokens(tokens, details: details)
        } else {
            return nil
        }
    }

    /// Some APIs nest an object under `error`; that is not a refusal in the standard's words.
    private static func refusal(
        in answer: [String: JSONValue], by errors: ServerBehavior.ErrorShape, isRefresh: Bool
    ) -> TokenAnswer? {
        guard case .string(let word) = answer["error"], !word.isEmpty else { return nil }
        let description = answer["error_description"].flatMap(\.text).map { String($0.prefix(1024)) }
        if errors.transient.contains(word) {
            return .later(OAuthError(.temporarilyUnavailable, description ?? word), seconds: errors.pause)
        }
        if let other = errors.otherServer, word == other.word, let place = answer[other.member].flatMap(\.text),
            let origin = other.origins[place]
        {
            return .elsewhere(OAuthError(.invalidGrant, description ?? word), origin: origin)
        }
        let meaning = (isRefresh ? errors.meaningsOfRefresh[word] : nil) ?? errors.meanings[word]
        let code = OAuthError.Code(rawValue: meaning ?? String(word.prefix(256)))
        return .refusal(OAuthError(code, description ?? (meaning == nil ? nil : word)))
    }

    private static func tokens(
        in answer: [String: JSONValue], shape: ServerBehavior.TokenResponseShape
    ) -> (TokenResponse, [String: String])? {
        var members = answer
        for name in shape.path {
            guard case .object(let inner) = members[name] else { return nil }
            members = inner
        }
        guard let accessToken = members["access_token"].flatMap(\.text).flatMap(AccessToken.init),
            let tokenType = (members["token_type"] ?? answer["token_type"]).flatMap(\.text)
        else { return nil }
        // What is there must be sound: a token that cannot be read is not taken for none.
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
                (members[name] ?? answer[name]).flatMap(\.text).map { (name, String($0.prefix(2048))) }
            })
        let response = TokenResponse(
            accessToken: accessToken, tokenType: tokenType, expiresIn: expiresIn, refreshToken: refreshToken,
            scope: scope,
            idToken: idToken)
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
    /// The value of a member; nil when it is absent, null or an empty text, which all mean the same.
    fileprivate func given(_ name: String) -> JSONValue? {
        guard let value = self[name], value != .null, value != .string("") else { return nil }
        return value
    }
}

extension JSONValue {
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }

    /// A whole number, also one that is written as a text or with a zero fraction.
    fileprivate var wholeNumber: Int? {
        switch self {
        case .integer(let number): Int(exactly: number)
        case .number(let number): Int(exactly: number)
        case .string(let text): text.utf8.count <= 20 ? Int(text) : nil
        default: nil
        }
    }
}
