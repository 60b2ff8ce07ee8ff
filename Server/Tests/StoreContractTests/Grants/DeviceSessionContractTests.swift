import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: a device code dies with the session in which the user approved it")
struct DeviceSessionContractTests {
    /// An event that ends the session of the user, or with which the user takes access away.
    enum Ending: CaseIterable {
        case signOut, signOutEverywhere, password, passwordInThisSession, disabled, expiry

        /// Whether the grants that the user gave in the session stay without a device code.
        var keepsRedeemed: Bool { self == .passwordInThisSession || self == .signOut || self == .expiry }
    }

    private static let now = World.now

    /// Adds a session that expires a minute from now, in which the user approves.
    private static func signedIn(_ world: World) async throws -> World {
        let session = Session(
            digest: ArtefactDigest(of: SessionToken()), userID: world.user.id, authenticatedAt: now,
            lastSeenAt: now, expiresAt: now + 60)
        try await world.begin(session)
        return World(world.store, user: world.user, client: world.client, session: session)
    }

    private static func end(_ ending: Ending, _ world: World) async throws {
        let (store, user) = (world.store, world.user)
        switch ending {
        case .signOut: #expect(try await store.endSession(world.session.digest, at: now + 1))
        case .signOutEverywhere: #expect(try await store.signOutEverywhere(user.id, except: nil, at: now + 1) == 2)
        case .password, .passwordInThisSession:
            let kept = ending == .passwordInThisSession ? world.session.digest : nil
            let outcome = try await store.changePassword(
                of: user.id, from: .example, to: .other, keeping: kept, at: now + 1)
            #expect(outcome == .changed)
        case .disabled:
            #expect(try await store.disableUser(user.id, at: now + 1, recording: []) == .changed)
        case .expiry: break
        }
    }

    @Test(arguments: StoreKind.allCases, Ending.allCases)
    func `a device code cannot be redeemed after the end of its session`(
        _ kind: StoreKind, _ ending: Ending
    ) async throws {
        try await kind.withWorld { world async throws in
            let world = try await Self.signedIn(world)
            let device = try await world.addDevice()
            let (grant, _) = try await world.approve(device)
            try await Self.end(ending, world)
            // The session expires a minute after the approval.
            let time = ending == .expiry ? Self.now + 60 : Self.now + 2
            #expect(try await world.store.consumeCode(device.digest, beginning: nil, at: time) == .gone)
            if ending != .expiry { #expect(try await world.store.grant(grant.id)?.revokedAt == Self.now + 1) }
        }
    }

    @Test(arguments: StoreKind.allCases, Ending.allCases)
    func `a redeemed device code is a grant like any other`(_ kind: StoreKind, _ ending: Ending) async throws {
        try await kind.withWorld { world async throws in
            let world = try await Self.signedIn(world)
            let device = try await world.addDevice()
            let (grant, _) = try await world.approve(device)
            #expect(try await world.store.consumeCode(device.digest, beginning: nil, at: Self.now + 1) == .consumed)
            try await Self.end(ending, world)
            let read = try await world.store.grant(grant.id)
            // The session of a disabled user has ended, and the account is checked at each use of the grant.
            let isKept = ending.keepsRedeemed || ending == .disabled
            #expect((read?.revokedAt == nil) == isKept)
        }
    }

    @Test(arguments: StoreKind.allCases, Ending.allCases)
    func `an approval after the end of the session gives no code`(_ kind: StoreKind, _ ending: Ending) async throws {
        try await kind.withWorld { world async throws in
            let world = try await Self.signedIn(world)
            let device = try await world.addDevice()
            try await Self.end(ending, world)
            let grant = world.grant(at: ending == .expiry ? Self.now + 60 : Self.now + 2)
            let outcome = try await world.store.recordConsent(
                world.approval(grant, .example(of: device, for: grant), pkce: .notNeeded))
            #expect(outcome == (ending == .disabled ? .userNotActive : .sessionEnded))
            #expect(
                try await world.store.deviceAuthorization(userCode: device.userCode, at: Self.now + 2) == device)
        }
    }

    // A new sign-in of the same user in the same browser continues the session.
    @Test(arguments: StoreKind.allCases)
    func `a device code survives a new sign-in that continues the session`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let device = try await world.addDevice()
            _ = try await world.approve(device)
            let again = Session.example(of: world.user)
            let outcome = try await world.store.beginSession(
                again, proving: .example, replacing: world.session.digest)
            #expect(outcome == .begun(world.session.id))
            #expect(try await world.store.consumeCode(device.digest, beginning: nil, at: Self.now + 1) == .consumed)
        }
    }
}
