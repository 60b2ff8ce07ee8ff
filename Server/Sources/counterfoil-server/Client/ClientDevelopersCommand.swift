import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct ClientDevelopersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "developers",
        abstract: "List the users who manage an app with its owner, or change them.",
        discussion: """
            They can do everything at /apps that the owner can, except delete the app and hand it over. A user who is \
            added manages the app at once. To give the app another owner, run: app edit CLIENT_ID --developer NAME

            Examples:
              counterfoil-server app developers CLIENT_ID --data-dir ./data
              counterfoil-server app developers CLIENT_ID --add bob --remove eve --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @Option(name: .long, help: ArgumentHelp("A user who manages the app from now on; repeatable.", valueName: "user"))
    var add: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A user who no longer manages the app, or is no longer asked to; repeatable.", valueName: "user"))
    var remove: [String] = []

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let client = try await installation.client(argument.clientID)
            // Every name is known before the first change.
            var added: [User] = []
            for name in add { added.append(try await installation.user(name)) }
            var removed: [User] = []
            for name in remove { removed.append(try await installation.user(name)) }
            let now = installation.store.now()
            let team = ClientTeam(
                installation.store, by: .command, unapproved: .open, notifying: installation.mails, at: now)
            for user in removed { try require(try await team.remove(user, from: client.id), of: user, client) }
            for user in added { try require(try await team.add(user, to: client.id), of: user, client) }
            let developers = try await installation.store.developers(of: client.id)
            if options.json { return try Output.json(developers.map { ClientDeveloperDocument($0) }) }
            if developers.isEmpty { Output.line("No one but its owner manages \(client.displayName).") }
            for developer in developers {
                Output.line("\(developer.user.username)  since \(CalendarDay(of: developer.since))")
            }
            for question in try await installation.store.clientQuestions(of: client.id, at: now) {
                Output.line("\(question.username)  asked, can accept until \(CalendarDay(of: question.expires))")
            }
        }
    }

    private func require(
        _ outcome: ClientDeveloperOutcome, of user: User, _ client: RegisteredClient
    ) throws {
        switch outcome {
        case .changed: return
        case .unchanged:
            Output.note(
                user.disabledAt == nil
                    ? "Nothing to change for \(user.username)."
                    : "warning: \(user.username) is disabled and was not added; enable the user first with: "
                        + "counterfoil-server user enable \(user.username)")
        case .tooMany:
            throw CommandFailure.refused(
                "the app has \(ClientDeveloper.limit) developers already, or \(user.username) manages "
                    + "\(ClientDeveloper.clientLimit) apps; remove one first with: counterfoil-server app developers "
                    + "\(client.id) --remove NAME")
        // Only a question and a handover have these outcomes, which a command does not make.
        case .tooManyQuestions, .changedMeanwhile, .notFound, .notAllowed:
            throw CommandFailure.noClient(argument.clientID)
        }
    }
}
