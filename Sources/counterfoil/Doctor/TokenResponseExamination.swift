import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The check of successful responses of the token endpoint (RFC 6749 §5.1).
extension Examination {
    /// Checks the lifetime, the token type, the scope and the presence of a refresh token in a token response.
    mutating func tokens(in response: TransportResponse, asked scope: Scope) {
        guard var members = Self.members(response) else {
            return fault(
                "token-answer-unreadable", "the token response is not a JSON object without duplicate members",
                mend: "send a response as in RFC 6749 §5.1")
        }
        guard (200..<300).contains(response.statusCode) else { return }
        if members["access_token"] == nil {
            let inner = members.first { _, value in
                if case .object(let inner) = value { inner["access_token"] != nil } else { false }
            }
            guard let inner, case .object(let nested) = inner.value else { return }
            advise(
                "tokens-nested",
                "the tokens are nested under \(String(inner.key.prefix(60)).strippingControlCharacters) in the response",
                mend: "use --vendor if it supports this server")
            members = nested
        }
        lifetime(members)
        texts(members)
        type(members)
        self.scope(members, scope)
        if members["refresh_token"] == nil {
            advise(
                "refresh-token-none",
                "the server issued no refresh token: users must sign in again when the access token expires",
                mend: scope.contains(.offlineAccess)
                    ? "allow refresh tokens for the client; some servers issue none to clients without a secret"
                    : "request offline_access, or allow refresh tokens for the client")
        }
    }

    /// Checks the optional members of the response to a refresh, as far as they differ from those of the sign-in.
    mutating func refreshedTokens(in response: TransportResponse) {
        guard let members = Self.members(response), members["access_token"] != nil else { return }
        texts(members)
        if case .integer(0...)? = members["expires_in"] { return }
        if has("expires-in") { lifetime(members) }
    }

    /// Checks the optional members that are strings.
    private mutating func texts(_ members: [String: JSONValue]) {
        for name in ["refresh_token", "scope", "id_token"] {
            switch members[name] {
            case nil, .null, .string: continue
            case .array where name == "scope":
                guard !has("scope-list") else { continue }
                advise(
                    "scope-list", "the scope in the response is a list and not a string",
                    mend: "separate its values by spaces (RFC 6749 §3.3); this client accepts both")
            default:
                guard !has("token-member-unusable") else { continue }
                fault(
                    "token-member-unusable", "\(name) is not a string",
                    why: "this client ignores the member, and other clients reject the response",
                    mend: "send a string, or omit the member (RFC 6749 §5.1)")
            }
        }
    }

    private mutating func lifetime(_ members: [String: JSONValue]) {
        switch members["expires_in"] {
        case .integer(let seconds) where members["expires_in_sec"] != nil || seconds > 31_622_400:
            advise(
                "expires-in-milliseconds", "expires_in seems to be in milliseconds (\(seconds))",
                mend: "send seconds (RFC 6749 §5.1)")
        case .integer(let seconds) where seconds < 0:
            fault(
                "expires-in-unusable", "expires_in is negative",
                why: "this client then does not know when the token expires, and other clients reject the response",
                mend: "send a number of seconds (RFC 6749 §5.1)")
        case .integer(let seconds): sound("expires-in", "the access token is valid for \(seconds) s")
        case .number(let seconds) where (0...31_622_400).contains(seconds):
            advise(
                "expires-in-fraction", "expires_in is \(seconds) and not a whole number",
                mend: "send whole seconds (RFC 6749 §5.1); this client rounds down")
        case .string(let text) where text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }):
            advise(
                "expires-in-text", "expires_in is a string and not a number",
                mend: "send a number (RFC 6749 §5.1); this client accepts both")
        case .none, .null:
            advise(
                "expires-in-absent", "the server does not send the lifetime of the access token",
                mend: "send expires_in (RFC 6749 §5.1)")
        default:
            fault(
                "expires-in-unusable", "expires_in is not a valid number of seconds",
                why: "this client then does not know when the token expires, and other clients reject the response",
                mend: "send a number of seconds (RFC 6749 §5.1)")
        }
    }

    private mutating func type(_ members: [String: JSONValue]) {
        guard let type = members.text("token_type") else { return }
        switch type {
        case "Bearer", "DPoP": sound("token-type", "the token type is \(type)")
        case _ where ["bearer", "dpop"].contains(type.lowercased()):
            advise(
                "token-type-case", "token_type is \(type.strippingControlCharacters), which differs only in case",
                mend: "send Bearer or DPoP; this client accepts any case (RFC 6749 §5.1)")
        default:
            fault(
                "token-type-unknown",
                "the token type is not supported: \(String(type.prefix(40)).strippingControlCharacters)",
                mend: "issue Bearer or DPoP tokens (RFC 6749 §7.1)")
        }
    }

    private mutating func scope(_ members: [String: JSONValue], _ asked: Scope) {
        guard let text = members.text("scope"), !text.isEmpty else { return }
        if text.contains(",") {
            return advise(
                "scope-commas", "the scope in the response is separated by commas",
                mend: "separate it by spaces (RFC 6749 §3.3)")
        }
        guard let granted = try? Scope(lenient: text) else { return }
        let missing = "\(asked)".split(separator: " ").filter { !"\(granted)".split(separator: " ").contains($0) }
        guard !missing.isEmpty else { return }
        advise(
            "scope-narrowed",
            "the granted scope is narrower than the requested one; missing: \(missing.joined(separator: " "))",
            mend: "allow that scope for the client, or do not request it")
    }
}
