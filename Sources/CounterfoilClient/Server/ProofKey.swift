import CounterfoilProtocol
import CounterfoilTokens
import Crypto
import Foundation
import HTTPTypes
import Synchronization

/// A key to which tokens are bound, so that a stolen token cannot be used without it.
///
/// RFC 9449; ES256. The key stays on the device, in the store that holds the tokens.
public struct ProofKey: Sendable, Hashable {
    private let key: P256.Signing.PrivateKey

    /// Generates a new key.
    public init() { key = P256.Signing.PrivateKey() }

    private init(_ key: P256.Signing.PrivateKey) { self.key = key }

    /// `jkt` and `dpop_jkt`: the thumbprint of the public half (RFC 7638), in base64url.
    public var thumbprint: String {
        let point = [UInt8](key.publicKey.rawRepresentation)
        let x = Base64URL.encode(point[..<32])
        let y = Base64URL.encode(point[32...])
        return Base64URL.encode(SHA256.hash(data: Array(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8)))
    }

    func sign(_ claims: DPoPProofClaims) throws -> String {
        try SigningKey(algorithm: .es256, privateRepresentation: key.rawRepresentation).sign(claims)
    }

    /// Returns whether two values are the same key.
    public static func == (left: ProofKey, right: ProofKey) -> Bool {
        left.key.publicKey.rawRepresentation == right.key.publicKey.rawRepresentation
    }

    /// Hashes the public key.
    public func hash(into hasher: inout Hasher) { hasher.combine(key.publicKey.rawRepresentation) }
}

/// The encoding for a token store.
extension ProofKey: Codable {
    /// Decodes the encoding of a token store.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = Base64URL.decode(try container.decode(String.self)),
            let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
        else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "malformed") }
        self.init(key)
    }

    /// Encodes the key for a token store.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Base64URL.encode(key.rawRepresentation))
    }
}

extension ProofKey: CustomStringConvertible, CustomReflectable {
    /// The thumbprint, without the private key.
    public var description: String { "<ProofKey \(thumbprint)>" }
    /// An empty mirror, so that `dump` does not show the private key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A sender that adds a DPoP proof to each request, and caches the nonces and clocks of servers.
///
/// RFC 9449 §8 and §9: a server may require its own nonce, and change it with any response.
final class Prover: Sendable {
    let key: ProofKey
    private let learned = Mutex<[String: Lesson]>([:])

    private struct Lesson {
        var nonce: String?
        var clockOffset: TimeInterval = 0
    }

    /// The maximum number of servers in the cache.
    private static let serverLimit = 16

    init(_ key: ProofKey) { self.key = key }

    /// Sends a request with a proof, and retries once if the server requires its nonce or its own time.
    ///
    /// `request` is evaluated again for the retry, because the client authentication in it may be valid only once.
    func send(
        _ request: @autoclosure () -> TransportRequest, carrying token: AccessToken? = nil,
        through transport: any HTTPTransport
    ) async throws(TransportFailure) -> TransportResponse {
        let attempt = request()
        let first = try await transport.send(proving(attempt, carrying: token))
        guard learn(from: first, of: attempt.endpoint), first.wantsAnotherProof else { return first }
        let second = try await transport.send(proving(request(), carrying: token))
        _ = learn(from: second, of: attempt.endpoint)
        return second
    }

    private func proving(_ request: TransportRequest, carrying token: AccessToken?) -> TransportRequest {
        let lesson = learned.withLock { $0[request.endpoint.origin] } ?? Lesson()
        let claims = DPoPProofClaims(
            proofID: Base64URL.encode(RandomBytes().bytes(16)), method: request.method.rawValue,
            address: request.endpoint.withoutQuery, issuedAt: Date().addingTimeInterval(lesson.clockOffset),
            accessToken: token, nonce: lesson.nonce)
        var request = request
        // Signing with this kind of key does not fail. The server would reject a request without a proof.
        if let name = HTTPField.Name("DPoP") { request.headerFields[name] = try? key.sign(claims) }
        return request
    }

    /// Caches the nonce and the clock offset from a response; returns whether they are new.
    private func learn(from response: TransportResponse, of endpoint: EndpointURL) -> Bool {
        let nonce = HTTPField.Name("DPoP-Nonce").flatMap { response.head.headerFields[$0] }.flatMap { text in
            (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
        }
        let offset = ServerClock.offset(in: response)
        return learned.withLock { lessons in
            let before = lessons[endpoint.origin] ?? Lesson()
            var lesson = before
            if let nonce { lesson.nonce = nonce }
            if let offset { lesson.clockOffset = offset }
            if lessons[endpoint.origin] == nil, lessons.count >= Self.serverLimit { lessons.removeAll() }
            lessons[endpoint.origin] = lesson
            return lesson.nonce != before.nonce || abs(lesson.clockOffset - before.clockOffset) > 5
        }
    }
}

extension TransportResponse {
    /// Whether the response rejects the proof and not the request (RFC 9449 §8, §9 and §7.1).
    fileprivate var wantsAnotherProof: Bool {
        switch statusCode {
        case 400:
            guard case .refusal(let error) = TokenAnswer(parsing: body, of: .standard, isRefresh: false) else {
                return false
            }
            return error.code.rawValue == "use_dpop_nonce" || error.code.rawValue == "invalid_dpop_proof"
        case 401:
            let challenge = head.headerFields[.wwwAuthenticate] ?? ""
            return challenge.contains("use_dpop_nonce") || challenge.contains("invalid_dpop_proof")
        default: return false
        }
    }
}

extension EndpointURL {
    /// The URL without its query (RFC 9449 §4.2).
    fileprivate var withoutQuery: String { String(rawValue.prefix { $0 != "?" }) }
}
