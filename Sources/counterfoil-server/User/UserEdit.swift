import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `user edit`.
struct UserEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the claims of a user, or disable or enable the account.",
        discussion: """
            Only the given options change, and an empty value clears: --nickname "". Clients get the new values with \
            their next request. Disabling an account ends its sessions, and its tokens are inactive wherever the \
            server is asked.

            Example:
              counterfoil-server user edit alice --given-name Alice --zoneinfo Europe/Oslo \\
                --email-verified true --data-dir ./data
            """
    )

    @Argument(help: "The user name.")
    var name: String

    @OptionGroup var said: PersonOptions

    @Flag(name: .long, help: "Disable the account.")
    var disable = false

    @Flag(name: .long, help: "Enable the account again.")
    var enable = false

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard !(disable && enable) else { throw ValidationError("--disable and --enable cannot be combined.") }
        guard said.saysAnything || disable || enable else {
            throw ValidationError("Give at least one change. See: counterfoil-server user edit --help")
        }
    }

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            var person = try await directory.person(name)
            let now = Date()
            said.write(into: &person)
            if disable { person.disabledAt = person.disabledAt ?? now }
            if enable { person.disabledAt = nil }
            try await directory.update(person, at: now)
            let what = disable ? "disabled" : enable ? "enabled" : "changed"
            await directory.note(.account, person: person.id, detail: what)
            let document = PersonDocument(try await directory.person(name))
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}

/// `user disable`.
struct UserDisable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Disable a user.",
        discussion: """
            All sessions of the user end, and the user cannot sign in until you enable the account again with: \
            user edit NAME --enable.

            Example:
              counterfoil-server user disable alice --data-dir ./data
            """
    )

    @Argument(help: "The user name.")
    var name: String

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            var person = try await directory.person(name)
            let now = Date()
            person.disabledAt = person.disabledAt ?? now
            try await directory.update(person, at: now)
            await directory.note(.account, person: person.id, detail: "disabled")
            if options.json { return try Output.json(PersonDocument(person)) }
            Output.line("Disabled the user \(person.username).")
        }
    }
}

/// `user list`.
struct UserList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the users, sorted by user name.",
        discussion: "Example:\n  counterfoil-server user list --data-dir ./data"
    )

    @OptionGroup var options: AdministrationOptions

    private static let page = 500

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            var people: [Person] = []
            var last: Username?
            while true {
                let more = try await directory.store.people(after: last, limit: Self.page)
                people += more
                last = more.last?.username
                guard more.count == Self.page else { break }
            }
            let documents = people.map(PersonDocument.init)
            if options.json { return try Output.json(documents) }
            if documents.isEmpty { return Output.note("There are no users yet.") }
            for document in documents { Output.line(document.line) }
        }
    }
}

/// `user show`.
struct UserShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a user.",
        discussion: "Example:\n  counterfoil-server user show alice --data-dir ./data"
    )

    @Argument(help: "The user name.")
    var name: String

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let document = PersonDocument(try await directory.person(name))
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}

/// `user password`.
struct UserPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set a new password for a user.",
        discussion: """
            The password is read as one line from standard input. All sessions of the user end.

            Example:
              counterfoil-server user password alice --password-stdin --data-dir ./data < password.txt
            """
    )

    @Argument(help: "The user name.")
    var name: String

    @Flag(name: .long, help: "Read the password from standard input (one line). Required.")
    var passwordStdin = false

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard passwordStdin else {
            throw ValidationError("Use --password-stdin, and write the password to standard input.")
        }
    }

    func run() async throws {
        let line = try Input.passwordLine()
        try await options.withDirectory(creating: false) { directory in
            let person = try await directory.person(name)
            let password: Password
            do { password = try Password(choosing: line, for: person.username) } catch let refusal as Password.Refusal {
                throw CommandFailure.refused("\(refusal)")
            }
            let outcome = try await directory.store.changePassword(
                of: person.id, from: person.passwordHash, to: try await PasswordHasher().hash(password), keeping: nil,
                at: Date())
            switch outcome {
            case .changed:
                await directory.note(.passwordChange, person: person.id, detail: "new password")
                if options.json { return try Output.json(PersonDocument(person)) }
                Output.line("Changed the password of \(person.username), and ended all sessions.")
            case .changedMeanwhile:
                throw CommandFailure.mayPass("the password was changed at the same time; try again")
            case .personGone:
                throw CommandFailure.refused(
                    "the user \(person.username) is disabled; enable the account first with: "
                        + "counterfoil-server user edit \(person.username) --enable")
            }
        }
    }
}

extension DataDirectory {
    /// Finds the user with the given user name.
    fileprivate func person(_ name: String) async throws -> Person {
        guard let username = Username(name), let person = try await store.person(named: username) else {
            throw CommandFailure.refused(
                "there is no user named \(DisplayName(name)); see: counterfoil-server user list")
        }
        return person
    }

    fileprivate func update(_ person: Person, at time: Date) async throws {
        switch try await store.updatePerson(person, at: time) {
        case .updated: return
        case .notFound: throw CommandFailure.mayPass("the user \(person.username) was deleted at the same time")
        case .emailTaken:
            throw CommandFailure.refused("another user has the email address \(person.email?.rawValue ?? "")")
        }
    }
}
