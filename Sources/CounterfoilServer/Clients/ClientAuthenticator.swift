import CounterfoilProtocol
import HTTPTypes

/// An application that has shown who it is, as far as its type can.
///
/// Only ``ClientAuthenticator`` makes one. A public client is identified, never authenticated (RFC 6749 §2.1).
public struct AuthenticatedClient: Sendable {
    /// The application.
    public let client: RegisteredClient

    fileprivate init(_ client: RegisteredClient) { self.client = client }
}

/// Finds out which application asks (RFC 6749 §2.3 and §3.2.1).
struct ClientAuthenticator: Sendable {
    let store: any ClientStore

    /// What a request says of its sender.
    private struct Claim {
        let clientID: ClientIdentifier
        let usedAuthorizationField: Bool
    }

    func authenticate(_ request: IncomingRequest, form: FormParameters) async throws -> AuthenticatedClient {
        let claim = try Self.claim(request, form)
        guard let client = try await store.client(claim.clientID) else {
            throw ClientRefusal(
                OAuthError(.invalidClient, "there is no application with this client_id"),
                usedAuthorizationField: claim.usedAuthorizationField
            )
        }
        // RFC 6749 §3.2.1: a confidential client must authenticate, and there is no way to do so yet.
        guard !client.type.isConfidential else {
            throw ClientRefusal(
                OAuthError(.invalidClient, "this application must authenticate, which this server does not support"),
                usedAuthorizationField: claim.usedAuthorizationField
            )
        }
        return AuthenticatedClient(client)
    }

    private static func claim(_ request: IncomingRequest, _ form: FormParameters) throws -> Claim {
        let values: (clientID: String?, secret: String?, assertion: String?)
        do {
            values = try (form.single("client_id"), form.single("client_secret"), form.single("client_assertion"))
        } catch { throw OAuthError(.invalidRequest, "\(error)") }
        let basic = try BasicCredentials(request.head.headerFields[values: .authorization])

        if basic != nil && (values.secret != nil || values.assertion != nil) {
            throw OAuthError(.invalidRequest, "the request authenticates the application in more than one way")
        }
        // RFC 8252 §8.5: nothing that is sent to every copy of an application proves anything.
        if values.secret != nil || values.assertion != nil || basic?.hasSecret == true {
            throw ClientRefusal(
                OAuthError(.invalidClient, "this application has no secret; send client_id alone"),
                usedAuthorizationField: basic != nil
            )
        }
        if let basic, let bodyID = values.clientID, bodyID != basic.clientID {
            throw OAuthError(.invalidRequest, "client_id in the body and in the Authorization field differ")
        }
        guard let text = basic?.clientID ?? values.clientID else {
            throw OAuthError(.invalidRequest, "the parameter client_id is missing")
        }
        guard let clientID = ClientIdentifier(text) else {
            throw ClientRefusal(
                OAuthError(.invalidClient, "there is no application with this client_id"),
                usedAuthorizationField: basic != nil
            )
        }
        return Claim(clientID: clientID, usedAuthorizationField: basic != nil)
    }
}

/// A refusal of the application itself, which needs a challenge when the `Authorization` field was used (RFC 6749 §5.2).
struct ClientRefusal: Error {
    let error: OAuthError
    let usedAuthorizationField: Bool

    init(_ error: OAuthError, usedAuthorizationField: Bool) {
        self.error = error
        self.usedAuthorizationField = usedAuthorizationField
    }
}

/// `Authorization: Basic`, form-decoded as RFC 6749 §2.3.1 says.
struct BasicCredentials {
    let clientID: String
    let hasSecret: Bool

    /// Nil when there is no `Authorization` field.
    init?(_ fields: [String]) throws {
        guard let field = fields.first else { return nil }
        let refusal = ClientRefusal(
            OAuthError(.invalidClient, "the Authorization field is not Basic with a client_id"),
            usedAuthorizationField: true
        )
        guard fields.count == 1, field.utf8.count <= 8192 else { throw refusal }
        let halves = field.split(separator: " ", maxSplits: 1)
        guard halves.count == 2, halves[0].lowercased() == "basic", let bytes = Self.base64(halves[1]),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { throw refusal }
        let encodedID = bytes[..<colon]
        guard !encodedID.contains(UInt8(ascii: "&")),
            let pair = try? FormParameters(parsing: Array("id=".utf8) + encodedID),
            let clientID = try? pair.single("id")
        else { throw refusal }
        self.clientID = clientID
        hasSecret = colon + 1 < bytes.endIndex
    }

    /// Plain base64 by way of base64url, whose decoder is strict.
    private static func base64(_ text: Substring) -> [UInt8]? {
        var bytes = Array(text.utf8)
        guard !bytes.contains(UInt8(ascii: "-")), !bytes.contains(UInt8(ascii: "_")) else { return nil }
        while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        return Base64URL.decode(
            utf8: bytes.map { byte in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: byte
                }
            }
        )
    }
}
