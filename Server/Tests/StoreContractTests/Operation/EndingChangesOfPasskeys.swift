import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import Testing

extension EndingChange {
    /// Changes of passkeys, identities and second factors.
    static let passkeys = [
        EndingChange("a removed identity", [.userIdentity]) { world async throws in
            let identities = try ["1", "2"].map { try UserIdentityContractTests.identity($0, of: world.user) }
            return Steps(
                prepare: { world async throws in
                    for identity in identities {
                        #expect(try await world.store.addIdentity(identity, recording: []) == .added)
                    }
                },
                end: { world async throws in
                    let outcome = try await world.store.removeIdentity(
                        identities[0].id, of: world.user.id, countingIdentitiesOf: [], recording: [])
                    #expect(outcome == .removed)
                },
                isValid: { try await $0.store.identity(identities[0].subject) != nil },
                isLeft: { try await $0.store.identities(of: $0.user.id) == [identities[1]] })
        },
        EndingChange("a deleted passkey", [.passkey]) { world async throws in
            @Sendable func passkey(_ number: UInt8) -> Passkey { .example(number, of: world.user) }
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addPasskey(passkey(1), recording: []) == .added)
                    #expect(try await world.store.addPasskey(passkey(2), recording: []) == .added)
                },
                end: { world async throws in
                    _ = try await world.store.removePasskey(passkey(1).digest, of: world.user.id, recording: [])
                },
                isValid: { try await $0.store.passkey(passkey(1).digest) != nil },
                isLeft: { try await $0.store.passkey(passkey(2).digest) != nil })
        },
        EndingChange("a deleted passkey, the only way in of the copy", [.passkey]) { world async throws in
            @Sendable func passkey(_ number: UInt8) -> Passkey { .example(number, of: world.user) }
            var report = RestoreReport()
            report.withoutWayIn = [world.user.username.rawValue]
            return Steps(
                prepare: { world async throws in
                    for number: UInt8 in 1...2 {
                        #expect(try await world.store.addPasskey(passkey(number), recording: []) == .added)
                    }
                    _ = try await world.store.changePassword(
                        of: world.user.id, from: .example, to: nil, keeping: nil, at: World.now, recording: [])
                    _ = try await world.store.removePasskey(passkey(1).digest, of: world.user.id, recording: [])
                },
                end: { world async throws in
                    #expect(try await world.store.addPasskey(passkey(3), recording: []) == .added)
                    let outcome = try await world.store.removePasskey(
                        passkey(2).digest, of: world.user.id, recording: [])
                    #expect(outcome == .removed)
                },
                isValid: { try await $0.store.passkey(passkey(2).digest) != nil },
                isLeft: { try #require(try await $0.store.user(world.user.id)).disabledAt == nil },
                report: report)
        },
        EndingChange("a deleted security key", [.passkey]) { world async throws in
            @Sendable func key(_ number: UInt8) -> Passkey { .example(number, of: world.user) }
            let factor = SecondFactor.example(of: world.user)
            @Sendable func change(_ world: World, _ change: SecondFactorChange, step: Int64) async throws {
                let outcome = try await world.store.changeSecondFactor(
                    of: world.user.id, to: change, proving: .code(factor.digest, step: factor.lastStep + step),
                    recording: [])
                #expect(outcome == .changed)
            }
            return Steps(
                prepare: { world async throws in
                    _ = try await world.store.addSecondFactor(factor, recoveryCodes: [], keeping: nil, recording: [])
                    try await change(world, .keyAddition(key(1)), step: 1)
                    try await change(world, .keyAddition(key(2)), step: 2)
                },
                end: { world async throws in try await change(world, .keyRemoval(key(1).digest), step: 3) },
                isValid: { try await $0.store.passkey(key(1).digest) != nil },
                isLeft: { world async throws in
                    try await world.store.securityKeys(of: world.user.id) == [key(2)]
                })
        },
        EndingChange("a used recovery code", [.recoveryCode]) { world async throws in
            let (used, left) = (ArtefactDigest(of: SessionToken()), ArtefactDigest(of: SessionToken()))
            let (factor, session) = (SecondFactor.example(of: world.user), Session.lasting(of: world.user))
            return Steps(
                prepare: { world async throws in
                    let added = try await world.store.addSecondFactor(
                        factor, recoveryCodes: [used, left], keeping: nil, recording: [])
                    #expect(added == .added)
                },
                end: { world async throws in
                    let begun = try await world.store.beginSession(
                        session, proving: .twoFactors(.example, .recoveryCode(used)), replacing: nil, recording: [])
                    #expect(begun == .begun(session.id))
                },
                isValid: { try await $0.store.hasRecoveryCode(used, of: $0.user.id) },
                isLeft: { world async throws in
                    let state = try await world.store.secondFactor(of: world.user.id)
                    return try await world.store.hasRecoveryCode(left, of: world.user.id)
                        && state == .active(factor, recoveryCodes: 1)
                })
        },
        EndingChange("a second factor that was set up", [.secondFactor, .session]) { world async throws in
            var report = RestoreReport()
            report.withoutSecondFactor = [world.user.username.rawValue]
            return Steps(
                end: { world async throws in
                    let added = try await world.store.addSecondFactor(
                        .example(of: world.user), recoveryCodes: [], keeping: nil, recording: [])
                    #expect(added == .added)
                },
                isValid: { world async throws in
                    let session = Session.lasting(of: world.user)
                    let outcome = try await world.store.beginSession(
                        session, proving: .example, replacing: nil, recording: [])
                    return outcome == .begun(session.id)
                },
                isLeft: { try await $0.store.secondFactor(of: $0.user.id) == .lost },
                report: report)
        },
        EndingChange("a replaced second factor", [.secondFactor, .recoveryCode]) { world async throws in
            let (former, new) = (SecondFactor.example(of: world.user), SecondFactor.example(of: world.user))
            let code = ArtefactDigest(of: SessionToken())
            var report = RestoreReport()
            report.withoutSecondFactor = [world.user.username.rawValue]
            return Steps(
                prepare: { world async throws in
                    let added = try await world.store.addSecondFactor(
                        former, recoveryCodes: [code], keeping: nil, recording: [])
                    #expect(added == .added)
                },
                end: { world async throws in
                    let changed = try await world.store.changeSecondFactor(
                        of: world.user.id, to: .replacement(new, recoveryCodes: [], keeping: nil),
                        proving: .code(former.digest, step: former.lastStep + 1), recording: [])
                    #expect(changed == .changed)
                },
                isValid: { world async throws in
                    guard case .active(let factor, _) = try await world.store.secondFactor(of: world.user.id) else {
                        return false
                    }
                    return factor.digest == former.digest
                },
                // The new one is not in the copy, and the user does not get in without it.
                isLeft: { try await $0.store.secondFactor(of: $0.user.id) == .lost },
                report: report)
        },
    ]
}
