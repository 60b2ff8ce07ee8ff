@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@testable import CounterfoilServer

/// The seals of the audit log, and what an attacker without the server key cannot hide from a verification.
struct AuditSealTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func key(_ bytes: UInt8...) throws -> ServerKey {
        try #require(ServerKey(bytes: bytes.flatMap { [UInt8](repeating: $0, count: 32) }))
    }

    private static func hexadecimal(_ bytes: [UInt8]?) -> String {
        (bytes ?? []).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A log whose seals can be replaced.
    private struct Log: AuditSealStore {
        var sealed: [SealedAuditRecord]
        var ends: AuditChainEnds

        /// Seals events, each with one of several keys.
        init(_ details: [String], with keys: [ServerKey]) throws {
            var end = try #require(
                AuditChainEnd(
                    AuditChainEnds(start: nil, head: nil), last: nil, known: nil, keys: AuditSealKeys(keys[0])))
            (sealed, ends) = ([], AuditChainEnds(start: nil, head: nil))
            for (index, detail) in details.enumerated() {
                let record = AuditRecord(
                    AuditEntry(
                        number: index + 1,
                        event: AuditEvent(
                            at: AuditSealTests.now + Double(index), .signIn, userID: UserIdentifier(),
                            source: "192.0.2.1", detail: detail)))
                let sealKeys = AuditSealKeys(keys[min(index, keys.count - 1)])
                let seal = sealKeys.seal(record, after: end, random: RandomBytes())
                sealed.append(SealedAuditRecord(seal: seal, record: record))
                let head = sealKeys.head(
                    seal: seal.number, chain: seal.chain, sealedAt: AuditSealTests.now, checkedAt: AuditSealTests.now)
                ends = AuditChainEnds(start: nil, head: head)
                end = try #require(AuditChainEnd(ends, last: seal.number, known: nil, keys: sealKeys))
                #expect(!end.isBroken)
            }
        }

        func auditChainEnds() async throws(StoreFault) -> AuditChainEnds { ends }

        func unsealedAudit(after position: AuditPosition?, limit: Int) async throws(StoreFault) -> [AuditRecord] { [] }

        func sealedAudit(after seal: Int, limit: Int) async throws(StoreFault) -> [SealedAuditRecord] {
            Array(sealed.filter { $0.seal.number > seal }.prefix(limit))
        }

        func sealAudit(
            _ range: AuditSealRange?, continuing known: AuditHead?, checkedAt: Date?, with serverKey: ServerKey,
            at time: Date
        ) async throws(StoreFault) -> AuditSealOutcome {
            throw .unavailable("the log cannot be sealed")
        }

        func verdict(_ serverKey: ServerKey, expectedHead: AuditHeadMark? = nil, after: Int = 0) async throws
            -> AuditVerdict
        {
            let verification = AuditVerification(of: self, with: serverKey, expectedHead: expectedHead, after: after)
            return try await AuditVerification.run(verification, at: AuditSealTests.now)
        }

        /// Replaces the detail of an event, and computes everything again that needs no key.
        mutating func forge(seal number: Int, chain former: [UInt8]) throws {
            let original = sealed[number - 1]
            let record = try #require(original.record)
            let forged = AuditRecord(
                position: record.position, kind: record.kind, outcome: record.outcome, userID: record.userID,
                clientID: record.clientID, grantID: record.grantID, source: record.source, requestID: record.requestID,
                detail: "forged")
            let detail = AuditDigest.detail(of: forged, salt: try #require(original.seal.detail.salt))
            let digest = AuditDigest.event(
                forged, user: original.seal.user.digest, detail: detail, pseudonym: original.seal.pseudonym)
            sealed[number - 1] = SealedAuditRecord(
                seal: AuditSeal(
                    number: number, position: record.position, digest: digest, user: original.seal.user,
                    detail: SaltedDigest(digest: detail, salt: original.seal.detail.salt),
                    pseudonym: original.seal.pseudonym,
                    chain: AuditDigest.chain(after: former, number: number, digest: digest), code: original.seal.code),
                record: forged)
        }
    }

    @Test func `a seal has known values`() throws {
        let record = AuditRecord(
            position: AuditPosition(microseconds: 1_801_387_800_123_456, number: 42), kind: "consent", outcome: "done",
            userID: "per_AAAAAAAAAAAAAAAAAAAAAA", clientID: nil, grantID: "gr_1", source: "192.0.2.1",
            requestID: "r1",
            detail: "éa")
        let keys = AuditSealKeys(try Self.key(7))
        let none = AuditChainEnds(start: nil, head: nil)
        let end = try #require(AuditChainEnd(none, last: nil, known: nil, keys: keys))
        let seal = keys.seal(record, after: end, random: RandomBytes { count in (0..<count).map { UInt8($0) } })
        let values = [seal.user.digest, seal.detail.digest, seal.pseudonym, seal.digest, seal.chain, seal.code]
        #expect(
            values.map(Self.hexadecimal) == [
                "0f267944094b3cbdbecece84155ed99d542977f166a0255853c5fa9aa0bdcffb",
                "8ddc2e65e62b91ef28576eba76d8a3b3eb7a835c27277cb96060d846465ee14f",
                "e6a2fd3598143e9144ecd5bb1a7ff8ac50449e36b5118f2e2ce87a3a22561676",
                "d54e629c41b6786bfda3590a0120458ab77a4428f852b4496d1aee83578dd817",
                "16690a80cde8de3641d31d80616d969b995601eabbaa4b825a1781f63d28e237",
                "b6a50c0356ad955a1e706135e84cd4a5ddccfd3474e94c696ffccd8f06ce1df0",
            ])
        let heads = [nil, Self.now - 1].map {
            keys.head(seal: 1, chain: seal.chain, sealedAt: Self.now, checkedAt: $0)
        }
        #expect(
            heads.map { Self.hexadecimal($0.code) } == [
                "87be5f6f8526dbdbc4e7e024f3ac7c3e7d23c38dfd68d27b5996d4d0def916aa",
                "e25b46134524fe3fd077f5bee03167d8936c2603ad569343bc55f2dee6833f73",
            ])
        #expect(
            Self.hexadecimal(keys.start(seal: 1, chain: seal.chain, through: record.position).code)
                == "660cf24f2220195ec5cbfb1b1536e35ff5198b4039cb21e0c9c3ad0c32dc098a")
        let mark = AuditHeadMark(heads[0])
        #expect("\(mark)" == "1:16690a80cde8de3641d31d80616d969b995601eabbaa4b825a1781f63d28e237")
        #expect(AuditHeadMark("\(mark)") == mark)
        for text in [
            "", "1", "1:", "0:\(String(repeating: "0", count: 64))", "\(mark)0",
            "1:\(String(repeating: "g", count: 64))",
        ] {
            #expect(AuditHeadMark(text) == nil)
        }
    }

    @Test func `an event is found that was changed together with everything that needs no key`() async throws {
        let key = try Self.key(7)
        var log = try Log(["a", "b", "c", "d", "e"], with: [key])
        #expect(try await log.verdict(key).findingCount == 0)
        try log.forge(seal: 3, chain: log.sealed[1].seal.chain)
        let verdict = try await log.verdict(key)
        #expect(verdict.findings.map(\.kind) == [.changed])
        #expect(verdict.findings.map(\.seal) == [3])
        #expect(try await log.verdict(key, after: 3).findingCount == 0)
        // The chain after it, computed again to the end.
        for number in 4...5 { try log.forge(seal: number, chain: log.sealed[number - 2].seal.chain) }
        #expect(try await log.verdict(key).findings.map(\.kind) == [.changed, .head])
    }

    @Test func `seals of a former server key are valid, also after it was taken from the list`() async throws {
        let (former, current) = (try Self.key(7), try Self.key(8, 7))
        var log = try Log(["a", "b", "c", "d"], with: [former, former, former, current])
        #expect(try await log.verdict(current).findingCount == 0)
        let alone = try Self.key(8)
        let verdict = try await log.verdict(alone)
        #expect(verdict.findingCount == 0)
        #expect(verdict.formerKeyCount == 3)
        #expect(try await log.verdict(former).findings.isEmpty == false)
        // An attacker with the former key cannot change what the current key confirms.
        try log.forge(seal: 2, chain: log.sealed[0].seal.chain)
        let found = try await log.verdict(alone)
        #expect(found.findings.map(\.kind) == [.changed, .seal])
        #expect(found.findings.map(\.seal) == [2, 3])
    }

    @Test func `a noted head shows that the end was cut, or that the log was made again with the server key`()
        async throws
    {
        let key = try Self.key(7)
        let log = try Log(["a", "b", "c"], with: [key])
        let mark = AuditHeadMark(try #require(log.ends.head))
        #expect(try await log.verdict(key, expectedHead: mark).findingCount == 0)
        let shorter = try Log(["a", "b"], with: [key])
        #expect(try await shorter.verdict(key).findingCount == 0)
        #expect(try await shorter.verdict(key, expectedHead: mark).findings.map(\.kind) == [.expectedHead])
        let other = try Log(["a", "b", "c", "d"], with: [key])
        #expect(try await other.verdict(key, expectedHead: mark).findings.map(\.kind) == [.expectedHead])
        #expect(try await other.verdict(key, expectedHead: mark, after: 4).findings.map(\.kind) == [.expectedHead])
        var cut = log
        cut.sealed.removeLast()
        #expect(try await cut.verdict(key, after: 9).findings.map(\.kind) == [.end])
    }

    @Test func `the time at which every event was sealed never goes back`() throws {
        let keys = AuditSealKeys(try Self.key(7))
        let none = AuditChainEnds(start: nil, head: nil)
        let first = try #require(AuditChainEnd(none, last: nil, known: nil, keys: keys))
        let sealed = none.sealing([], after: first, checkedAt: Self.now, with: keys, at: Self.now)
        let ends = AuditChainEnds(start: nil, head: sealed.head)
        func end(known: Date?) throws -> AuditChainEnd {
            let known = keys.head(seal: 0, chain: AuditSealKeys.origin, sealedAt: Self.now, checkedAt: known)
            return try #require(AuditChainEnd(ends, last: nil, known: known, keys: keys))
        }
        // A store has microseconds.
        for known in [nil, Self.now - 60, Self.now, Self.now + 2e-7] { #expect(try !end(known: known).isBroken) }
        #expect(try end(known: Self.now + 60).isBroken)
        let later = ends.sealing([], after: try end(known: nil), checkedAt: Self.now - 60, with: keys, at: Self.now)
        #expect(later.head?.checkedAt == Self.now)
    }

    @Test func `a pseudonym of another listed server key is no change`() async throws {
        let both = try Self.key(8, 7)
        var log = try Log(["a", "b"], with: [both])
        let original = try #require(log.sealed[0].record)
        let user = try #require(original.userID.flatMap { UserIdentifier($0) })
        var seal = log.sealed[0].seal
        seal.user.salt = nil
        log.sealed[0] = SealedAuditRecord(
            seal: seal,
            record: AuditRecord(
                position: original.position, kind: original.kind, outcome: original.outcome,
                userID: try Self.key(7).auditPseudonym(of: user).rawValue, clientID: nil, grantID: nil, source: nil,
                requestID: nil, detail: original.detail))
        #expect(try await log.verdict(both).findings == [])
        #expect(try await log.verdict(try Self.key(8)).findings.map(\.kind) == [.changed])
    }

    @Test func `a long look for events without a seal continues until all are sealed`() async throws {
        let store = TestStore()
        for number in 1...5 {
            try await store.appendAudit(AuditEvent(at: Self.now, .setting, detail: "\(number)"))
        }
        let sealer = AuditSealer(
            store: store, serverKey: try Self.key(7), logger: RecordedLog().logger, batch: 2, stepLimit: 1)
        sealer.isActive = true
        #expect(try await sealer.sealAll(at: Self.now) == 2 && sealer.hasMore)
        #expect(try await store.auditChainEnds().head?.checkedAt == nil)
        // Without the lease, another server begins a look of its own.
        sealer.isActive = false
        #expect(!sealer.hasMore)
        sealer.isActive = true
        for (count, hasMore) in [(2, true), (1, false)] {
            #expect(try await sealer.sealAll(at: Self.now) == count)
            #expect(sealer.hasMore == hasMore)
        }
        #expect(try await store.auditChainEnds().head?.checkedAt == Self.now)
    }

    @Test func `the maintenance seals new events, but none that is older than it can be`() async throws {
        let test = try await TestServer()
        _ = try await Attempt(test).tokens()
        _ = try await test.server.maintenance.runRound()
        let sealed = try await test.store.sealedAudit(after: 0, limit: 1000)
        #expect(!sealed.isEmpty && sealed.map(\.seal.number) == Array(1...sealed.count))
        #expect(try await test.store.unsealedAudit(after: nil, limit: 9).isEmpty)

        let now = test.clock.now
        try await test.store.appendAudit(AuditEvent(at: now - 500, .setting, detail: "of a slow request"))
        try await test.store.appendAudit(AuditEvent(at: now - 700, .setting, detail: "inserted"))
        _ = try await test.server.maintenance.runRound()
        #expect(try await test.store.unsealedAudit(after: nil, limit: 9).map(\.detail) == ["inserted"])
        let verification = AuditVerification(of: test.store, with: try Self.key(7))
        let verdict = try await AuditVerification.run(verification, at: now)
        #expect(verdict.findings.map(\.kind) == [.inserted])
    }
}
