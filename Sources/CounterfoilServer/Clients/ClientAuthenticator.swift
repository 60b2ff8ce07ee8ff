import CounterfoilProtocol
import Foundation
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

    func authenticate(
        _ request: IncomingRequest, form: FormParameters, now: Date
    ) async throws -> AuthenticatedClient {
        let claim = try ClientClaim(request, form)
        let client = try await store.client(claim.clientID)
        switch claim.proof {
        case .secret(let presented):
            // An unknown name costs what a wrong secret costs: the same questions to the store, the same comparison.
            let isRight = try await isSecret(presented, of: claim.clientID)
            // RFC 8252 §8.5: nothing that is sent to every copy of an application proves anything.
            if client?.type.isConfidential == false { throw claim.refusal(Self.hasNoSecret) }
            guard let client, isRight else { throw claim.refusal(Self.wrongSecret, asksForAuthentication: true) }
            return AuthenticatedClient(client)
        case .assertion:
            guard let client else { throw claim.refusal(ClientClaim.unknownClient) }
            guard client.type.isConfidential else { throw claim.refusal(Self.hasNoSecret) }
            throw claim.refusal(Self.mustAuthenticate, asksForAuthentication: true)
        case .none:
            guard let client else { throw claim.refusal(ClientClaim.unknownClient) }
            // RFC 6749 §3.2.1: a confidential client must authenticate.
            guard !client.type.isConfidential else {
                throw claim.refusal(Self.mustAuthenticate, asksForAuthentication: true)
            }
            return AuthenticatedClient(client)
        }
    }

    private static let hasNoSecret = "this application has no secret; send client_id alone"
    private static let wrongSecret = "there is no application with this client_id and client_secret"
    private static let mustAuthenticate = "this application must authenticate with its client_secret"

    /// Compares with every secret that the application has, in a time that does not tell which one it was.
    private func isSecret(_ presented: ClientSecret?, of id: ClientIdentifier) async throws(StoreFault) -> Bool {
        let secrets = try await store.clientSecrets(of: id)
        guard let digest = presented.map({ ArtefactDigest(of: $0) }) else { return false }
        return secrets.reduce(false) { found, secret in
            let equal = ConstantTime.equals(secret.digest.bytes, digest.bytes)
            return found || equal
        }
    }
}

/// What a request says of its sender, before anybody has looked whether it is true.
private struct ClientClaim {
    /// What is presented to prove it.
    enum Proof {
        case none
        /// `client_secret`, in the body or in the `Authorization` field; nil when it cannot be one.
        case secret(ClientSecret?)
        /// `client_assertion` (RFC 7523 §2.2), which nothing here takes.
        case assertion
    }

    static let unknownClient = "there is no application with this client_id"

    let clientID: ClientIdentifier
    let proof: Proof
    private let usedAuthorizationField: Bool

    init(_ request: IncomingRequest, _ form: FormParameters) throws {
        let values: (clientID: String?, secret: String?, assertion: String?)
        do {
            values = try (form.single("client_id"), form.single("client_secret"), form.single("client_assertion"))
        } catch { throw OAuthError(.invalidRequest, "\(error)") }
        let basic = try BasicCredentials(request.head.headerFields[values: .authorization])

        // RFC 6749 §2.3: one way of authentication in a request.
        let ways = [basic != nil, values.secret != nil, values.assertion != nil]
        guard ways.count(where: { $0 }) <= 1 else {
            throw OAuthError(.invalidRequest, "the request authenticates the application in more than one way")
        }
        if let basic, let bodyID = values.clientID, bodyID != basic.clientID {
            throw OAuthError(.invalidRequest, "client_id in the body and in the Authorization field differ")
        }
        guard let text = basic?.clientID ?? values.clientID else {
            throw OAuthError(.invalidRequest, "the parameter client_id is missing")
        }
        guard let clientID = ClientIdentifier(text) else {
            throw ClientRefusal(
                OAuthError(.invalidClient, Self.unknownClient), asksForAuthentication: basic != nil)
        }
        self.clientID = clientID
        usedAuthorizationField = basic != nil
        proof =
            if values.assertion != nil {
                .assertion
            } else if let secret = basic?.secret ?? values.secret {
                .secret(ClientSecret(secret))
            } else {
                .none
            }
    }

    /// RFC 6749 §5.2: whoever has tried in the `Authorization` field is answered with a challenge.
    func refusal(_ description: String, asksForAuthentication: Bool = false) -> ClientRefusal {
        ClientRefusal(
            OAuthError(.invalidClient, description),
            asksForAuthentication: asksForAuthentication || usedAuthorizationField
        )
    }
}

/// A refusal of the application itself; with 401 and a challenge when it must, or tried to, authenticate (RFC 6749 §5.2).
struct ClientRefusal: Error {
    let error: OAuthError
    let asksForAuthentication: Bool

    init(_ error: OAuthError, asksForAuthentication: Bool) {
        self.error = error
        self.asksForAuthentication = asksForAuthentication
    }
}

/// `Authorization: Basic`, both halves form-decoded as RFC 6749 §2.3.1 says.
private struct BasicCredentials {
    let clientID: String
    /// Nil when nothing stands behind the colon.
    let secret: String?

    /// Nil when there is no `Authorization` field.
    init?(_ fields: [String]) throws {
        guard let field = fields.first else { return nil }
        let refusal = ClientRefusal(
            OAuthError(.invalidClient, "the Authorization field is not Basic with a client_id"),
            asksForAuthentication: true
        )
        guard fields.count == 1, field.utf8.count <= 8192 else { throw refusal }
        let halves = field.split(separator: " ", maxSplits: 1)
        guard halves.count == 2, halves[0].lowercased() == "basic", let bytes = Self.base64(halves[1]),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let clientID = Self.decoded(bytes[..<colon]), !clientID.isEmpty,
            let secret = Self.decoded(bytes[(colon + 1)...])
        else { throw refusal }
        self.clientID = clientID
        self.secret = secret.isEmpty ? nil : secret
    }

    /// One half; nil when it is not the encoding of a text.
    private static func decoded(_ half: ArraySlice<UInt8>) -> String? {
        guard !half.contains(UInt8(ascii: "&")),
            let form = try? FormParameters(parsing: Array("half=".utf8) + half)
        else { return nil }
        return form.pairs.first?.value
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
