import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: requests concurrent with the deletion of their user")
struct UserRemovalRaceTests {
    /// A kind of request of the user, concurrent with the deletion.
    enum Request: CaseIterable, Sendable {
        case signIn, approval, redemption, refresh
    }

    /// The outcome of one of the concurrent calls.
    private enum Ended: Hashable { case committed, refused, deleted }

    // A request is carried out before the deletion or not at all, and leaves nothing behind.
    @Test(arguments: StoreKind.allCases, Request.allCases)
    func `a request is carried out before the deletion of its user, or is refused`(
        _ kind: StoreKind, _ request: Request
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user)
            var codes: [CodeRecord] = []
            if request == .redemption { for _ in 0..<40 { codes.append(try await world.approve(world.grant())) } }
            let family = try await world.refreshFamily(of: world.grant())
            let facts = try #require(try await store.refreshFacts(family.digest))
            let grants = (0..<40).map { _ in world.grant() }
            let (waiting, sessions) = (codes, (0..<40).map { _ in Session.example(of: user) })

            let counts = try await outcomes(of: 41) { number -> Ended in
                // The deletion starts among the requests.
                guard number != 20 else {
                    #expect(try await world.beginRemoval() == .begun([]))
                    return .deleted
                }
                let index = number < 20 ? number : number - 1
                switch request {
                case .signIn:
                    let outcome = try await store.beginSession(sessions[index], proving: .example, replacing: nil)
                    if outcome == .begun(sessions[index].id) { return .committed }
                    #expect(outcome == .userNotActive)
                case .approval:
                    let outcome = try await store.recordConsent(
                        world.approval(grants[index], .example(for: grants[index])))
                    if outcome == .recorded { return .committed }
                    #expect(outcome == .userNotActive)
                case .redemption:
                    let outcome = try await store.consumeCode(
                        waiting[index].digest, beginning: nil, at: World.now)
                    if outcome == .consumed { return .committed }
                    #expect(outcome == .gone)
                case .refresh:
                    let outcome = try await store.recordRefresh(facts, .stay, now: World.now + 1)
                    if outcome == .recorded { return .committed }
                    #expect(outcome == .gone)
                }
                return .refused
            }
            #expect(counts[.deleted] == 1)
            #expect(counts[.committed, default: 0] + counts[.refused, default: 0] == 40)

            try await world.finishRemovals()
            #expect(try await store.sessions(of: user.id).isEmpty)
            #expect(try await world.consent == nil)
            #expect(try await store.refreshFacts(family.digest) == nil)
            for session in sessions { #expect(try await store.session(session.digest) == nil) }
            for grant in grants { #expect(try await store.grant(grant.id) == nil) }
            for code in codes { #expect(try await store.code(code.digest) == nil) }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of concurrent deletions of a user one is carried out, and of two administrators one is left`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let counts = try await outcomes(of: 20) { _ in try await world.beginRemoval() }
            #expect(counts == [.begun([]): 1, .notFound: 19])
            var administrators: [World] = []
            for name in ["first", "second"] {
                var user = try User.named(name)
                user.role = .owner
                #expect(try await world.store.addUser(user) == .added)
                administrators.append(
                    World(world.store, user: user, client: world.client, session: .lasting(of: user)))
            }
            let both = administrators
            let ended = try await outcomes(of: 2) { number in try await both[number].beginRemoval() }
            #expect(ended == [.begun([]): 1, .lastOwner: 1])
        }
    }

    // Several processes run housekeeping at the same time.
    @Test(arguments: StoreKind.allCases)
    func `concurrent batches delete every record once`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            for _ in 1...10 { _ = try await world.refreshFamily(of: world.grant()) }
            for _ in 1...10 {
                try await world.store.appendAudit(AuditEvent(at: World.now, .signIn, userID: world.user.id))
            }
            #expect(try await world.beginRemoval() == .begun([]))
            _ = try await outcomes(of: 8) { _ in try await world.finishRemovals(atMost: 3).count }
            #expect(try await world.store.continueRemovals(atMost: 3) == 0)
            let pseudonym = try World.terms(of: world.user).pseudonym
            #expect(try await world.store.audit(AuditQuery(userID: pseudonym)).count == 11)
        }
    }
}
