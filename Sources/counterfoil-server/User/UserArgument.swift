import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// The argument that names an existing user.
struct UserArgument: ParsableArguments {
    @Argument(help: "The user name.")
    var name: String
}

extension DataDirectory {
    /// Returns the user with a user name; fails the command if there is none.
    func person(_ name: String) async throws -> Person {
        guard let username = Username(name), let person = try await store.person(named: username) else {
            throw CommandFailure.refused(
                "there is no user named \(DisplayName(name)); see: counterfoil-server user list")
        }
        return person
    }

    /// Updates a user, and records the change with a detail.
    func update(_ person: Person, at time: Date, recording detail: String) async throws {
        let event = event(.account, person: person.id, detail: detail)
        switch try await store.updatePerson(person, at: time, recording: [event]) {
        case .updated: return
        case .notFound: throw CommandFailure.temporary("another command has just deleted the user \(person.username)")
        case .emailTaken:
            throw CommandFailure.refused("another user has the email address \(person.email?.rawValue ?? "")")
        }
    }
}
