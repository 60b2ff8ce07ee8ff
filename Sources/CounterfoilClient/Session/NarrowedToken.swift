import CounterfoilPlatform
import CounterfoilProtocol

/// A cached access token for a part of a sign-in.
struct NarrowedToken: Sendable, Hashable, Codable {
    let target: AccessTarget
    @StoredToken private(set) var accessToken: AccessToken
    let expires: Date?
    /// The time at which the token arrived, by this device's clock; nil if it is not known.
    let received: Date?
    let scope: Scope

    /// The maximum number of cached tokens of a sign-in.
    static let limit = 16

    private enum CodingKeys: String, CodingKey {
        case target, expires, received, scope
        case accessToken = "access_token"
    }

    init(_ issued: Credentials, for target: AccessTarget) {
        self.target = target
        accessToken = issued.accessToken
        expires = issued.expires
        received = issued.received
        scope = issued.scope
    }
}

/// An access token as a member of a stored record, which contains its text.
@propertyWrapper struct StoredToken: Sendable, Hashable, Codable {
    var wrappedValue: AccessToken

    init(wrappedValue: AccessToken) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let token = AccessToken(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "malformed")
        }
        wrappedValue = token
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue.exposed)
    }
}

extension Credentials {
    /// Returns the credentials to use for a target: these, if it is nil; otherwise those with the cached token.
    ///
    /// Nil if no token is cached for the target. The token may have expired.
    func cached(for target: AccessTarget?) -> Credentials? {
        guard let target else { return self }
        guard let token = narrowed.first(where: { $0.target == target }) else { return nil }
        var part = self
        part.accessToken = token.accessToken
        part.expires = token.expires
        part.received = token.received
        part.scope = token.scope
        part.resources = resources(of: target)
        part.foreignOrigins = foreignOrigins(of: target)
        part.target = target
        (part.refreshToken, part.idToken, part.narrowed) = (nil, nil, [])
        return part
    }

    /// Returns these credentials with a new access token in the cache, and with the refresh token that came with it.
    ///
    /// RFC 6749 §6: a narrower access token does not change the grant, so the former access token stays. Tokens that
    /// have expired are deleted, and the oldest one if there are more than ``NarrowedToken/limit``.
    func caching(_ issued: Credentials, for target: AccessTarget, at now: Date) -> Credentials {
        var caching = self
        caching.refreshToken = issued.refreshToken ?? refreshToken
        caching.details.merge(issued.details) { $1 }
        caching.narrowed.removeAll { $0.target == target || $0.expires.map { $0 <= now } ?? false }
        caching.narrowed.append(NarrowedToken(issued, for: target))
        caching.narrowed.removeFirst(max(0, caching.narrowed.count - NarrowedToken.limit))
        caching.refusedParts.remove(target)
        return caching
    }

    /// Returns these credentials without a token for a part of the sign-in, for which the server issues none.
    ///
    /// That is known until the next refresh of the whole sign-in, and of ``NarrowedToken/limit`` parts at most.
    func refusing(_ part: AccessTarget) -> Credentials {
        var kept = self
        kept.narrowed.removeAll { $0.target == part }
        if kept.refusedParts.count < NarrowedToken.limit { kept.refusedParts.insert(part) }
        return kept
    }

    /// Returns whether the server has refused to issue a token for a part of the sign-in only.
    package func isRefused(_ target: AccessTarget) -> Bool {
        (try? narrower(target)).map { refusedParts.contains($0) } ?? false
    }

    /// Returns these credentials after an access token was rejected before its expiration; nil if it is none of them.
    func expiring(_ rejected: AccessToken, at now: Date) -> Credentials? {
        var kept = self
        if accessToken == rejected {
            kept.expires = now
        } else {
            kept.narrowed.removeAll { $0.accessToken == rejected }
            guard kept.narrowed.count < narrowed.count else { return nil }
        }
        return kept
    }
}
