package import Foundation

/// A server key, and what still needs it.
package struct ServerKeyState: AdministrationDocument, Decodable, Hashable {
    typealias Member = CodingKeys

    package enum State: String, Sendable, Codable {
        /// The first key, which makes everything.
        case current
        /// A key that is accepted, and was the first one before.
        case former
        /// A key that is accepted, and that no server has used as the first one yet.
        case next
        /// A key that was the first one, and is not accepted any more although something needs it.
        case missing
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case fingerprint, state, needs
        case firstUntil = "first_until"
    }

    /// One of ``ServerKey/fingerprints``.
    package let fingerprint: String
    package let state: State
    /// The last time at which it was the first key of a server; nil for the current key, and if it never was.
    package let firstUntil: String?
    package let needs: [ServerKeyNeed]

    package init(fingerprint: String, state: State, firstUntil: Date?, needs: [ServerKeyNeed]) {
        self.fingerprint = fingerprint
        self.state = state
        self.firstUntil = firstUntil.map(Moment.text)
        self.needs = needs
    }
}

/// A kind of records that still needs a server key.
package struct ServerKeyNeed: Sendable, Hashable, Codable {
    /// The kinds of what a server key has made.
    package enum Kind: String, Sendable, Codable {
        case signingKeys = "signing-keys"
        case refreshTokens = "refresh-tokens"
        /// Refresh tokens that clients use again although they got new ones.
        case keptRefreshTokens = "kept-refresh-tokens"
        case certificateAccount = "certificate-account"
        case certificate
        case identifierKeys = "identifier-keys"
        case secondFactors = "second-factors"
        /// The secrets of webhooks.
        case webhooks
        /// Forms on pages that are open, and mails and logout notifications of deleted users that wait.
        case forms
    }

    private enum CodingKeys: String, CodingKey {
        case kind, count, until
        case lastUsed = "last_used"
    }

    package let kind: Kind
    /// The number of records; nil if the store has none.
    package let count: Int?
    /// The time from which nothing of this kind needs the key; nil if a server must do something first.
    package let until: String?
    /// The last use of a kept refresh token; nil for other kinds.
    package let lastUsed: String?

    package init(kind: Kind, count: Int?, until: Date?, lastUsed: Date? = nil) {
        self.kind = kind
        self.count = count
        self.until = until.map(Moment.text)
        self.lastUsed = lastUsed.map(Moment.text)
    }
}
