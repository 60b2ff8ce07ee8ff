import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct UserInvite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Invite a person to create an account.",
        discussion: """
            The command prints a link with which one person creates one account, with a user name and a password of \
            their choice. Anyone who has the link can use it, so give it only to that person. It is shown once, and \
            needs --sign-up invited or open of serve.

            With --email, the account gets this address. If the server sends email, the link is sent there and not \
            printed, and its use verifies the address.

            Examples:
              counterfoil-server user invite --email ada@example.com --data-dir ./data
              counterfoil-server user invite --role support --days 1 --data-dir ./data
            """
    )

    @Option(name: .long, help: "The email address of the account.")
    var email: String?

    @Option(name: .long, help: "The role of the user in the administration of this server.")
    var role: UserRole?

    @Option(name: .long, help: ArgumentHelp("The client_id of the app that the page names.", valueName: "client_id"))
    var client: String?

    @Option(name: .long, help: ArgumentHelp("The days until the link expires, 1 to 30.", valueName: "days"))
    var days = Invitations.standardDays

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The language of the email: \(Language.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "language"))
    var language = Language.standard.rawValue

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard email.map({ EmailAddress($0) != nil }) ?? true else {
            throw ValidationError("--email: \(email ?? "") is not a valid email address.")
        }
        guard (1...30).contains(days) else { throw ValidationError("--days must be 1 to 30.") }
        guard Language(rawValue: language) != nil else {
            throw ValidationError(
                "--language must be one of \(Language.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            guard let issuer = installation.issuer, let signUp = installation.recorded.signUp else {
                throw CommandFailure.refused(
                    "no server has run on this store, so the URL of the link is unknown; start the server first")
            }
            guard signUp != .closed else {
                throw CommandFailure.refused(
                    "this server lets no one create an account; set sign-up to invited or open, and reload its settings"
                )
            }
            var draft = Invitations.Draft(
                email: email.flatMap(EmailAddress.init), role: role, days: days)
            if let client { draft.clientID = try await installation.client(client).id }
            if installation.recorded.sendsMail == true, draft.email != nil {
                draft.mailLanguage = Language(rawValue: language)
            }
            let invitations = Invitations(issuer: issuer, store: installation.store, serverKey: installation.serverKey)
            let outcome = try await invitations.invite(draft, now: installation.store.now()) {
                installation.event(.account, client: $0.clientID, detail: $1)
            }
            let (invitation, link): (Invitation, String?)
            switch outcome {
            case .invited(let created, let url): (invitation, link) = (created, url)
            case .emailTaken: throw CommandFailure.refused("a user has the email address \(email ?? "") already")
            case .tooMany:
                throw CommandFailure.refused(
                    "\(Invitation.limit) invitations are not used; withdraw some of them, or wait until they expire")
            case .queueFull: throw CommandFailure.temporary("too many mails wait to be sent; try again later")
            }
            if options.json { return try Output.json(InvitationDocument(invitation, link: link)) }
            let shown: String
            if let link {
                Output.line(link)
                shown = "The link is shown only once."
            } else {
                shown = "The link is sent to \(email ?? "") and not shown here, because its use verifies the address."
            }
            Output.note(
                "\(shown) It expires at \(Moment.text(invitation.expiresAt)); to withdraw it earlier, run: "
                    + "counterfoil-server user withdraw \(invitation.shortID)")
        }
    }
}
