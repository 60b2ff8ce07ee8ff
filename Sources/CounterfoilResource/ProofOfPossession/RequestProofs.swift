import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
package import HTTPTypes

/// The DPoP proofs in the requests to one API: their verification, their nonces, and the memory of used ones.
struct RequestProofs: Sendable {
    /// The URL of the root of the API, without a slash at its end.
    private let root: String
    private let verifier: DPoPProofVerifier
    private let nonces: ProofNonces?
    private let used: ProofReplayMemory

    /// Creates the proofs of an API; nil if neither its policy nor its audience contains its URL.
    init?(_ policy: ProofPolicy, audience: String) {
        guard let root = policy.publicURL.map({ Self.root($0, path: $0.path) }) ?? Self.origin(of: audience),
            ProofURI(root) != nil
        else { return nil }
        self.root = root
        nonces =
            switch policy.nonces.use {
            case .unused: nil
            case .offered(let key), .required(let key): ProofNonces(key: SymmetricKey(data: key.bytes))
            }
        verifier = DPoPProofVerifier(nonces: nonces, requiresNonce: policy.requiresNonce)
        used = ProofReplayMemory(capacity: policy.proofLimit)
    }

    /// Verifies the proof in a request; returns nil if the request contains none.
    ///
    /// RFC 9449 §4.3 and §7.1.
    func proof(
        in request: HTTPRequest, presenting token: AccessToken, at now: Date
    ) throws(DPoPProofRefusal) -> VerifiedDPoPProof? {
        try verifier.verify(
            request.proofFields, method: request.method.rawValue, uris: uri(of: request).map { [$0] } ?? [],
            presenting: token, at: now)
    }

    /// Notes the use of a proof, after everything else in its request was accepted.
    ///
    /// Only requests with valid tokens use memory, and each subject has a share of it, because one user can have tokens
    /// for many keys.
    func use(_ proof: VerifiedDPoPProof, of subject: String, at now: Date) -> ProofReplayMemory.Outcome {
        let share = ProofSpace.Share("subject \(subject)", divisor: 8)
        return used.note(Array(proof.digest), in: [share], until: proof.expires, at: now)
    }

    /// Returns the nonce for the next proof; nil if the API uses no nonces.
    func nonce(at now: Date) -> String? { nonces?.nonce(at: now) }

    /// Returns the URL by which a client sent a request; nil if the request target is not a path.
    private func uri(of request: HTTPRequest) -> ProofURI? {
        guard let target = request.path, target.hasPrefix("/") else { return nil }
        return ProofURI(root + target)
    }

    private static func origin(of audience: String) -> String? {
        (try? AbsoluteURI(parsing: audience)).map { root($0, path: "") }
    }

    private static func root(_ uri: AbsoluteURI, path: String) -> String {
        let port = uri.port.map { ":\($0)" } ?? ""
        return "\(uri.scheme)://\(uri.host ?? "")\(port)\(path.hasSuffix("/") ? String(path.dropLast()) : path)"
    }
}

extension HTTPField.Name {
    /// `DPoP`: a proof (RFC 9449 §4.1).
    static let dpop = HTTPField.Name("DPoP")
    /// `DPoP-Nonce`: the nonce for the next proof (RFC 9449 §8).
    package static let dpopNonce = HTTPField.Name("DPoP-Nonce")
}

extension HTTPRequest {
    /// The values of all `DPoP` fields.
    var proofFields: [String] { HTTPField.Name.dpop.map { headerFields[values: $0] } ?? [] }
}
