extension TokenRequest {
    /// The exchange of a `device_code` for tokens (RFC 8628 §3.4).
    public struct DeviceCodeExchange: Sendable, Hashable {
        /// The code of the device authorization response (parameter `device_code`).
        public let deviceCode: DeviceCode
        /// The PKCE verifier (parameter `code_verifier`); nil if omitted.
        public let codeVerifier: CodeVerifier?
        /// `resource`, a subset of the resources in the device authorization request; empty for all of them.
        public let resources: [Resource]

        /// Creates a device code exchange; by default for all resources of the device authorization request.
        public init(deviceCode: DeviceCode, codeVerifier: CodeVerifier? = nil, resources: [Resource] = []) {
            self.deviceCode = deviceCode
            self.codeVerifier = codeVerifier
            self.resources = resources
        }
    }
}

extension TokenRequest.DeviceCodeExchange {
    /// The value of `grant_type` (RFC 8628 §3.4).
    public static let grantType = "urn:ietf:params:oauth:grant-type:device_code"

    /// Parses the body of a token request with the grant type of a `device_code`.
    public init(parsing form: FormParameters) throws(OAuthError) {
        let values = SingleValues(form)
        let resources = try form.resources()
        guard let deviceCode = DeviceCode(try values.required("device_code")) else {
            throw OAuthError(.invalidGrant, "the device_code was not issued by this server")
        }
        self.init(deviceCode: deviceCode, codeVerifier: try values.codeVerifier(), resources: resources)
    }
}
