/// A successful response of the device authorization endpoint (RFC 8628 §3.2).
public struct DeviceAuthorizationResponse: Sendable, Hashable {
    /// The code with which the device polls the token endpoint (member `device_code`).
    public var deviceCode: DeviceCode
    /// The code that the user types, as the device shows it (member `user_code`).
    public var userCode: String
    /// The URL of the page on which the user types the code (member `verification_uri`).
    public var verificationURI: String
    /// The URL of the same page with the code in its query, for a QR code (member `verification_uri_complete`).
    public var verificationURIComplete: String?
    /// The lifetime of both codes in seconds (member `expires_in`).
    public var expiresIn: Int
    /// The minimum time between two token requests in seconds (member `interval`).
    public var interval: Int

    /// Creates a response.
    public init(
        deviceCode: DeviceCode, userCode: String, verificationURI: String, verificationURIComplete: String? = nil,
        expiresIn: Int, interval: Int
    ) {
        self.deviceCode = deviceCode
        self.userCode = userCode
        self.verificationURI = verificationURI
        self.verificationURIComplete = verificationURIComplete
        self.expiresIn = expiresIn
        self.interval = interval
    }

    /// Encodes the response as a JSON object, without the members that are nil.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.object { writer in
            writer.member("device_code", deviceCode.exposed)
            writer.member("user_code", userCode)
            writer.member("verification_uri", verificationURI)
            if let verificationURIComplete { writer.member("verification_uri_complete", verificationURIComplete) }
            writer.member("expires_in", Int64(expiresIn))
            writer.member("interval", Int64(interval))
        }
        return writer.bytes
    }
}
