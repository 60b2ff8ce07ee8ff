public import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
public import CounterfoilStore
import Foundation

struct UserList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the users, sorted by user name.",
        discussion: """
            --search finds the users whose user name, email address or name begins with a text, and the user with an \
            identifier (sub). A filter must hold in addition. For a list in pages, give --limit, and --after with the \
            last user name of the page before.

            Examples:
              counterfoil-server user list --search ali --data-dir ./data
              counterfoil-server user list --role administrator --no-second-factor \\
                --data-dir ./data
              counterfoil-server user list --signed-in-before 2026-01-01 --limit 100 \\
                --after bob --json --data-dir ./data
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp("The beginning of a user name, email address or name, or a whole sub.", valueName: "text"))
    var search: String?

    @Option(name: .long, help: "Only users in this state: enabled or disabled.")
    var state: UserQuery.State?

    @Option(name: .long, help: "Only users with this role, or with none.")
    var role: UserQuery.Role?

    @Flag(name: .long, help: "Only users who have never signed in.")
    var neverSignedIn = false

    @Option(
        name: .long,
        help: ArgumentHelp("Only users whose last sign-in was before a day or time.", valueName: "time"))
    var signedInBefore: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Only users whose last sign-in was at a day or time, or later.", valueName: "time"))
    var signedInSince: String?

    @Flag(name: .long, help: "Only users without a second factor.")
    var noSecondFactor = false

    @Flag(name: .long, help: "Only users without a passkey.")
    var noPasskey = false

    @Option(name: .long, help: ArgumentHelp("The maximum number of users. (default: all)", valueName: "number"))
    var limit: Int?

    @Option(name: .long, help: ArgumentHelp("List the users after this user name.", valueName: "name"))
    var after: String?

    @OptionGroup var options: AdministrationOptions

    private static let page = 500

    func validate() throws {
        _ = try query
        guard limit ?? 1 > 0 else { throw ValidationError("--limit: must be at least 1.") }
    }

    /// The query of the options.
    private var query: UserQuery {
        get throws {
            var query = UserQuery(
                state: state, role: role, lacksSecondFactor: noSecondFactor, lacksPasskey: noPasskey, limit: Self.page)
            if let search {
                guard let search = UserSearch(search) else {
                    throw ValidationError(
                        "--search: must be 1 to \(UserSearch.limit) bytes without control characters.")
                }
                query.search = search
            }
            if let after {
                guard let after = Username(after) else { throw ValidationError("--after: \(after) is no user name.") }
                query.after = after
            }
            let times: [UserQuery.LastSignIn?] = [
                neverSignedIn ? .never : nil,
                try Self.time(signedInBefore, "--signed-in-before").map { .before($0) },
                try Self.time(signedInSince, "--signed-in-since").map { .since($0) },
            ]
            guard times.compactMap(\.self).count <= 1 else {
                throw ValidationError(
                    "--never-signed-in, --signed-in-before and --signed-in-since cannot be combined.")
            }
            query.lastSignIn = times.compactMap(\.self).first
            return query
        }
    }

    private static func time(_ text: String?, _ option: String) throws -> Date? {
        guard let text else { return nil }
        guard let time = Moment.parse(text) else { throw ValidationError("\(option): give \(Moment.forms).") }
        return time
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            var query = try query
            let isWhole = query == UserQuery(limit: Self.page)
            var users: [UserOverview] = []
            var isTooBroad = false
            repeat {
                query.limit = min(Self.page, limit.map { $0 - users.count } ?? Self.page)
                let page = try await installation.store.users(matching: query)
                users += page.users
                isTooBroad = isTooBroad || page.isTooBroad
                query.after = page.next
            } while query.after != nil && users.count < limit ?? .max
            if isTooBroad {
                Output.note(
                    "warning: more than \(UserQuery.candidates) email addresses or names begin with this text, so not "
                        + "all matches are listed; give more of it")
            }
            let documents = users.map { UserDocument($0) }
            if options.json { return try Output.json(documents) }
            if documents.isEmpty { return Output.note(isWhole ? "There are no users yet." : "No user matches.") }
            for document in documents { Output.line(document.line) }
        }
    }
}

extension UserQuery.State: ExpressibleByArgument {}
extension UserQuery.Role: ExpressibleByArgument {}
extension UserRole: ExpressibleByArgument {}
