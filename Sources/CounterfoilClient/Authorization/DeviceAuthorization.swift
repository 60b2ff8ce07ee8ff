import CounterfoilProtocol
import CounterfoilTokens

/// A device authorization response (RFC 8628 §3.2).
struct DeviceAuthorization: Sendable {
    let code: DeviceCode
    let instructions: DeviceSignIn.Instructions
    let interval: Duration

    /// Parses a response; nil if it is malformed, or if `verification_uri` is not a valid ``BrowserURL``.
    init?(parsing body: [UInt8]) {
        guard let members = try? JSONReader.object(body),
            case .string(let code) = members["device_code"], let code = DeviceCode(code),
            case .string(let userCode) = members["user_code"], (1...64).contains(userCode.count),
            // Some servers send `verification_url`, the name of the member in an early draft of RFC 8628.
            case .string(let text) = members["verification_uri"] ?? members["verification_url"],
            let verificationURI = try? BrowserURL(text), case .integer(let lifetime) = members["expires_in"],
            (1...86400).contains(lifetime)
        else { return nil }
        var complete: BrowserURL?
        if case .string(let text) = members["verification_uri_complete"] { complete = try? BrowserURL(text) }
        var seconds: Int64 = 5
        if case .integer(let number) = members["interval"] { seconds = min(max(number, 1), lifetime) }
        self.code = code
        interval = .seconds(seconds)
        instructions = DeviceSignIn.Instructions(
            verificationURI: verificationURI, verificationURIComplete: complete,
            userCode: userCode.strippingControlCharacters,
            lifetime: .seconds(lifetime))
    }
}
