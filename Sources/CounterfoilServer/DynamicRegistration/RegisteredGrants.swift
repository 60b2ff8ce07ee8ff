import CounterfoilProtocol

/// The grant types and response types of a registration, which agree (RFC 7591 §2.1).
struct RegisteredGrants: Sendable {
    let grantTypes: [String]
    let responseTypes: [String]

    var usesCode: Bool { grantTypes.contains("authorization_code") }
    var usesDevice: Bool { grantTypes.contains(DeviceCodeGrant.grantType) }

    private static let supported = ["authorization_code", "refresh_token", DeviceCodeGrant.grantType]

    init(_ metadata: ClientMetadata) throws(ClientMetadata.Refusal) {
        grantTypes = metadata.grantTypes ?? ["authorization_code"]
        guard !grantTypes.contains("client_credentials") else {
            throw ClientMetadata.Refusal(
                "grant_types contains client_credentials; only an administrator registers clients without users")
        }
        if let other = grantTypes.first(where: { !Self.supported.contains($0) }) {
            throw ClientMetadata.Refusal(
                "grant_types contains \(other.prefix(100)), which is not supported; "
                    + "use \(Self.supported.joined(separator: ", "))")
        }
        let usesCode = grantTypes.contains("authorization_code")
        guard usesCode || grantTypes.contains(DeviceCodeGrant.grantType) else {
            throw ClientMetadata.Refusal(
                "grant_types contains neither authorization_code nor \(DeviceCodeGrant.grantType)")
        }
        responseTypes = metadata.responseTypes ?? (usesCode ? ["code"] : [])
        guard responseTypes.allSatisfy({ $0 == "code" }) else {
            throw ClientMetadata.Refusal("response_types must be code, the only response type of this server")
        }
        guard responseTypes.isEmpty != usesCode else {
            throw ClientMetadata.Refusal(
                "response_types and grant_types do not agree: code belongs to authorization_code")
        }
    }
}
