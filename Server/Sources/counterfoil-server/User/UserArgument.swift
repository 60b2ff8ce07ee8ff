import ArgumentParser
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The argument that names an existing user.
struct UserArgument: ParsableArguments {
    @Argument(help: "The user name.")
    var name: String

    var notFound: CommandFailure { .noUser(name) }
}

extension AdministrationTransport {
    /// Finds the user that an argument names; fails the command if there is none.
    func user(_ argument: UserArgument) async throws -> AdministrationRecord {
        guard let user = try await user(named: argument.name) else { throw argument.notFound }
        return user
    }

    /// Finds the user that an argument names, even if this version cannot read the record; nil if there is none.
    ///
    /// Of a user whose record this version cannot read, the result has only the identifier and the user name. An
    /// invalid value, and one that this version does not know, keep no account from being disabled or deleted.
    func account(_ argument: UserArgument) async throws -> AdministrationRecord? {
        do { return try await user(named: argument.name) } catch let failure as CommandFailure {
            guard let username = Username(argument.name), let id = try await userID(named: username) else {
                throw failure
            }
            return AdministrationRecord(["id": .string(id), "username": .string(username.rawValue)])
        }
    }
}

extension AdministrationRecord {
    /// The path of a user in the administration API.
    var userPath: String { "/users/" + AdministrationOperation.segment(text("id") ?? "") }

    /// The user name, for output.
    var username: String { EscapedText(text("username") ?? "").description }
}

extension Installation {
    /// Returns the user with a user name; fails the command if there is none.
    func user(_ name: String) async throws -> User {
        guard let username = Username(name), let user = try await store.user(named: username) else {
            throw CommandFailure.noUser(name)
        }
        return user
    }
}

extension StoreFault {
    /// Returns the result of a read; nil if the record has an invalid value, or one that this version does not know.
    ///
    /// It is for commands that need the record only for their output.
    static func readable<Value>(
        _ read: () async throws(StoreFault) -> Value?
    ) async throws(StoreFault) -> Value? {
        do {
            return try await read()
        } catch .unsupported, .damaged {
            return nil
        }
    }
}

extension CommandFailure {
    /// The failure if a change would leave no owner who can sign in.
    static func lastOwner(_ username: String) -> CommandFailure {
        .refused(
            "no owner but \(username) can sign in; create another one first with: "
                + "counterfoil-server user create NAME --role owner")
    }

    static func noUser(_ name: String) -> CommandFailure {
        .refused("there is no user named \(DisplayName(name)); see: counterfoil-server user list")
    }

    static func disabled(_ username: String) -> CommandFailure {
        .refused(
            "the user \(username) is disabled; enable the account first with: "
                + "counterfoil-server user enable \(username)")
    }
}
