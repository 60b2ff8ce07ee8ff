import Crypto
import Foundation

/// A passkey in an authenticator, with which a browser signs in (WebAuthn §7.2).
struct Passkey: Decodable, Sendable {
    /// The credential ID in base64url.
    private let credentialID: String
    /// The user handle in base64url.
    private let userHandle: String
    /// The private key of P-256: 32 bytes, in base64.
    private let privateKey: Data
    /// The domain of the passkey, and the origin of the pages.
    private let relyingPartyID: String
    let origin: String

    enum CodingKeys: String, CodingKey {
        case credentialID = "credential_id"
        case userHandle = "user_handle"
        case privateKey = "private_key"
        case relyingPartyID = "rp_id"
        case origin
    }

    /// Answers a challenge, as `AuthenticationResponseJSON` (WebAuthn §5.1).
    func assertion(for challenge: String) throws -> String {
        let clientData = Array(
            """
            {"type":"webauthn.get","challenge":"\(challenge)","origin":"\(origin)","crossOrigin":false}
            """.utf8)
        // UP, UV, BE and BS, and a counter that does not count (WebAuthn §6.1).
        let data = Array(SHA256.hash(data: Data(relyingPartyID.utf8))) + [0x1D, 0, 0, 0, 0]
        let key = try P256.Signing.PrivateKey(rawRepresentation: privateKey)
        let signature = try key.signature(for: Data(data + SHA256.hash(data: Data(clientData)))).derRepresentation
        return """
            {"id":"\(credentialID)","rawId":"\(credentialID)","type":"public-key","clientExtensionResults":{},\
            "response":{"clientDataJSON":"\(Base64URL.encode(clientData))","userHandle":"\(userHandle)",\
            "authenticatorData":"\(Base64URL.encode(data))","signature":"\(Base64URL.encode(Array(signature)))"}}
            """
    }
}

/// The form of a sign-in page, as far as a browser with a passkey needs it.
struct SignInForm {
    let action: String
    let request: String
    let ticket: String
    /// The challenge for a passkey, in base64url.
    let challenge: String

    /// Reads the form; nil if the page has none with passkeys.
    init?(html: String) {
        guard let action = Self.text(in: html, between: "<form method=\"post\" action=\"", and: "\""),
            let request = Self.text(in: html, between: "name=\"request\" value=\"", and: "\""),
            let ticket = Self.text(in: html, between: "name=\"ticket\" value=\"", and: "\""),
            let options = Self.text(in: html, between: "data-options=\"", and: "\""),
            let challenge = Self.text(in: options, between: "\"challenge\":\"", and: "\"")
        else { return nil }
        self.action = action
        self.request = request
        self.ticket = ticket
        self.challenge = challenge
    }

    /// Returns the text of an attribute without character references.
    private static func text(in html: String, between start: String, and end: String) -> String? {
        guard let start = html.range(of: start), let end = html[start.upperBound...].range(of: end) else { return nil }
        let references = [
            ("&quot;", "\""), ("&#34;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"),
        ]
        return references.reduce(String(html[start.upperBound..<end.lowerBound])) { text, reference in
            text.replacingOccurrences(of: reference.0, with: reference.1)
        }
    }
}
