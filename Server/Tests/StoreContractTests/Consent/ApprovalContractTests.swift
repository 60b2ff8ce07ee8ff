import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// Approvals before and after the end of the session in which they were given.
@Suite("The contract: approvals and the end of their session")
struct ApprovalContractTests {
    /// A way in which a session ends.
    enum Ending: CaseIterable, Sendable {
        case signOut, endedInTheList, changedPassword, changedPasswordInTheSameBrowser, signOutEverywhere, switchedOff,
            expiry, anotherUser

        /// The outcome of an approval after the end of its session.
        var outcome: RecordConsentOutcome { self == .switchedOff ? .userNotActive : .sessionEnded }
    }

    /// A user with a session and a single-page client, whose grants end with their session.
    private struct Browser {
        let world: World
        let session: Session

        init(in store: any AuthorizationServerStore) async throws {
            let former = try await World(in: store, signedIn: false)
            let native = try RegisteredClient.named("app-page")
            let client = RegisteredClient(
                id: native.id, type: .singlePage, presentation: native.presentation, redirectURIs: native.redirectURIs,
                scope: native.scope, policy: native.policy, createdAt: native.createdAt)
            #expect(try await store.addClient(client) == .added)
            session = Session.example(of: former.user)
            world = World(store, user: former.user, client: client, session: session)
            try await world.begin(session)
        }

        /// The time at which the session ends.
        let end = World.now + 1

