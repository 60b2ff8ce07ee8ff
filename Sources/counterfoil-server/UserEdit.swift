import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `user edit`.
struct UserEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change what is known of a person, or switch the account off or on.",
        discussion: """
            Only what is given changes, and an empty value clears: --nickname "". Applications see it at their next question. \
            An account that is switched off loses its sessions, and its tokens stop working where the server is asked.

            Example:
              counterfoil-server user edit alice --given-name Alice --zoneinfo Europe/Oslo \\
                --email-verified true --data-dir ./data
            """
    )

    @Argument(help: "The user name.")
    var name: String

    @OptionGroup var said: PersonOptions

    @Flag(name: .long, help: "Switch the account off.")
    var disable = false

    @Flag(name: .long, help: "Switch the account on again.")
    var enable = false

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard !(disable && enable) else { throw ValidationError("--disable and --enable cannot both be.") }
        guard said.saysAnything || disable || enable else {
            throw ValidationError("Say what to change. See: counterfoil-server user edit --help")
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
            let what = disable ? "switched off" : enable ? "switched on" : "changed"
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
        abstract: "Switch an account off.",
        discussion: """
            Its sessions end, and nobody signs in with it until it is switched on again: user edit NAME --enable.

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
            await directory.note(.account, person: person.id, detail: "switched off")
            if options.json { return try Output.json(PersonDocument(person)) }
            Output.line("\(person.username) cannot sign in any more.")
        }
    }
}

/// `user list`.
struct UserList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the people who have an account.",
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
            if documents.isEmpty { return Output.note("Nobody has an account yet.") }
            for document in documents { Output.line(document.line) }
        }
    }
}

/// `user show`.
struct UserShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything that is known of a person.",
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
        abstract: "Give a person a new password.",
        discussion: """
            The password is read from standard input, one line. Every session of the person ends.

            Example:
              counterfoil-server user password alice --password-stdin --data-dir ./data < password.txt
            """
    )

    @Argument(help: "The user name.")
    var name: String

    @Flag(name: .long, help: "Read the password from standard input, one line. Required.")
    var passwordStdin = false

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard passwordStdin else {
            throw ValidationError("Give --password-stdin and write the password to standard input.")
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
                Output.line("\(person.username) has a new password, and is signed in nowhere.")
            case .changedMeanwhile:
                throw CommandFailure.mayPass("somebody else has changed the password at the same time; try again")
            case .personGone:
                throw CommandFailure.refused(
                    "the account of \(person.username) is switched off; first: user edit \(person.username) --enable")
            }
        }
    }
}

extension DataDirectory {
    /// The person of a user name.
    fileprivate func person(_ name: String) async throws -> Person {
        guard let username = Username(name), let person = try await store.person(named: username) else {
            throw CommandFailure.refused(
                "there is nobody named \(DisplayName(name)); see: counterfoil-server user list")
        }
        return person
    }

    fileprivate func update(_ person: Person, at time: Date) async throws {
        switch try await store.updatePerson(person, at: time) {
        case .updated: return
        case .notFound: throw CommandFailure.mayPass("\(person.username) was removed at the same time")
        case .emailTaken:
            throw CommandFailure.refused("somebody already has the e-mail address \(person.email?.rawValue ?? "")")
        }
    }
}
