import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: device authorizations")
struct DeviceContractTests {
    private static let limits = DeviceAuthorizationLimits(perSource: 3, total: 5)
    private static let now = World.now

    @Test(arguments: StoreKind.allCases)
    func `a device authorization is read back by its user code until it expires`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let device = try DeviceAuthorization.example(of: world.client)
            #expect(try await world.store.addDeviceAuthorization(device, within: Self.limits) == .added)
            #expect(try await world.store.deviceAuthorization(userCode: device.userCode, at: Self.now) == device)
            #expect(
                try await world.store.deviceAuthorization(userCode: device.userCode, at: device.expiresAt) == nil)
            #expect(
                try await world.store.deviceAuthorization(userCode: ArtefactDigest(of: UserCode()), at: Self.now) == nil
            )
            try await world.store.removeClient(world.client.id)
            #expect(try await world.store.deviceAuthorization(userCode: device.userCode, at: Self.now) == nil)
            #expect(try await world.store.addDeviceAuthorization(device, within: Self.limits) == .clientDeleted)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a taken user code, a full source and a full store are refused until records expire`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            func add(
                _ code: UserCode = UserCode(), from source: String, at time: Date = Self.now, perSource: Int? = 3
            ) async throws -> AddDeviceAuthorizationOutcome {
                try await world.store.addDeviceAuthorization(
                    .example(of: world.client, userCode: code, source: source, at: time),
                    within: DeviceAuthorizationLimits(perSource: perSource, total: 8))
            }
            let code = UserCode()
            #expect(try await add(code, from: "192.0.2.1") == .added)
            #expect(try await add(code, from: "192.0.2.2") == .userCodeTaken)
            #expect(try await add(from: "192.0.2.1") == .added)
            #expect(try await add(from: "192.0.2.1") == .added)
            #expect(try await add(from: "192.0.2.1") == .tooMany)
            #expect(try await add(from: "192.0.2.1", perSource: nil) == .added)
            // The second half of the total is for sources with few records.
            #expect(try await add(from: "192.0.2.2") == .added)
            #expect(try await add(from: "192.0.2.2") == .tooMany)
            for number in 3...5 { #expect(try await add(from: "192.0.2.\(number)") == .added) }
            #expect(try await add(from: "192.0.2.6") == .tooMany)
            #expect(try await add(from: "192.0.2.1", at: Self.now + 600) == .added)
        }
    }

    // RFC 8628 §3.5, the interval grows by 5 seconds for good. The poll of another client changes nothing.
    @Test(arguments: StoreKind.allCases)
    func `an early poll increases the interval for all further polls`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let device = try await world.addDevice()
            let other = try RegisteredClient.named("app-other")
            #expect(try await world.store.addClient(other) == .added)
            let polls: [(ClientIdentifier, TimeInterval, isTooEarly: Bool, interval: Int)] = [
                (other.id, 0, false, 5), (world.client.id, 0, false, 5), (other.id, 1, false, 5),
                (world.client.id, 5, false, 5), (world.client.id, 6, true, 10), (world.client.id, 12, true, 15),
                (world.client.id, 27, false, 15),
            ]
            for (client, seconds, isTooEarly, interval) in polls {
                let poll = try await world.store.pollDevice(device.digest, by: client, at: Self.now + seconds)
                guard case .unanswered(let read, let early) = poll else {
                    Issue.record("\(poll)")
                    return
                }
                #expect(early == isTooEarly)
                #expect(read.interval == interval)
            }
            let digest = ArtefactDigest(of: DeviceCode())
            #expect(try await world.store.pollDevice(digest, by: world.client.id, at: Self.now) == .unknown)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approved device code is polled with its grant and session, and redeemed once`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let device = try await world.addDevice()
            let (grant, code) = try await world.approve(device)
            let facts = CodeFacts(code: code, grant: grant, user: world.user)
            #expect(
                try await world.store.pollDevice(device.digest, by: world.client.id, at: Self.now)
                    == .approved(facts, session: world.session))
            #expect(try await world.store.deviceAuthorization(userCode: device.userCode, at: Self.now) == nil)
            let store = world.store
            let counts = try await outcomes(of: 100) { _ in
                try await store.consumeCode(device.digest, beginning: nil, at: Self.now + 1)
            }
            #expect(counts == [.consumed: 1, .alreadyUsed: 99])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of approvals and denials at once exactly one counts`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let device = try await world.addDevice()
            let store = world.store
            let counts = try await outcomes(of: 100) { number in
                guard number.isMultiple(of: 2) else {
                    return try await store.denyDevice(device.digest, at: Self.now) == .denied
                }
                let grant = world.grant()
                let approval = world.approval(grant, .example(of: device, for: grant))
                return try await store.recordConsent(approval) == .recorded
            }
            #expect(counts == [true: 1, false: 99])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a denied, expired or foreign device authorization cannot be approved`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let denied = try await world.addDevice()
            #expect(try await world.store.denyDevice(denied.digest, at: Self.now) == .denied)
            #expect(try await world.store.denyDevice(denied.digest, at: Self.now) == .notPending)
            let expired = try await world.addDevice(at: Self.now - 600)
            #expect(try await world.store.denyDevice(expired.digest, at: Self.now) == .notPending)
            let other = try RegisteredClient.named("app-other")
            #expect(try await world.store.addClient(other) == .added)
            let foreign = try DeviceAuthorization.example(of: other)
            #expect(try await world.store.addDeviceAuthorization(foreign, within: Self.limits) == .added)
            for device in [denied, expired, foreign] {
                let grant = world.grant()
                let outcome = try await world.store.recordConsent(
                    world.approval(grant, .example(of: device, for: grant)))
                #expect(outcome == .deviceNotPending)
                #expect(try await world.store.grant(grant.id) == nil)
                #expect(try await world.consent == nil)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an expired device authorization is deleted after ten minutes`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let device = try await world.addDevice()
            func sweep(at time: Date) async throws -> Int {
                try await world.store.deleteExpired(
                    ExpirationLimits(
                        now: time, codesBefore: .distantPast, sessionsIdleBefore: .distantPast,
                        refreshIdleBefore: .distantPast, grantsBefore: .distantPast), atMost: 10)
            }
            #expect(try await sweep(at: device.expiresAt + 600) == 0)
            #expect(try await sweep(at: device.expiresAt + 601) == 1)
            #expect(
                try await world.store.pollDevice(device.digest, by: world.client.id, at: Self.now) == .unknown)
        }
    }
}

