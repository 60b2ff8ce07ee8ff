import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct UserList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the users, sorted by user name.",
        discussion: "Example:\n  counterfoil-server user list --data-dir ./data"
    )

    @OptionGroup var options: AdministrationOptions

    private static let page = 500

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            var users: [User] = []
            var last: Username?
            while true {
                let more = try await installation.store.users(after: last, limit: Self.page)
                users += more
                last = more.last?.username
                guard more.count == Self.page else { break }
            }
            let documents = users.map(UserDocument.init)
            if options.json { return try Output.json(documents) }
            if documents.isEmpty { return Output.note("There are no users yet.") }
            for document in documents { Output.line(document.line) }
        }
    }
}
