import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: answers to repeatable requests")
struct KeptAnswerContractTests {
    private static func request(
        _ key: String, content: String = "{}", client: String = "app-console", until end: Date = World.now + 3600
    ) throws -> RepeatableRequest {
        RepeatableRequest(
            digest: ArtefactDigest(ofRepeatableRequest: key), content: ArtefactDigest(ofRepeatableContent: content),
            clientID: try #require(ClientIdentifier(client)), expiresAt: end)
    }

    @Test(arguments: StoreKind.allCases)
    func `a repeated request gets the kept answer until it expires`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let request = try Self.request("one")
            func begin(_ request: RepeatableRequest, at time: Date = World.now) async throws -> BeginAnswerOutcome {
                try await store.beginAnswer(to: request, atMost: 2, at: time)
            }
            #expect(try await begin(request) == .begun)
            #expect(try await begin(request) == .pending)
            #expect(try await begin(try Self.request("one", content: "[]")) == .otherContent)
            try await store.keepAnswer([1, 2], to: request.digest, about: nil)
            #expect(try await begin(request) == .answered([1, 2]))
            // An answer that is kept is not forgotten.
            try await store.withdrawAnswer(to: request.digest)
            #expect(try await begin(request) == .answered([1, 2]))

            let second = try Self.request("two")
            #expect(try await begin(second) == .begun)
            #expect(try await begin(try Self.request("three")) == .tooMany(until: request.expiresAt))
            #expect(try await begin(try Self.request("three", client: "app-other")) == .begun)
            try await store.withdrawAnswer(to: second.digest)
            #expect(try await begin(second) == .begun)
            #expect(try await begin(request, at: World.now + 3600) == .begun)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of several requests with one key at the same time, one is carried out`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let request = try Self.request("one")
            let outcomes = try await withThrowingTaskGroup(of: BeginAnswerOutcome.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await store.beginAnswer(to: request, atMost: 10, at: World.now) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.filter { $0 == .begun }.count == 1)
            #expect(outcomes.filter { $0 == .pending }.count == 7)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an answer is deleted with the user whom it is about`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let user = User(
                username: try #require(Username("bob")), email: nil, displayName: "Bob", passwordHash: nil,
                createdAt: World.now)
            #expect(try await store.addUser(user) == .added)
            let request = try Self.request("one")
            #expect(try await store.beginAnswer(to: request, atMost: 2, at: World.now) == .begun)
            try await store.keepAnswer([1], to: request.digest, about: user.id)
            let key = try #require(ServerKey(bytes: [UInt8](repeating: 1, count: 32)))
            let terms = try RemovalTerms(of: user.id, with: key)
            _ = try await store.beginRemoval(of: user.id, by: terms, recording: { _ in [] }, at: World.now)
            #expect(try await store.beginAnswer(to: request, atMost: 2, at: World.now) == .begun)
            // One that comes after the deletion is not kept at all.
            try await store.keepAnswer([1], to: request.digest, about: user.id)
            #expect(try await store.beginAnswer(to: request, atMost: 2, at: World.now) == .begun)
        }
    }
}
