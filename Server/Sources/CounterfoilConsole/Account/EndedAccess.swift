import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The sentences that say what apps can still do after they were signed out or disconnected, and until when.
///
/// An API that verifies access tokens by itself accepts them until they expire (RFC 9068). This server refuses them at
/// once at UserInfo and at introspection.
struct EndedAccess: Sendable {
    let console: Console

    /// Returns the sentence for an app that the user has disconnected; nil if the app is unknown.
    func after(disconnecting id: ClientIdentifier, _ exchange: Console.Exchange) async throws -> String? {
        guard let client = try await client(id) else { return nil }
        let left = try await console.store.leftoverAccess(
            of: exchange.user.id, to: id, under: nil, at: exchange.now)
        return try await sentence(about: left, of: client, orElse: .nothing, exchange)
    }

    /// Returns the sentence for a sign-in of an app that the user has ended; nil if the user has not ended it.
    func after(ending id: GrantIdentifier?, _ exchange: Console.Exchange) async throws -> String? {
        try await after(ending: id, of: exchange.user.id, orElse: .nothingThere, exchange)
    }

    /// Returns the sentence for a sign-in of an app that an administrator has ended; nil if the app can do nothing any
    /// more.
    func after(
        ending id: GrantIdentifier?, of user: UserIdentifier, _ exchange: Console.Exchange
    ) async throws -> String? {
        try await after(ending: id, of: user, orElse: nil, exchange)
    }

    private func after(
        ending id: GrantIdentifier?, of user: UserIdentifier, orElse nothing: Text?, _ exchange: Console.Exchange
    ) async throws -> String? {
        guard let id, let grant = try await console.store.grant(id), grant.userID == user, grant.revokedAt != nil
        else { return nil }
        let left = try await console.store.leftoverAccess(of: user, to: nil, under: id, at: exchange.now)
        return try await sentence(about: left, of: try await client(grant.clientID), orElse: nothing, exchange)
    }

    /// Returns the sentence for a sign-out of several apps; nil if they can do nothing any more.
    func afterEndingAll(of user: UserIdentifier, _ exchange: Console.Exchange) async throws -> String? {
        let left = try await console.store.leftoverAccess(
            of: user, to: nil, under: nil, at: exchange.now)
        var last: Date?
        for access in left where !Self.permissions(of: access).isEmpty {
            last = max(last ?? .distantPast, end(of: access, for: try await client(access.clientID)))
        }
        guard let last, last > exchange.now else { return nil }
        return exchange.words(
            LocalizedText(Text.several, ["time": .text(exchange.words.end(last, now: exchange.now))]))
    }

    private enum Text: String, LocalizationKey {
        case canStill = "account.ended.can-still"
        case nothing = "account.ended.nothing"
        case nothingThere = "account.ended.nothing-there"
        case several = "account.ended.several"
    }

    private func sentence(
        about left: [LeftoverAccess], of client: RegisteredClient?, orElse nothing: Text?,
        _ exchange: Console.Exchange
    ) async throws -> String? {
        let valid = left.map { (permissions: Self.permissions(of: $0), end: end(of: $0, for: client)) }
            .filter { !$0.permissions.isEmpty && $0.end > exchange.now }
        guard let last = valid.map(\.end).max() else { return nothing.map { exchange.words($0) } }
        let titles = try await console.titles(exchange)
        let permissions = Scope(valid.flatMap(\.permissions)).tokens.map { titles[$0] ?? $0.rawValue }
        return exchange.words(
            LocalizedText(
                Text.canStill,
                [
                    "time": .text(exchange.words.end(last, now: exchange.now)),
                    "permissions": .text(permissions.joined(separator: " · ")),
                ]))
    }

    /// The scopes with which a token opens an API; the standard ones open only this server, which asks for the grant.
    private static func permissions(of left: LeftoverAccess) -> [Scope.Token] {
        left.scope.tokens.filter { !$0.isStandard }
    }

    /// Returns the time after which no access token is valid.
    ///
    /// The use of a refresh token that is not rotated is recorded only once in `RefreshFamily.useResolution`, so a
    /// token can have been issued later than the record says, but not after the end.
    private func end(of left: LeftoverAccess, for client: RegisteredClient?) -> Date {
        let rotates = client.map { RefreshTokenTerms(of: $0, settings: console.settings).rotates } ?? false
        guard left.hadRefreshTokens, !rotates else { return left.until }
        let unrecorded = left.until.addingTimeInterval(RefreshFamily.useResolution)
        guard let client else { return unrecorded }
        let lifetime = client.policy.accessTokenLifetime ?? console.settings.accessTokenLifetime
        return max(left.until, min(unrecorded, left.endedAt.addingTimeInterval(TimeInterval(lifetime))))
    }

    /// Returns a client; nil if it does not exist or has a value that this version does not know.
    private func client(_ id: ClientIdentifier) async throws -> RegisteredClient? {
        try await StoreFault.supported { () async throws(StoreFault) in
            try await console.registry.atArrival().client(id)
        }
    }
}

extension Console {
    /// Returns the descriptions of scopes, in the user's language if the server has a translation.
    func titles(_ exchange: Exchange) async throws -> [Scope.Token: String] {
        Dictionary(
            try await registry.fresh().scopes().map { ($0.token, exchange.words($0)) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}
