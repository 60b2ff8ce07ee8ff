package import Foundation

/// A challenge that an authority is about to validate (RFC 8555 §8).
package struct PublishedChallenge: Sendable, Hashable {
    /// The type, such as `tls-alpn-01`.
    package let type: String
    /// The host that is validated.
    package let host: String
    package let token: String
    /// The key authorization (RFC 8555 §8.1), with which the challenge is answered.
    package let keyAuthorization: String

    package init(type: String, host: String, token: String, keyAuthorization: String) {
        self.type = type
        self.host = host
        self.token = token
        self.keyAuthorization = keyAuthorization
    }
}

/// Servers that answer the challenges of an authority, which can reach any of them.
package protocol ChallengePublisher: Sendable {
    /// The time in seconds after which every server answers a challenge that was published.
    var delay: TimeInterval { get }

    /// Lets every server answer challenges for some seconds, in place of all former ones.
    func publish(_ challenges: [PublishedChallenge], lasting: TimeInterval) async throws

    /// Ends the answers.
    func withdraw() async
}