extension DeviceAuthorization {
    static func example(
        of client: RegisteredClient, userCode: UserCode = UserCode(), source: String = "2001:db8::9",
        at time: Date = World.now
    ) throws -> DeviceAuthorization {
        DeviceAuthorization(
            digest: ArtefactDigest(of: DeviceCode()), userCode: ArtefactDigest(of: userCode), clientID: client.id,
            scope: Scope([.openID, .profile]), resources: [try Resource("https://api.example.com/")],
            codeChallenge: CodeChallenge(of: CodeVerifier()), requestedAt: time, expiresAt: time + 600, source: source,
            userAgent: "TV/1.0 (Linux)")
    }
}

extension CodeRecord {
    static func example(of device: DeviceAuthorization, for grant: Grant) -> CodeRecord {
        CodeRecord(
            digest: device.digest, interaction: ArtefactDigest(of: InteractionIdentifier()), grantID: grant.id,
            redirectURI: nil, requestedScope: device.scope, codeChallenge: device.codeChallenge, nonce: nil,
            issuedAt: grant.createdAt, expiresAt: device.expiresAt)
    }
}

extension World {
    /// Adds a device authorization of the client to the store.
    func addDevice(at time: Date = World.now) async throws -> DeviceAuthorization {
        let device = try DeviceAuthorization.example(of: client, at: time)
        let outcome = try await store.addDeviceAuthorization(
            device, within: DeviceAuthorizationLimits(perSource: nil, total: 1000))
        #expect(outcome == .added)
        return device
    }

    /// Approves a device authorization in the session of the user.
    func approve(_ device: DeviceAuthorization) async throws -> (Grant, CodeRecord) {
        let grant = grant()
        let code = CodeRecord.example(of: device, for: grant)
        #expect(try await store.recordConsent(approval(grant, code, pkce: .notNeeded)) == .recorded)
        return (grant, code)
    }
}
