// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension FaultyStore: DeviceAuthorizationStore {
    public func addDeviceAuthorization(
        _ authorization: DeviceAuthorization, within limits: DeviceAuthorizationLimits
    ) async throws(StoreFault) -> AddDeviceAuthorizationOutcome {
        try await enter(.addDeviceAuthorization)
        return try await store.addDeviceAuthorization(authorization, within: limits)
    }

    public func deviceAuthorization(
        userCode: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> DeviceAuthorization? {
        try await enter(.deviceAuthorization)
        return try await store.deviceAuthorization(userCode: userCode, at: time)
    }

    public func pollDevice(
        _ digest: ArtefactDigest, by client: ClientIdentifier, at time: Date
    ) async throws(StoreFault) -> DevicePoll {
        try await enter(.pollDevice)
        let poll = try await store.pollDevice(digest, by: client, at: time)
        guard case .approved(let facts, let session) = poll else { return poll }
        return .approved(
            CodeFacts(code: facts.code, grant: facts.grant, person: seen(facts.person)), session: session)
    }

    public func denyDevice(
        _ digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> DenyDeviceOutcome {
        try await enter(.denyDevice)
        return try await store.denyDevice(digest, at: time, recording: events)
    }
}
