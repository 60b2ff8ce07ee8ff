import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: groups and attributes")
struct UserAttributesContractTests {
    static func attributes(_ groups: [String], _ values: [String: AttributeValue]) throws -> UserAttributes {
        try UserAttributes(
            groups: Set(try groups.map { try #require(GroupName($0)) }),
            values: Dictionary(uniqueKeysWithValues: try values.map { (try #require(ClaimName($0.key)), $0.value) }))
    }

    @Test(arguments: StoreKind.allCases)
    func `groups and attributes are replaced only as they were read, and a deletion removes them`(
        _ kind: StoreKind
    ) async throws {
        let first = try Self.attributes(
            ["staff", "Ærlig \\ü\\"],
            ["text": .text("a \"b\" \\ ü"), "number": .integer(-3), "flag": .flag(true), "list": .texts(["a", ""])])
        let second = try Self.attributes(["staff", "editors"], ["text": .text("c"), "list": .texts([])])
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user.id)
            func replace(
                _ former: UserAttributes, by attributes: UserAttributes, of user: UserIdentifier
            ) async throws -> UpdateUserOutcome {
                try await store.replaceAttributes(
                    of: user, from: former, by: attributes, at: World.now + 5, recording: [])
            }
            #expect(try await store.attributes(of: user) == UserAttributes())
            #expect(try await replace(UserAttributes(), by: first, of: user) == .updated)
            #expect(try await store.attributes(of: user) == first)
            #expect(try await store.user(user)?.changedAt == World.now + 5)
            #expect(try await replace(UserAttributes(), by: second, of: user) == .changedMeanwhile)
            #expect(try await replace(first, by: second, of: user) == .updated)
            #expect(try await store.attributes(of: user) == second)
            let other = try await world.adding("grace")
            #expect(try await store.attributes(of: other.user.id).isEmpty)
            #expect(try await replace(UserAttributes(), by: first, of: UserIdentifier()) == .notFound)
            let removed = try await store.beginRemoval(
                of: user, by: World.terms(of: world.user), recording: { _ in [] }, at: World.now)
            #expect(removed == .begun([]))
            #expect(try await store.attributes(of: user).isEmpty)
        }
    }
}
