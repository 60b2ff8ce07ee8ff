import CounterfoilStore
import Foundation

/// The networks from which users have signed in, in which the failures of others elsewhere do not count
/// (``SignInKeys``).
///
/// A network is an IPv4 address, or an IPv6 network of 64 bits. Its digest contains the password hash: an attacker who
/// knew a former password could have signed in from many networks.
struct EarlierNetworks: Sendable {
    let attempts: AttemptCounter

    /// The age from which a note is renewed, as for the time of the last use of a session.
    private static let renewal: TimeInterval = 60

    /// Returns true if a user has signed in from the network of a source with the present password.
    ///
    /// Without a user it does the same work for the typed name, so that the response time does not reveal whether the
    /// user exists.
    func contain(_ source: CountedSource?, for user: User?, named name: String, now: Date) async -> Bool {
        guard let network = source?.networks.first else { return false }
        let digest =
            user.map { self.digest(of: network, for: $0) }
            ?? attempts.keys.digest(of: name.lowercased(), in: network, as: .noAccount)
        return await attempts.noted(digest, now: now) != nil
    }

    /// Notes the network from which a user has just signed in, unless it was noted within a minute.
    func note(_ source: CountedSource?, for user: User, now: Date) async {
        guard let network = source?.networks.first else { return }
        let digest = self.digest(of: network, for: user)
        if let notedAt = await attempts.noted(digest, now: now), abs(now.timeIntervalSince(notedAt)) < Self.renewal {
            return
        }
        await attempts.note(EarlierNetwork(digest, of: user.id), now: now)
    }

    private func digest(of network: CountedSource.Network, for user: User) -> ArtefactDigest {
        attempts.keys.digest(
            of: "\(user.id)\0\(EarlierSignIn.mark(of: user.passwordHash))", in: network, as: .earlierSignIn)
    }
}
