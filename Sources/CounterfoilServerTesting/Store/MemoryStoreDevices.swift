// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: DeviceAuthorizationStore {
    public func addDeviceAuthorization(
        _ authorization: DeviceAuthorization, within limits: DeviceAuthorizationLimits
    ) async throws(StoreFault) -> AddDeviceAuthorizationOutcome {
        state.withLock { state in
            guard authorization.clientID.isURL || state.clients.contains(where: { $0.id == authorization.clientID })
            else { return .clientDeleted }
            guard !state.isBeingRemoved(authorization.clientID) else { return .clientDeleted }
            let current = state.devices.values.filter { $0.expiresAt > authorization.requestedAt }
            let reached = limits.shared.reached(by: CountedSource(authorization.source)) {
                SharedLimit.Count<Date>(current.count, first: nil)
            } of: { network in
                SharedLimit.Count<Date>(current.count { network.contains($0.source) }, first: nil)
            }
            guard reached == nil else { return .tooMany }
            guard !state.devices.values.contains(where: { $0.userCode == authorization.userCode }) else {
                return .userCodeTaken
            }
            state.devices[authorization.digest] = authorization
            return .added
        }
    }

    public func deviceAuthorization(
        userCode: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> DeviceAuthorization? {
        state.withLock { state in
            state.devices.values.first { $0.userCode == userCode && $0.isPending(at: time) }
        }
    }

    public func pollDevice(
        _ digest: ArtefactDigest, by client: ClientIdentifier, at time: Date
    ) async throws(StoreFault) -> DevicePoll {
        state.withLock { state in
            guard var authorization = state.devices[digest] else { return state.approvedDevice(digest) }
            guard authorization.clientID == client, authorization.isPending(at: time) else {
                return .unanswered(authorization, isTooEarly: false)
            }
            let isTooEarly = authorization.poll(at: time)
            state.devices[digest] = authorization
            return .unanswered(authorization, isTooEarly: isTooEarly)
        }
    }

    public func denyDevice(
        _ digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> DenyDeviceOutcome {
        commit(recording: events) { state in
            guard state.devices[digest]?.isPending(at: time) ?? false else { return .notPending }
            state.devices[digest]?.deniedAt = time
            return .denied
        }
    }
}

extension MemoryStore.State {
    /// Returns true if the device authorization that a `device_code` replaces can be answered by the approval.
    func isPending(_ code: CodeRecord, of grant: Grant) -> Bool {
        guard let device = devices[code.digest] else { return false }
        return device.isPending(at: grant.createdAt) && device.clientID == grant.clientID
    }

    /// Returns true if a grant has a `device_code` that is not redeemed yet.
    func hasUnusedDeviceCode(_ grant: Grant) -> Bool {
        codes.values.contains { $0.grantID == grant.id && $0.isDeviceCode && $0.usedAt == nil }
    }

    /// Returns true if the session in which the user gave a grant is stored and has not expired.
    func isSessionStored(of grant: Grant, at time: Date) -> Bool {
        sessions.values.contains {
            $0.id == grant.sessionID && $0.personID == grant.personID && $0.expiresAt > time
        }
    }

    fileprivate func approvedDevice(_ digest: ArtefactDigest) -> DevicePoll {
        guard let code = codes[digest], let grant = grants[code.grantID], let person = people[grant.personID] else {
            return .unknown
        }
        return .approved(
            CodeFacts(code: code, grant: grant, person: person),
            session: sessions.values.first { $0.id == grant.sessionID && $0.personID == person.id })
    }
}
