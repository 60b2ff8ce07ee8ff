import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import Foundation

/// Successful responses of the token endpoint (RFC 6749 §5.1).
extension Examination {
    /// Checks a token response.
    mutating func tokens(in response: TransportResponse, asked scope: Scope) {
        guard var members = Self.members(response) else {
            return fault(
                "token-answer-unreadable", "the answer with the tokens is not one JSON object with each member once",
                mend: "let it be as RFC 6749 §5.1 has it")
        }
        guard (200..<300).contains(response.statusCode) else { return }
        if members["access_token"] == nil {
            let inner = members.first { _, value in
                if case .object(let inner) = value { inner["access_token"] != nil } else { false }
            }
            guard let inner, case .object(let nested) = inner.value else { return }
            advise(
                "tokens-nested",
                "the tokens stand under \(String(inner.key.prefix(60)).strippingControlCharacters) and not at the top of the"
                    + " answer", mend: "use --vendor if it is one")
            members = nested
        }
        lifetime(members)
        type(members)
        self.scope(members, scope)
        if members["refresh_token"] == nil {
            advise(
                "refresh-token-none",
                "the server gave no refresh token: when the access token expires one signs in again",
                mend: "ask for offline_access, or allow the client refresh tokens there")
        }
    }

    private mutating func lifetime(_ members: [String: JSONValue]) {
        switch members["expires_in"] {
        case .integer(let seconds) where members["expires_in_sec"] != nil || seconds > 31_622_400:
            advise(
                "expires-in-milliseconds", "expires_in seems to be in milliseconds (\(seconds))",
                mend: "it should be in seconds (RFC 6749 §5.1)")
        case .integer(let seconds) where seconds < 0:
            fault("expires-in-unusable", "expires_in is below zero", mend: "say the seconds (RFC 6749 §5.1)")
        case .integer(let seconds): sound("expires-in", "the access token is good for \(seconds) s")
        case .string:
            advise(
                "expires-in-text", "expires_in is a text and no number",
                mend: "write it as a number (RFC 6749 §5.1); this client takes both")
        case .none, .null:
            advise(
                "expires-in-absent", "the server does not say how long the access token is good",
                mend: "say it in expires_in (RFC 6749 §5.1)")
        default:
            fault(
                "expires-in-unusable", "expires_in is no number of seconds that can be",
                mend: "say the seconds (RFC 6749 §5.1)")
        }
    }

    private mutating func type(_ members: [String: JSONValue]) {
        guard let type = members.text("token_type") else { return }
        switch type {
        case "Bearer", "DPoP": sound("token-type", "the token is of the type \(type)")
        case _ where ["bearer", "dpop"].contains(type.lowercased()):
            advise(
                "token-type-case", "token_type is written \(type.strippingControlCharacters), which means the same",
                mend: "this client takes it in any case (RFC 6749 §5.1)")
        default:
            fault(
                "token-type-unknown",
                "the token is of a type that no application here can send: \(String(type.prefix(40)).strippingControlCharacters)",
                mend: "give Bearer or DPoP tokens (RFC 6749 §7.1)")
        }
    }

    private mutating func scope(_ members: [String: JSONValue], _ asked: Scope) {
        guard let text = members.text("scope"), !text.isEmpty else { return }
        if text.contains(",") {
            return advise(
                "scope-commas", "commas stand between the scopes in the answer",
                mend: "they should be spaces (RFC 6749 §3.3)")
        }
        guard let granted = try? Scope(lenient: text) else { return }
        let missing = "\(asked)".split(separator: " ").filter { !"\(granted)".split(separator: " ").contains($0) }
        guard !missing.isEmpty else { return }
        advise(
            "scope-narrowed", "less was allowed than asked for; missing: \(missing.joined(separator: " "))",
            mend: "allow the client those scopes there, or do not ask for them")
    }
}
