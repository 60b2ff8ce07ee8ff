import CounterfoilHummingbird
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilResource
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import CounterfoilClient

/// The client of this project at an API of this project (RFC 9449 §7 and §9).
@Suite struct BoundTokenClientTests {
    /// A transport to an API in the same process, which records the status of each response.
    private final class Transport: HTTPTransport {
        private let client: any TestClientProtocol
        private let received = CounterfoilProtocol.Mutex<[Int]>([])

        init(_ client: any TestClientProtocol) { self.client = client }

        var statuses: [Int] { received.withLock { $0 } }

        func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
            do {
                let response = try await client.executeRequest(
                    uri: request.endpoint.uri.path, method: request.method, headers: request.headerFields, body: nil)
                received.withLock { $0.append(Int(response.status.code)) }
                return TransportResponse(
                    head: HTTPResponse(status: response.status, headerFields: response.headers),
                    body: Array(response.body.readableBytesView))
            } catch {
                throw .unreachable(origin: request.endpoint.origin, reason: "\(error)")
            }
        }
    }

    // RFC 9449 §7.1 and §9.
    @Test(arguments: [
        (ProofPolicy(), [200, 200]), (ProofPolicy(requiresBoundTokens: true, nonces: .offered()), [200, 200]),
        (ProofPolicy(nonces: .required()), [401, 200, 200]),
    ])
    func `the client calls an API with a bound token`(policy: ProofPolicy, statuses: [Int]) async throws {
        try await Authority.run { authority async throws in
            let server = ResourceServer(issuer: authority.issuer, audience: Authority.audience, proofs: policy)
            let router = Router(context: BasicVerifiedAccessRequestContext.self)
            router.group("photos").requireScope(try Scope(parsing: "photos.read"), of: server)
                .get { _, context in try context.requireAccess().keyThumbprint?.rawValue ?? "none" }

            let key = ProofKey()
            var claims = try authority.claims()
            claims.issuedAt = Date()
            claims.expires = Date().addingTimeInterval(600)
            claims.keyThumbprint = KeyThumbprint(key.thumbprint)
            let credentials = Credentials(
                issuer: authority.issuer, clientID: claims.clientID, scope: claims.scope,
                accessToken: try #require(AccessToken(try authority.signingKey.sign(claims))), expires: claims.expires,
                user: nil, resources: [try Resource(Authority.audience)], proofKey: key)
            try await Application(router: router).test(.router) { client in
                let transport = Transport(client)
                let api = ResourceClient(credentials, transport: transport)
                for _ in 0..<2 {
                    let response = try await api.get(Prover.url)
                    #expect(String(decoding: response.body, as: UTF8.self) == key.thumbprint)
                }
                #expect(transport.statuses == statuses)
            }
        }
    }
}
