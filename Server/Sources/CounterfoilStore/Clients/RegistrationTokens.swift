@_spi(Counterfoil) package import CounterfoilProtocol
import Foundation

/// The secret text of an ``InitialAccessToken``, which a developer sends to register a client (RFC 7591 §3).
package struct InitialAccessTokenText: Secret {
    package let exposed: String

    /// Generates a text of 256 random bits.
    package init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }

    package init(_ presented: AccessToken) { exposed = presented.exposed }
}

/// The token with which a client reads, changes and deletes its own registration, `registration_access_token`
/// (RFC 7592 §3).
package struct RegistrationAccessToken: Secret {
    package let exposed: String

    /// Generates a token of 256 random bits.
    package init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }

    package init(_ presented: AccessToken) { exposed = presented.exposed }
}

extension InitialAccessToken {
    /// Twelve hexadecimal digits that tell the tokens apart in documents and events.
    ///
    /// They are derived from ``digest`` by a second hash, and so contain no part of it.
    package var shortID: String {
        ArtefactDigest(naming: self).bytes.prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
