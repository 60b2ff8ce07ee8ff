import CounterfoilProtocol
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
            return grantType == "authorization_code"
        }
        return types.contains(.string(grantType))
    }

    /// Whether the client may use the device grant (RFC 8628 §3.4).
    var declaresDeviceGrant: Bool { declares(TokenRequest.DeviceCodeExchange.grantType) }
}

extension ClientType {
    /// Whether the client may use the device authorization grant (RFC 8628): it may run where no browser is.
    var usesDeviceGrant: Bool {
        switch self {
        case .native, .device: true
        case .singlePage, .web, .service: false
        }
    }
}
