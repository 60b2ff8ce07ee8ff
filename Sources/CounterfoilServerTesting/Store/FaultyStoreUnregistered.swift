// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension FaultyStore: UnregisteredClientStore {
    public func updateUnregisteredClientPolicy(
        _ policy: UnregisteredClientPolicy, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateUnregisteredClientPolicyOutcome {
        try await enter(.updateUnregisteredClientPolicy)
        return try await store.updateUnregisteredClientPolicy(policy, recording: events)
    }

    public func refuseHost(
        _ host: HostPattern, recording events: [AuditEvent]
    ) async throws(StoreFault) -> RefuseHostOutcome {
        try await enter(.updateUnregisteredClientPolicy)
        return try await store.refuseHost(host, recording: events)
    }

    public func addSelfRegisteredClient(
        _ client: RegisteredClient, secret: ClientSecretRecord?, unusedLimit: Int,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddClientOutcome {
        try await enter(.addSelfRegisteredClient)
        return try await store.addSelfRegisteredClient(
            client, secret: secret, unusedLimit: min(unusedLimit, self.unusedLimit), recording: events
        )
    }

    public func userCount(of id: ClientIdentifier, atMost limit: Int) async throws(StoreFault) -> Int {
        try await enter(.userCount)
        return try await store.userCount(of: id, atMost: limit)
    }

    public func addInitialAccessToken(
        _ token: InitialAccessToken, recording events: [AuditEvent]
    ) async throws(StoreFault) {
        try await enter(.addInitialAccessToken)
        try await store.addInitialAccessToken(token, recording: events)
    }

    public func initialAccessTokens() async throws(StoreFault) -> [InitialAccessToken] {
        try await enter(.initialAccessTokens)
        return try await store.initialAccessTokens()
    }

    public func initialAccessToken(
        _ digest: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> InitialAccessToken? {
        try await enter(.initialAccessTokens)
        return try await store.initialAccessToken(digest, at: time)
    }

    @discardableResult
    public func removeInitialAccessToken(
        _ digest: ArtefactDigest, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await enter(.removeInitialAccessToken)
        return try await store.removeInitialAccessToken(digest, recording: events)
    }
}
