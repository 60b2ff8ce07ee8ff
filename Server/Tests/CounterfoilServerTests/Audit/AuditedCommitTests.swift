import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The events of changes, which belong to the commits of the changes.
struct AuditedCommitTests {
    private let store = TestStore()

    private func count(_ kind: AuditEvent.Kind, of test: TestServer) async throws -> [Int] {
        let counted = test.server.metrics.snapshot.audited.filter { $0.key.kind == kind }.map(\.value).reduce(0, +)
        return [try await store.audit(AuditQuery(kind: kind)).count, counted]
    }

    @Test func `an approval that fails leaves no event`() async throws {
        let test = try await TestServer(store: store)
        store.fail(.recordConsent)
        #expect(try await Attempt(test).authorize().status == .serviceUnavailable)
        #expect(try await count(.consent, of: test) == [0, 0])
        store.recover()
        _ = try await Attempt(test).tokens()
        #expect(try await count(.consent, of: test) == [1, 1])
    }

    @Test(arguments: [true, false])
    func `an approval whose answer is lost is recorded and counted once`(isCommitted: Bool) async throws {
        let test = try await TestServer(store: store)
        store.lose(.recordConsent, committing: isCommitted, times: 2)
        _ = try await Attempt(test).tokens()
        #expect(try await count(.consent, of: test) == [1, 1])
    }

    @Test func `a replay is recorded with the revocation, and the next one without a change`() async throws {
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        let code = try await attempt.authorize().code
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
        store.fail(.revokeGrant)
        #expect(await test.redeem(attempt.exchange(code)).status == .serviceUnavailable)
        #expect(try await count(.codeRedemption, of: test) == [0, 0])
        store.recover()
        for replays in 1...2 {
            #expect(await test.redeem(attempt.exchange(code)).status == .badRequest)
            #expect(try await count(.revocation, of: test) == [1, 1])
            #expect(try await count(.codeRedemption, of: test) == [replays, replays])
        }
    }

    // The request lasts longer than the time after which positions are settled.
    @Test func `each transaction of a long deletion has an event with its own time`() async throws {
        let test = try await TestServer(store: store)
        for number in 1...5 {
            let client = try test.documentClient("https://app.example.com/\(number)")
            #expect(try await store.addClient(client) == .added)
        }
        let clock = test.clock
        let (count, events) = try await store.removeAllUnregisteredClients(of: .host("app.example.com"), batch: 2) {
            clock.advance(by: AuditPosition.settlingTime)
            return AuditEvent(at: clock.now, .client, detail: "deleted \($0)")
        }
        #expect(count == 5 && events.map(\.detail) == ["deleted 2", "deleted 2", "deleted 1"])
        #expect(Set(events.map(\.at)).count == 3)
        let stored = try await store.audit(AuditQuery(kind: .client)).map(\.event)
        #expect(stored == events.reversed())
    }
}
