import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The check of the challenge of an API (RFC 6750 §3, RFC 9728 §5.1).
extension Examination {
    /// Checks the challenge of a response with the status 401; returns the URL of the metadata that it names.
    mutating func challenge(of response: TransportResponse) -> String? {
        let fields = response.head.headerFields[values: .wwwAuthenticate]
        let challenges = fields.flatMap(AuthenticationChallenge.list)
        let ours = challenges.filter { ["bearer", "dpop"].contains($0.scheme) }
        if case .object? = Self.members(response)?["error"] {
            advise("api-error-object", "the API reports errors in objects of its own and not as OAuth errors")
        }
        guard !ours.isEmpty else {
            fault(
                "challenge-unreadable",
                fields.isEmpty
                    ? "the API rejects the request without a WWW-Authenticate field"
                    : "the WWW-Authenticate field of the API cannot be parsed",
                mend: "send Bearer with quoted parameters (RFC 6750 §3, RFC 9110 §11.6.1)")
            return nil
        }
        sound("challenge", "the API demands a token correctly")
        order(of: challenges)
        parameters(of: ours)
        misreading(of: fields.joined(separator: ", "), ours)
        return ours.compactMap { $0["resource_metadata"] }.first
    }

    private mutating func order(of challenges: [AuthenticationChallenge]) {
        // An API that accepts only tokens that are bound to a key has no challenge of Bearer.
        guard let first = challenges.first, first.scheme != "bearer",
            challenges.contains(where: { $0.scheme == "bearer" })
        else { return }
        advise(
            "challenge-order", "the first challenge of the API is \(Self.shown(first.scheme)) and not Bearer",
            why:
                "clients with the MCP SDK for TypeScript read the field only if it begins with Bearer; they find neither"
                + " resource_metadata nor scope",
            mend: "send the Bearer challenge first")
    }

    private mutating func parameters(of challenges: [AuthenticationChallenge]) {
        if challenges.contains(where: { $0["resource_metadata"] != nil }) {
            sound("challenge-metadata", "the challenge names the URL of the API's metadata")
        } else {
            advise(
                "challenge-metadata-missing", "the challenge does not name the metadata of the API",
                why: "clients of MCP 2025-06-18 read the URL only there; others try the well-known URLs",
                mend: "send resource_metadata with the absolute URL (RFC 9728 §5.1)")
        }
        if let scope = challenges.compactMap({ $0["scope"] }).first {
            apiStatesScope = true
            sound("challenge-scope", "the challenge names the scope to request: \(Self.shown(scope))")
        } else {
            advise(
                "challenge-scope-missing", "the challenge does not name the scope to request",
                why: "clients then request every scope in scopes_supported of the API",
                mend: "send scope with what the request needs (RFC 6750 §3)")
        }
        apiContexts = challenges.compactMap { $0["acr_values"] }.first?.split(separator: " ").map { String($0) } ?? []
    }

    /// Records the authentication contexts that the API demands and the server does not list (RFC 9470 §3).
    mutating func contexts(at server: AuthorizationServerConfiguration) {
        let listed = server.authenticationContexts ?? []
        let missing = apiContexts.filter { !listed.contains($0) }
        guard !missing.isEmpty else { return }
        advise(
            "acr-not-listed", "the API demands acr values that the server does not list: \(Self.spoken(missing))",
            why: missing.count == apiContexts.count
                ? "a sign-in that is as strong as the API demands may not be possible, and a step-up is then in vain"
                : nil,
            mend: "demand a value in acr_values_supported of the server, or list there what it supports")
    }

    /// Records the parameters that a client misreads if it searches the field for their names.
    private mutating func misreading(of field: String, _ challenges: [AuthenticationChallenge]) {
        let misread = ["resource_metadata", "scope", "error"].filter { name in
            Self.searched(name, in: field) != challenges.compactMap { $0[name] }.first
        }
        guard !misread.isEmpty else { return }
        advise(
            "challenge-misread",
            "a search of the challenge for \(misread.map { "\($0)=" }.joined(separator: ", ")) finds something else than"
                + " the parameter of that name",
            why: "the MCP SDKs search the field and do not parse it; the first occurrence counts",
            mend: "send resource_metadata and scope first, and no NAME= in the text of error_description")
    }

    /// Returns the text after the first `name=` in a field: up to a quotation mark, or up to a space or comma.
    private static func searched(_ name: String, in field: String) -> String? {
        guard let found = field.firstRange(of: "\(name)=") else { return nil }
        let rest = field[found.upperBound...]
        let value =
            rest.hasPrefix("\"") ? rest.dropFirst().prefix { $0 != "\"" } : rest.prefix { $0 != " " && $0 != "," }
        return String(value)
    }
}
