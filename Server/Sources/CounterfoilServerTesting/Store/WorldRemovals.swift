@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
package import CounterfoilStore
package import Foundation

extension World {
    /// Returns the terms of the deletion of a user, with the server key of ``TestServer``.
    package static func terms(
        of user: User, ownedClients: RemovalTerms.OwnedClients = .refuse
    ) throws -> RemovalTerms {
        try RemovalTerms(of: user.id, with: TestSigningKeys.serverKey, ownedClients: ownedClients)
    }

    /// Begins the deletion of the user of the world.
    package func beginRemoval(
        ownedClients: RemovalTerms.OwnedClients = .refuse, at time: Date = World.now
    ) async throws -> BeginRemovalOutcome {
        let terms = try Self.terms(of: user, ownedClients: ownedClients)
        return try await store.beginRemoval(
            of: user.id, by: terms,
            recording: AuditEvent(at: time, .account, userID: terms.pseudonym, detail: "deleted"), at: time)
    }

    /// Deletes all records that are left of deleted users, and returns how many rows each transaction reported.
    @discardableResult
    package func finishRemovals(atMost rows: Int = 100) async throws -> [Int] {
        var steps: [Int] = []
        while true {
            let step = try await store.continueRemovals(atMost: rows)
            guard step > 0 else { return steps }
            steps.append(step)
        }
    }

    /// Records an approval, redeems its code, and returns the token family.
    package func refreshFamily(of grant: Grant) async throws -> RefreshFamily {
        let code = try await approve(grant)
        let family = RefreshFamily(
            digest: ArtefactDigest(ofFamily: RandomBytes().bytes(16)), grantID: grant.id, rotatedAt: World.now,
            lastUsedAt: World.now, expiresAt: World.now + 86_400)
        let outcome = try await store.consumeCode(code.digest, beginning: family, at: World.now)
        guard outcome == .consumed else { throw Refused(description: "the code was not redeemed: \(outcome)") }
        return family
    }
}
