import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// A device authorization response (RFC 8628 §3.2).
struct DeviceAuthorization: Sendable {
    let code: DeviceCode
    let instructions: DeviceSignIn.Instructions
    let interval: Duration

    /// The longest time for which a code is polled, in seconds; a longer lifetime in the response counts as this.
    private static let longestLifetime = 86400

    /// Parses a response; nil if it is malformed, or if `verification_uri` is not a valid ``BrowserURL``.
    ///
    /// An invalid optional member counts as absent. Numbers may be strings or have a fraction.
    init?(parsing body: [UInt8]) {
        guard let members = try? JSONReader.object(body, acceptingHugeNumbers: true),
            case .string(let code) = members["device_code"], let code = DeviceCode(code),
            case .string(let userCode) = members["user_code"], (1...64).contains(userCode.count),
            // Some servers send `verification_url`, the name of the member in an early draft of RFC 8628.
            case .string(let text) = members["verification_uri"] ?? members["verification_url"],
            let verificationURI = try? BrowserURL(text),
            let stated = members["expires_in"]?.seconds(in: 1...Int(Int32.max))
        else { return nil }
        let lifetime = min(stated, Self.longestLifetime)
        var complete: BrowserURL?
        if case .string(let text) = members["verification_uri_complete"] { complete = try? BrowserURL(text) }
        // RFC 8628 §3.2: without an interval, it is five seconds.
        let interval = members["interval"]?.seconds(in: 0...Int(Int32.max), rounded: .up) ?? 5
        self.code = code
        self.interval = .seconds(min(max(interval, 1), lifetime))
        instructions = DeviceSignIn.Instructions(
            verificationURI: verificationURI, verificationURIComplete: complete,
            userCode: userCode.strippingControlCharacters,
            lifetime: .seconds(lifetime))
    }
}
