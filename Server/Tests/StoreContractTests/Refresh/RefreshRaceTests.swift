import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Two requests with tokens of one family at two servers.
@Suite("The contract: two refreshes at two servers at the same time", .timeLimit(.minutes(5)))
struct RefreshRaceTests {
    /// The reason for which a replaced token is no retry.
    enum Reuse: CaseIterable, Sendable { case successorUsed, graceEnded }

    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `a refresh and its retry at another server give the same successor`(
        kind: StoreKind, order: Race.Order
    ) async throws {
        try await Race.withServers(kind) { servers in
            let tokens = try await servers.tokens()
            let replies = try await Race.run(
                servers.refreshing(tokens, at: servers.first, servers.here),
                servers.refreshing(tokens, at: servers.second, servers.there), in: order)
            let next = try replies.0.tokenResponse
            let successor = try #require(next.refreshToken)
            #expect(try replies.1.tokenResponse.refreshToken == successor)
            #expect(successor != tokens.refreshToken)
            // A later retry within the grace period.
            servers.first.clock.advance(by: 59)
            for server in [servers.first, servers.second] {
                #expect(try await servers.refresh(tokens, at: server).tokenResponse.refreshToken == successor)
            }
            let events = try await servers.there.audit(AuditQuery(kind: .refreshRepeat))
            #expect(events.count == 3)
            try await servers.expectNoReuse()
            #expect(try await servers.refresh(next, at: servers.second).status == .ok)
        }
    }

    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `reuse at one server during a refresh at another one revokes the grant`(
        kind: StoreKind, order: Race.Order
    ) async throws {
        for reuse in Reuse.allCases {
            try await Race.withServers(kind) { servers in
                let (stolen, others) = (try await servers.tokens(), try await servers.tokens())
                var tokens = try await servers.refresh(stolen, at: servers.first).tokenResponse
                switch reuse {
                case .successorUsed: tokens = try await servers.refresh(tokens, at: servers.second).tokenResponse
                case .graceEnded: servers.first.clock.advance(by: 61)
                }
                let presented = Race.Change(store: servers.there, commit: .revokeGrant) {
                    try await servers.refresh(stolen, at: servers.second)
                }
                let (refreshed, refused) = try await Race.run(
                    servers.refreshing(tokens, at: servers.first, servers.here), presented, in: order)
                #expect(try refused.tokenError.error == "invalid_grant")
                #expect(try await servers.here.audit(AuditQuery(kind: .refreshReuse)).count == 1, "\(reuse)")
                if let next = try Race.tokens(in: refreshed) {
                    #expect(order != .secondWithinFirst, "\(reuse)")
                    try await servers.expectEnded(next)
                } else {
                    #expect(order != .firstWithinSecond, "\(reuse)")
                }
                try await servers.expectEnded(tokens)
                // Another grant of the same user to the same client.
                #expect(try await servers.refresh(others, at: servers.second).status == .ok)
            }
        }
    }

    // Whichever server receives the replaced token, the other one refuses the family as well.
    @Test(arguments: Race.kinds, Reuse.allCases)
    func `either server recognizes reuse of a token that the other one has replaced`(
        kind: StoreKind, reuse: Reuse
    ) async throws {
        try await Race.withServers(kind) { servers in
            for (one, other) in [(servers.first, servers.second), (servers.second, servers.first)] {
                let stolen = try await servers.tokens()
                var tokens = try await servers.refresh(stolen, at: one).tokenResponse
                switch reuse {
                case .successorUsed: tokens = try await servers.refresh(tokens, at: one).tokenResponse
                case .graceEnded: servers.first.clock.advance(by: 61)
                }
                #expect(try await servers.refresh(stolen, at: other).tokenError.error == "invalid_grant")
                try await servers.expectEnded(tokens)
            }
            #expect(try await servers.here.audit(AuditQuery(kind: .refreshReuse)).count == 2)
        }
    }
}
