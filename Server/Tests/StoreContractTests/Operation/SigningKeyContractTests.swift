@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@Suite("The contract: signing keys")
struct SigningKeyContractTests {
    private func key(_ id: String, _ algorithm: SigningAlgorithm, age: TimeInterval = 0) -> SealedSigningKey {
        SealedSigningKey(
            id: KeyIdentifier(id),
            algorithm: algorithm,
            sealed: [0, 255, 1, 2],
            createdAt: World.now.addingTimeInterval(-age)
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `keys are read back as they were sealed, oldest first`(_ kind: StoreKind) async throws {
        let (young, old) = (key("a", .es256), key("b", .rs256, age: 60))
        try await kind.withStore { store async throws in
            #expect(try await store.signingKeys() == [])
            #expect(try await store.addFirstSigningKey(young) == .added)
            #expect(try await store.addFirstSigningKey(old) == .added)
            #expect(try await store.signingKeys() == [old, young])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of many first keys of one algorithm one is stored`(_ kind: StoreKind) async throws {
        let keys = (0..<20).map { key("key\($0)", .es256) }
        try await kind.withStore { store async throws in
            let counts = try await outcomes(of: 20) { try await store.addFirstSigningKey(keys[$0]) }
            #expect(counts == [.added: 1, .algorithmHasKey: 19])
            #expect(try await store.signingKeys().count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the needs of all clients are counted, without ID tokens of those without users`(
        _ kind: StoreKind
    ) async throws {
        func client(
            _ id: String, _ algorithm: SigningAlgorithm, type: ClientType = .native, access: Int? = nil,
            identity: Int? = nil
        ) throws -> RegisteredClient {
            var policy = ClientPolicy(idTokenAlgorithm: algorithm)
            policy.accessTokenLifetime = access
            policy.idTokenLifetime = identity
            return RegisteredClient(
                id: try #require(ClientIdentifier(id)), type: type, presentation: ClientPresentation(name: id),
                redirectURIs: [], scope: Scope([.openID]), policy: policy, createdAt: World.now)
        }
        try await kind.withStore { store async throws in
            #expect(try await store.signingNeeds() == SigningNeeds())
            for client in [
                try client("app-one", .es256, access: 600), try client("app-two", .es256, identity: 900),
                try client("app-three", .rs256, access: 86_400),
                try client("app-four", .es256, type: .service, access: 7200),
            ] { #expect(try await store.addClient(client) == .added) }
            #expect(
                try await store.signingNeeds()
                    == SigningNeeds(
                        clients: [.es256: 2, .rs256: 1], accessTokenLifetime: 86_400, idTokenLifetime: 900))
        }
    }
}
