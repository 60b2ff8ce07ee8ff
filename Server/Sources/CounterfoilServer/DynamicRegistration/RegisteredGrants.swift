import CounterfoilProtocol

/// The grant types and response types of a registration, which agree (RFC 7591 §2.1).
///
/// Values that the server does not support are left out, and the response shows the rest (RFC 7591 §3.2.1).
struct RegisteredGrants: Sendable {
    let grantTypes: [String]
    let responseTypes: [String]

    var usesCode: Bool { grantTypes.contains("authorization_code") }
    var usesDevice: Bool { grantTypes.contains(DeviceCodeGrant.grantType) }

    private static let supported = ["authorization_code", "refresh_token", DeviceCodeGrant.grantType]

    init(_ metadata: ClientMetadata) throws(ClientMetadata.Refusal) {
        let named = metadata.grantTypes ?? ["authorization_code"]
        grantTypes = named.filter(Self.supported.contains)
        let usesCode = grantTypes.contains("authorization_code")
        guard usesCode || grantTypes.contains(DeviceCodeGrant.grantType) else {
            throw ClientMetadata.Refusal(
                "grant_types contains neither authorization_code nor \(DeviceCodeGrant.grantType)"
                    + (named.contains("client_credentials")
                        ? "; only an administrator registers clients without users" : ""))
        }
        responseTypes = usesCode ? (metadata.responseTypes ?? ["code"]).filter { $0 == "code" } : []
        guard responseTypes.isEmpty != usesCode else {
            throw ClientMetadata.Refusal(
                "response_types must contain code, the response type of authorization_code and the only one of this "
                    + "server")
        }
    }
}
