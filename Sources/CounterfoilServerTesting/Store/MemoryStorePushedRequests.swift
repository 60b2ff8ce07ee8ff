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
            let fromSource = ofClient.filter { $0.source == request.source }
            let counted = [
                (ofClient, limits.ofClient), (fromSource, request.source == nil ? nil : limits.fromSource),
            ]
            for case (let requests, let limit?) in counted where requests.count >= limit {
                return .tooMany(until: requests.map(\.expiresAt).min() ?? request.pushedAt)
            }
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