        func end(_ ending: Ending) async throws {
            let (store, user) = (world.store, world.user)
            switch ending {
            case .signOut: #expect(try await store.endSession(session.digest, at: end))
            case .endedInTheList: #expect(try await store.endSession(session.digest, of: user.id, at: end))
            case .changedPassword: try await changePassword(keeping: nil)
            case .changedPasswordInTheSameBrowser:
                let next = Session(
                    digest: ArtefactDigest(of: SessionToken()), id: session.id, userID: user.id,
                    authenticatedAt: end, lastSeenAt: end, expiresAt: end + 3600)
                #expect(
                    try await store.beginSession(next, proving: .example, replacing: nil) == .begun(session.id))
                try await changePassword(keeping: next.digest)
            case .signOutEverywhere:
                #expect(try await store.signOutEverywhere(user.id, except: nil, at: end) == 1)
            case .switchedOff:
                #expect(try await store.disableUser(user.id, at: end, recording: []) == .changed)
            case .expiry:
                try await store.revokeDependents(ofSession: session.id, notSeenSince: session.lastSeenAt, at: end)
            case .anotherUser:
                let other = try User.named("bob")
                #expect(try await store.addUser(other) == .added)
                let next = Session.example(of: other)
                #expect(
                    try await store.beginSession(next, proving: .example, replacing: session.digest) == .begun(next.id))
            }
        }

        private func changePassword(keeping kept: ArtefactDigest?) async throws {
            let outcome = try await world.store.changePassword(
                of: world.user.id, from: .example, to: .other, keeping: kept, at: end)
            #expect(outcome == .changed)
        }
    }

    @Test(arguments: StoreKind.allCases, Ending.allCases)
    func `an approval after the end of its session is not recorded`(
        _ kind: StoreKind, _ ending: Ending
    ) async throws {
        try await kind.withStore { store in
            let browser = try await Browser(in: store)
            let world = browser.world
            let grant = world.grant()
            let code = try CodeRecord.example(for: grant)
            try await browser.end(ending)
            #expect(try await store.recordConsent(world.approval(grant, code)) == ending.outcome)
            #expect(try await store.grant(grant.id) == nil)
            #expect(try await store.code(code.digest) == nil)
            #expect(try await world.consent == nil)
        }
    }

    @Test(arguments: StoreKind.allCases, Ending.allCases)
    func `a pending code cannot be redeemed after the end of its session`(
        _ kind: StoreKind, _ ending: Ending
    ) async throws {
        try await kind.withStore { store in
            let browser = try await Browser(in: store)
            let code = try await browser.world.approve(browser.world.grant())
            try await browser.end(ending)
            #expect(try await store.consumeCode(code.digest, beginning: nil, at: browser.end) == .gone)
        }
    }

    // The password change prevails in either order.
    @Test(arguments: StoreKind.allCases)
    func `no approval concurrent with a change of the password gives a code that can be redeemed`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let browser = try await Browser(in: store)
            let world = browser.world
            let grants = (0..<50).map { _ in world.grant() }
            let codes = try grants.map { try CodeRecord.example(for: $0) }
            let counts = try await outcomes(of: 51) { number in
                guard number != 25 else {
                    try await browser.end(.changedPasswordInTheSameBrowser)
                    return RecordConsentOutcome.clientChanged
                }
                let index = number < 25 ? number : number - 1
                return try await store.recordConsent(world.approval(grants[index], codes[index]))
            }
            #expect((counts[.recorded] ?? 0) + (counts[.sessionEnded] ?? 0) == 50)
            for code in codes {
                #expect(try await store.consumeCode(code.digest, beginning: nil, at: browser.end) == .gone)
            }
        }
    }

    // Signing in again in the same browser ends nothing, not even a pending authorization request.
    @Test(arguments: StoreKind.allCases)
    func `an approval with the previous cookie of a session that continues is recorded`(_ kind: StoreKind) async throws
    {
        try await kind.withStore { store in
            let browser = try await Browser(in: store)
            let (world, next) = (browser.world, Session.example(of: browser.world.user))
            let grant = world.grant()
            let code = try CodeRecord.example(for: grant)
            #expect(
                try await store.beginSession(next, proving: .example, replacing: browser.session.digest)
                    == .begun(browser.session.id))
            #expect(try await store.recordConsent(world.approval(grant, code)) == .recorded)
            #expect(try await store.consumeCode(code.digest, beginning: nil, at: browser.end) == .consumed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approval in the session of another user, in none, or in an expired one is not recorded`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let browser = try await Browser(in: store)
            let (world, session) = (browser.world, browser.session)
            let bobs = try await world.adding("bob")
            let cases = [
                (bobs.session.id as SessionIdentifier?, World.now), (nil, World.now), (session.id, session.expiresAt),
            ]
            for (id, time) in cases {
                let grant = Grant(
                    userID: world.user.id, clientID: world.client.id, scope: Scope([.openID]), sessionID: id,
                    createdAt: time, lastUsedAt: time)
                let code = try CodeRecord.example(for: grant)
                #expect(try await store.recordConsent(world.approval(grant, code)) == .sessionEnded)
                #expect(try await store.code(code.digest) == nil)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, [Scope(), Scope([.openID])])
    func `an approval by a remembered consent needs that consent in the same transaction`(
        _ kind: StoreKind, _ kept: Scope
    ) async throws {
        try await kind.withStore { store in
            let world = try await Browser(in: store).world
            let scope = Scope([.openID, .email])
            func approve(_ scope: Scope, _ basis: ApprovalBasis) async throws -> RecordConsentOutcome {
                let grant = world.grant(scope)
                return try await store.recordConsent(world.approval(grant, try .example(for: grant), basis: basis))
            }
            #expect(try await approve(scope, .rememberedConsent) == .consentWithdrawn)
            #expect(try await approve(scope, .answer) == .recorded)
            #expect(try await approve(scope, .rememberedConsent) == .recorded)
            let narrowed = try await store.narrowConsent(
                of: world.user.id, to: world.client.id, keeping: kept, at: World.now)
            #expect(narrowed == .narrowed)
            #expect(try await approve(scope, .rememberedConsent) == .consentWithdrawn)
            #expect(try await world.consent?.scope == (kept.isEmpty ? nil : kept))
            #expect(
                try await approve(Scope([.openID]), .rememberedConsent)
                    == (kept.isEmpty ? .consentWithdrawn : .recorded))
            #expect(try await approve(scope, .firstParty) == .recorded)
        }
    }
}
