public import ArgumentParser
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

    @OptionGroup var options: OperationOptions

    func validate() throws {
        _ = try filters
        guard limit ?? 1 > 0 else { throw ValidationError("--limit: must be at least 1.") }
    }

    /// The parameters of the query by their names.
    private var filters: [String: String] {
        get throws {
            if let search, UserSearch(search) == nil {
                throw ValidationError("--search: must be 1 to \(UserSearch.limit) bytes without control characters.")
            }
            if let after, Username(after) == nil { throw ValidationError("--after: \(after) is no user name.") }
            let times = [
                "never_signed_in": neverSignedIn ? "true" : nil,
                "signed_in_before": try Self.time(signedInBefore, "--signed-in-before"),
                "signed_in_since": try Self.time(signedInSince, "--signed-in-since"),
            ]
            guard times.values.compactMap(\.self).count <= 1 else {
                throw ValidationError(
                    "--never-signed-in, --signed-in-before and --signed-in-since cannot be combined.")
            }
            let others = [
                "search": search, "state": state?.rawValue, "role": role?.rawValue,
                "without_second_factor": noSecondFactor ? "true" : nil, "without_passkey": noPasskey ? "true" : nil,
                "after": after,
            ]
            return others.merging(times) { first, _ in first }.compactMapValues(\.self)
        }
    }

    private static func time(_ text: String?, _ option: String) throws -> String? {
        guard let text else { return nil }
        guard let time = Moment.parse(text) else { throw ValidationError("\(option): give \(Moment.forms).") }
        return Moment.text(time)
    }

    func run() async throws {
        let filters = try filters
        let filter = filters.sorted { $0.key < $1.key }.map { name, value in
            "&\(name)=\(AdministrationOperation.segment(value))"
        }
        try await options.withServer { server in
            // A page of a filter that few users match has none of them, so there can be many pages.
            let users = try await server.items(
                of: "/users", filter: filter.joined(), atMost: limit, inPages: .max)
            if options.json { return try Output.json(users) }
            if users.isEmpty { return Output.note(filters.isEmpty ? "There are no users yet." : "No user matches.") }
            for user in users { Output.line(UserOutput(user).line) }
        }
    }
}

extension UserQuery.State: ExpressibleByArgument {}
extension UserQuery.Role: ExpressibleByArgument {}
extension UserRole: ExpressibleByArgument {}
