import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol
import Foundation

/// `counterfoil logout` ends a sign-in.
struct Logout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget the token here, and revoke it at the server where the server can.",
        discussion: """
            The token is removed from this device in any case.

            Example:
              counterfoil logout

            \(ExitStatus.help)
            """
    )

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let store = try await common.openStore().store
            guard let credentials = try await store.credentials(of: common.profile) else {
                return try finish(Ended(profile: common.profile, isRemoved: false, isRevoked: false, expires: nil))
            }
            let expires = credentials.isExpired() ? nil : credentials.expires
            let isRevoked: Bool
            do throws(SessionError) {
                isRevoked = try await TokenSession(store: store, profile: common.profile).signOut() == .revoked
            } catch {
                guard case .unavailable(let cause) = error else { throw error }
                throw Failure(
                    Failure(cause).status,
                    "the token was removed here, but the server could not be told: \(cause)."
                        + (expires.map { " It expires there at \($0.formatted(.iso8601))." } ?? ""))
            }
            try finish(
                Ended(
                    profile: common.profile, isRemoved: true, isRevoked: isRevoked,
                    expires: isRevoked ? nil : expires))
        }
    }

    private func finish(_ end: Ended) throws {
        if common.json { try common.console.result(end) } else { common.console.result(end.sentence) }
    }
}

/// How a sign-in ended.
private struct Ended: Encodable {
    let profile: String
    let removed: Bool
    let revoked: Bool
    let expires_at: Date?

    init(profile: ProfileName, isRemoved: Bool, isRevoked: Bool, expires: Date?) {
        self.profile = profile.rawValue
        removed = isRemoved
        revoked = isRevoked
        expires_at = expires
    }

    var sentence: String {
        guard removed else { return "Nobody was signed in under the profile \(profile)." }
        if revoked { return "Signed out: the token was removed here and revoked at the server." }
        guard let expires_at else { return "Signed out: the token was removed here." }
        return "Signed out: the token was removed here. This server revokes none, so it expires there at "
            + "\(expires_at.formatted(.iso8601))."
    }
}
