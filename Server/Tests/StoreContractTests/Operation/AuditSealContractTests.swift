import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: the seals of the audit log")
struct AuditSealContractTests {
    /// The server key of tests, which also makes the pseudonyms.
    static var serverKey: ServerKey {
        get throws { try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32))) }
    }

    /// The server keys after a replacement of ``serverKey``: with the former key, and without it.
    static var replacement: (both: ServerKey, new: ServerKey) {
        get throws {
            let bytes = [UInt8](repeating: 8, count: 32)
            return try (
                #require(ServerKey(bytes: bytes + [UInt8](repeating: 7, count: 32))), #require(ServerKey(bytes: bytes))
            )
        }
    }

    /// Seals every event, in commits of at most `batch` events.
    static func seal(
        _ store: any AuthorizationServerStore, with serverKey: ServerKey? = nil, batch: Int = 100,
        at time: Date = World.now
    ) async throws {
        let serverKey = try serverKey ?? Self.serverKey
        while true {
            let records = try await store.unsealedAudit(after: nil, limit: batch)
            let range = records.last.map { AuditSealRange(after: nil, through: $0.position, limit: batch) }
            let known = try await store.auditChainEnds().head
            let outcome = try await store.sealAudit(
                range, continuing: known, checkedAt: time, with: serverKey, at: time)
            #expect(!outcome.isBroken)
            if records.count < batch { return }
        }
    }

    static func verdict(
        _ store: any AuthorizationServerStore, with serverKey: ServerKey? = nil, at time: Date = World.now
    ) async throws -> AuditVerdict {
        let verification = AuditVerification(of: store, with: try serverKey ?? Self.serverKey)
        return try await AuditVerification.run(verification, at: time)
    }

    private static func append(
        _ detail: String, at seconds: TimeInterval = 0, to store: any AuthorizationServerStore
    ) async throws {
        try await store.appendAudit(AuditEvent(at: World.now + seconds, .setting, source: "192.0.2.1", detail: detail))
    }

    @Test(arguments: StoreKind.allCases)
    func `each event gets one seal, although servers append and seal at the same time`(_ kind: StoreKind) async throws {
        try await kind.withBoth { store, other in
            let serverKey = try Self.serverKey
            try await Self.append("before the first seal", to: store)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, store) in [store, other, store, other].enumerated() {
                    group.addTask {
                        for number in 1...8 { try await Self.append("\(index) \(number)", to: store) }
                    }
                }
                for store in [store, other] {
                    group.addTask {
                        for _ in 1...4 {
                            let records = try await store.unsealedAudit(after: nil, limit: 5)
                            let range = records.last.map {
                                AuditSealRange(after: nil, through: $0.position, limit: 5)
                            }
                            let outcome = try await store.sealAudit(
                                range, continuing: nil, checkedAt: nil, with: serverKey, at: World.now)
                            #expect(!outcome.isBroken)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await Self.seal(other, batch: 7)
            let sealed = try await store.sealedAudit(after: 0, limit: 100)
            #expect(sealed.map(\.seal.number) == Array(1...33))
            #expect(Set(sealed.map(\.seal.position)).count == 33)
            #expect(sealed.allSatisfy { $0.record?.position == $0.seal.position })
            let verdict = try await Self.verdict(store)
            #expect(verdict.findings == [] && verdict.sealCount == 33 && verdict.unsealedCount == 0)
            #expect(verdict.head?.seal == 33)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `old events are deleted without a finding, also those that were sealed in another order`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let later = World.now + 3600
            try await Self.append("first", at: 0, to: store)
            try await Self.append("third", at: 20, to: store)
            try await Self.seal(store)
            try await Self.append("second, late", at: 10, to: store)
            try await Self.append("fourth", at: 30, to: store)
            try await Self.seal(store)
            let log = try await store.auditLog(after: nil, limit: 9)
            #expect(try await store.removeAudit(through: log[1].position, atMost: 9, recording: nil, at: later) == 2)
            #expect(try await store.sealedAudit(after: 0, limit: 9).map(\.seal.number) == [2, 3, 4])
            #expect(try await store.sealedAudit(after: 0, limit: 9).map { $0.record == nil } == [false, true, false])
            let verdict = try await Self.verdict(store)
            #expect(verdict.findings == [] && verdict.removedThrough == log[1].position)

            #expect(try await store.removeAudit(through: log[2].position, atMost: 9, recording: nil, at: later) == 1)
            #expect(try await store.sealedAudit(after: 0, limit: 9).map(\.seal.number) == [4])
            let removal = AuditEvent(at: later, .auditRemoval, detail: "all")
            #expect(
                try await store.removeAudit(through: log[3].position, atMost: 9, recording: removal, at: later) == 1)
            #expect(try await store.sealedAudit(after: 0, limit: 9) == [])
            #expect(try await Self.verdict(store).findings == [])
            try await Self.seal(store)
            #expect(try await store.sealedAudit(after: 0, limit: 9).map(\.seal.number) == [5])
            #expect(try await Self.verdict(store).findings == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the pseudonym of a deleted user breaks no seal, and the salts of what was removed are gone`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            for detail in ["device", "typed \(world.user.username) twice"] {
                try await store.appendAudit(
                    AuditEvent(
                        at: World.now, .signIn, userID: world.user.id, clientID: world.client.id,
                        grantID: GrantIdentifier(), source: "192.0.2.7", requestID: "r1", detail: detail))
            }
            try await Self.append("of nobody", to: store)
            try await Self.seal(store)
            #expect(try await world.beginRemoval() == .begun([]))
            try await world.finishRemovals()
            try await Self.seal(store)
            let sealed = try await store.sealedAudit(after: 0, limit: 9).filter { $0.seal.number <= 3 }
            #expect(sealed.map { $0.seal.user.salt == nil } == [true, true, false])
            #expect(sealed.map { $0.seal.detail.salt == nil } == [false, true, false])
            #expect(sealed.map(\.record?.detail) == ["device", nil, "of nobody"])
            let verdict = try await Self.verdict(store)
            #expect(verdict.findings == [] && verdict.pseudonymCount == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `another server key continues the seals`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (both, new) = try Self.replacement
            for number in 1...3 { try await Self.append("\(number)", to: store) }
            try await Self.seal(store)
            let log = try await store.auditLog(after: nil, limit: 9)
            let (first, later) = (try #require(log.first?.position), World.now + 3600)
            #expect(try await store.removeAudit(through: first, atMost: 9, recording: nil, at: later) == 1)
            try await Self.append("4", to: store)
            try await Self.seal(store, with: both)
            #expect(try await Self.verdict(store, with: both).findings == [])
            // The former key is not in the list any more.
            let verdict = try await Self.verdict(store, with: new)
            #expect(verdict.findings == [] && verdict.formerKeyCount == 2)
            // Then old events are deleted that the former key sealed.
            #expect(
                try await store.removeAudit(
                    through: log[1].position, atMost: 9, recording: nil, with: new, at: later) == 1)
            #expect(try await store.sealedAudit(after: 0, limit: 9).map(\.seal.number) == [3, 4])
            let rest = try await Self.verdict(store, with: new)
            #expect(rest.findings == [] && rest.formerKeyCount == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an old event that a former key sealed late is deleted without a finding`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (both, new) = try Self.replacement
            for (detail, seconds) in [("second", 20.0), ("first, late", 10), ("third", 30)] {
                try await Self.append(detail, at: seconds, to: store)
                try await Self.seal(store)
            }
            try await Self.append("of the new key", at: 40, to: store)
            try await Self.seal(store, with: both)
            let log = try await store.auditLog(after: nil, limit: 9)
            for (index, seals) in [[1, 2, 3, 4], [3, 4], [4]].enumerated() {
                #expect(
                    try await store.removeAudit(
                        through: log[index].position, atMost: 9, recording: nil, with: new, at: World.now + 3600) == 1)
                #expect(try await store.sealedAudit(after: 0, limit: 9).map(\.seal.number) == seals)
                #expect(try await Self.verdict(store, with: new).findings == [])
            }
        }
    }
}
