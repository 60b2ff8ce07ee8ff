package import CounterfoilProtocol
package import CounterfoilStore

extension AdministrationRight {
    /// The scope that a token needs at the administration API to use the right.
    package var scope: Scope.Token? { Scope.Token(Scope.Token.administrationPrefix + rawValue) }
}

extension Scope.Token {
    /// The right of the administration that the scope gives at the administration API; nil for another scope.
    var right: AdministrationRight? {
        guard isOfAdministration else { return nil }
        return AdministrationRight(rawValue: String(rawValue.dropFirst(Self.administrationPrefix.count)))
    }
}

extension Issuer {
    /// The URL of the administration API, which is the audience of its tokens.
    package var administrationAPI: String { endpoint(AdministrationOperation.prefix) }

    /// The URL of the metadata of the administration API (RFC 9728 §3.1).
    package var administrationAPIMetadata: String {
        origin + (Endpoint.administrationAPIMetadata.paths(of: self).first ?? "")
    }
}
