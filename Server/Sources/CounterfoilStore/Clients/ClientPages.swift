package import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

extension AbsoluteURI {
    /// Parses the https URL of a page or a picture that an unregistered client names; nil for any other text.
    package init?(ofPage text: String) {
        guard let uri = try? AbsoluteURI(parsing: text), uri.scheme == "https", let host = uri.host, !host.isEmpty,
            uri.userInformation == nil
        else { return nil }
        self = uri
    }
}

extension RegisteredClient {
    /// The URL at which an unregistered client publishes its logo, `logo_uri` (RFC 7591 §2); nil for none.
    package var logoURI: AbsoluteURI? {
        let metadata: [UInt8]
        switch source {
        case .console: return nil
        case .document(let document): metadata = document
        case .registration(let registration): metadata = registration.metadata
        }
        guard let members = try? JSONReader.object(metadata), case .string(let text)? = members["logo_uri"] else {
            return nil
        }
        return AbsoluteURI(ofPage: text)
    }
}
