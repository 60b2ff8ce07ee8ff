import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The command `user link`; the record of the link is a `UserLink`.
struct UserLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Print a one-time link by which a user sets a new password.",
        discussion: """
            Use it for a user who cannot sign in. Make sure that the request comes from the user, and send the link \
            over a channel that others do not read. Who has the link has the account, unless the user has a second \
            factor: the link asks for its code, too.

            The link works once, in any browser. A newer link replaces it, and it ends with each new password. When \
            it is used, all sessions of the user end. You do not learn the password.

            Example:
              counterfoil-server user link alice --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(name: .long, help: ArgumentHelp("The hours until the link expires, 1 to 168.", valueName: "hours"))
    var hours = 24

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard UserAdministration.linkHours.contains(hours) else {
            throw ValidationError("--hours must be 1 to \(UserAdministration.linkHours.upperBound).")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let user = try await installation.user(argument.name)
            guard let issuer = installation.issuer else {
                throw CommandFailure.refused(
                    "no server has run with this data, so its URL is not known; start the server once, then try again")
            }
            let link = try await installation.users.createLink(for: user.id, hours: hours, at: issuer)
            guard let (url, expires) = link else { throw CommandFailure.disabled(user) }
            if options.json { return try Output.json(Created(sub: user.id.rawValue, url: url, expires: expires)) }
            Output.line(url)
            Output.note(
                "The link is shown only once. It works once, until \(Moment.text(expires)), and ends all sessions of "
                    + "\(user.username) when it is used.")
        }
    }

    private struct Created: Encodable {
        let sub: String
        let url: String
        let expires_at: Int

        init(sub: String, url: String, expires: Date) {
            self.sub = sub
            self.url = url
            expires_at = Int(expires.timeIntervalSince1970)
        }
    }
}

extension CommandFailure {
    static func disabled(_ user: User, _ done: String = "") -> CommandFailure {
        .refused(
            "the user \(user.username) is disabled\(done); enable the account first with: "
                + "counterfoil-server user enable \(user.username)")
    }
}
