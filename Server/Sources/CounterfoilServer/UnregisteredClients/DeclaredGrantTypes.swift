import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

extension RegisteredClient {
    /// Returns whether the metadata of an unregistered client declare a grant type (RFC 7591 §2).
    ///
    /// A registered client declares every grant type of its ``type``. The name of a client is public. So another
    /// program must not be able to use it for a grant that the client itself does not use, such as that for devices,
    /// which needs no redirect URI.
    func declares(_ grantType: String) -> Bool {
        let metadata: [UInt8]
        switch source {
        case .console: return true
        case .document(let document): metadata = document
        case .registration(let registration): metadata = registration.metadata
        }
        guard case .array(let types)? = try? JSONReader.object(metadata)["grant_types"] else {
            return grantType == AuthorizationCodeGrant.grantType
        }
        return types.contains(.string(grantType))
    }
}
