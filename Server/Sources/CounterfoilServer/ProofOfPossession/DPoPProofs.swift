import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The DPoP proofs in requests to this server (RFC 9449): their verification, their nonces and the memory of used ones.
struct DPoPProofs: Sendable {
    /// The endpoints whose requests may contain a proof; their responses then contain the nonce for the next one.
    private static let endpoints: [Endpoint] = [.token, .pushedAuthorization, .userInfo]

    private let verifier: DPoPProofVerifier
    private let nonces: ProofNonces
    var used: any ProofUseStore
    /// The clock of the store, by which the servers on one store make and judge their nonces.
    private let clock: @Sendable () -> Date
    /// The clock with which the times of proofs are compared, because clients take them from wall clocks.
    private let wallClock: @Sendable () -> Date
    /// The URLs that the server publishes for each of ``endpoints``, by the path of the endpoint.
    private let uris: [String: [ProofURI]]
    /// The origin of the issuer.
    private let origin: String

    init(
        settings: ServerSettings, serverKey: ServerKey, used: any ProofUseStore,
        clock: @escaping @Sendable () -> Date, wallClock: @escaping @Sendable () -> Date
    ) {
        self.used = used
        self.clock = clock
        self.wallClock = wallClock
        origin = settings.issuer.origin
        nonces = ProofNonces(keys: serverKey.proofNonces.all)
        verifier = DPoPProofVerifier(nonces: nonces, requiresNonce: settings.requiresProofNonce)
        uris = Dictionary(
            uniqueKeysWithValues: Self.endpoints.map { endpoint in
                let paths = [endpoint.path] + settings.endpointAliases.paths(of: endpoint)
                return (endpoint.path, paths.compactMap { ProofURI(settings.issuer.endpoint($0)) })
            })
    }

    /// Verifies the proof in a request; returns nil if the request contains none.
    ///
    /// The claim `htu` must be one of the URLs that the server publishes for the endpoint. The field `Host` has no
    /// influence, because the sender of a stolen proof can choose it.
    ///
    /// - Parameter token: The access token in the request; nil at an endpoint that takes none.
    func proof(
        in request: IncomingRequest, at endpoint: Endpoint, presenting token: AccessToken? = nil
    ) throws(DPoPProofRefusal) -> VerifiedDPoPProof? {
        let fields = request.proofFields
        guard !fields.isEmpty else { return nil }
        return try verifier.verify(
            fields, method: request.head.method.rawValue, uris: uris(of: request, at: endpoint), presenting: token,
            at: wallClock(), nonceTime: clock())
    }

    /// The URLs that a proof may name: those of the endpoint or, at the administration API, that of the request.
    private func uris(of request: IncomingRequest, at endpoint: Endpoint) -> [ProofURI] {
        guard endpoint.isOfAdministrationAPI else { return uris[endpoint.path] ?? [] }
        let path = (request.head.path ?? "").prefix { $0 != "?" }
        return ProofURI(origin + path).map { [$0] } ?? []
    }

    /// Notes the use of a proof, after everything else in its request was accepted; nil has no effect.
    ///
    /// Only requests that would succeed use space in the store. Otherwise anyone could fill it with proofs of their own
    /// keys.
    ///
    /// - Parameter holder: The client or user in whose share of the space the proof counts.
    /// - Throws: `DPoPProofRefusal.used` if the proof was used before, and a `StoreFault` if that is not known.
    func use(_ proof: VerifiedDPoPProof?, of holder: ProofHolder) async throws {
        guard let proof, let digest = ArtefactDigest(stored: Array(proof.digest)) else { return }
        let use = UsedProof(digest: digest, holder: holder, expires: proof.expires)
        switch try await used.noteProof(use, at: wallClock()) {
        case .new: return
        case .used: throw DPoPProofRefusal.used
        case .full: throw TooManyProofs()
        }
    }

    /// Returns a response with the nonce for the next proof, if the request contains a proof.
    ///
    /// RFC 9449 §8.2: every response may contain one, so that the client has a nonce before it needs one.
    func supplyingNonce(_ reply: Reply, to request: IncomingRequest, at endpoint: Endpoint) -> Reply {
        guard let field = HTTPField.Name.dpop, let name = HTTPField.Name.dpopNonce,
            endpoint.isOfAdministrationAPI || uris[endpoint.path] != nil,
            request.head.headerFields.contains(field)
        else { return reply }
        var reply = reply
        reply.fields[name] = nonces.nonce(at: clock())
        return reply
    }

    /// The error for a proof that cannot be noted, because the memory of used proofs, or a share of it, is full.
    private struct TooManyProofs: Refusing {
        var refusal: Refusal {
            Refusal(
                .serviceUnavailable, .temporarilyUnavailable, .tooBusy,
                description: "the server cannot accept more DPoP proofs at present; try again in 60 seconds",
                retryAfter: 60)
        }
    }
}

/// At an endpoint that issues something to a client, a rejected proof has the status 400 (RFC 9449 §5).
extension DPoPProofRefusal: Refusing {
    var refusal: Refusal { Refusal(OAuthError(self)) }
}

extension OAuthError {
    /// Creates the error for a rejected proof: `use_dpop_nonce` or `invalid_dpop_proof` (RFC 9449 §5 and §8).
    init(_ refusal: DPoPProofRefusal) {
        self.init(refusal.asksForNonce ? .useDPoPNonce : .invalidDPoPProof, refusal.description)
    }

    /// Creates the error for a request without the proof that the client or an API requires (RFC 9449 §5.2).
    static func proofMissing(_ whoRequiresIt: String, _ setting: String) -> OAuthError {
        OAuthError(
            .invalidDPoPProof,
            "the DPoP proof is missing: \(whoRequiresIt) requires tokens that are bound to a key; \(setting)")
    }
}

extension HTTPField.Name {
    /// `DPoP`: a proof (RFC 9449 §4.1).
    static let dpop = HTTPField.Name("DPoP")
    /// `DPoP-Nonce`: the nonce for the next proof (RFC 9449 §8).
    static let dpopNonce = HTTPField.Name("DPoP-Nonce")
}

extension IncomingRequest {
    /// The values of all `DPoP` fields.
    fileprivate var proofFields: [String] { HTTPField.Name.dpop.map { head.headerFields[values: $0] } ?? [] }
}
