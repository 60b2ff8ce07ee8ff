// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: PushedRequestStore {
    public func addPushedRequest(
        _ request: PushedRequest, within limits: PushedRequestLimits
    ) async throws(StoreFault) -> AddPushedRequestOutcome {
        state.withLock { state in
            guard request.clientID.isURL || state.clients.contains(where: { $0.id == request.clientID }) else {
                return .clientDeleted
            }
            guard !state.isBeingRemoved(request.clientID) else { return .clientDeleted }
            let ofClient = state.pushedRequests.values.filter {
                ($0.clientID == request.clientID || $0.clientID.isURL && request.clientID.isURL)
                    && $0.expiresAt > request.pushedAt
            }
            let reached = limits.shared.reached(by: request.source.map { CountedSource($0) }) {
                SharedLimit.Count(ofClient.count, first: ofClient.map(\.expiresAt).min())
            } of: { network in
                let counted = ofClient.filter { $0.source.map(network.contains) ?? false }
                return SharedLimit.Count(counted.count, first: counted.map(\.expiresAt).min())
            }
            if let reached { return .tooMany(until: reached.first ?? request.pushedAt) }
            state.pushedRequests[request.digest] = request
            return .added
        }
    }

    public func openPushedRequest(
        _ digest: ArtefactDigest, of client: ClientIdentifier, at now: Date, until later: Date
    ) async throws(StoreFault) -> PushedRequest? {
        state.withLock { state in
            guard var request = state.pushedRequests[digest], request.clientID == client, request.expiresAt > now else {
                return nil
            }
            if request.openedAt == nil {
                request.openedAt = now
                request.expiresAt = max(request.expiresAt, later)
                state.pushedRequests[digest] = request
            }
            return request
        }
    }

    @discardableResult
    public func removePushedRequest(_ digest: ArtefactDigest) async throws(StoreFault) -> Bool {
        state.withLock { $0.pushedRequests.removeValue(forKey: digest) != nil }
    }
}

extension MemoryStore.State {
    /// Returns true if the client of an approval still has the pushed request, or if there is none.
    func hasPushedRequest(of approval: Approval) -> Bool {
        guard let digest = approval.pushedRequest else { return true }
        guard let request = pushedRequests[digest] else { return false }
        return request.clientID == approval.grant.clientID && request.expiresAt > approval.grant.createdAt
    }
}
