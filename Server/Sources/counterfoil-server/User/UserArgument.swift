import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The argument that names an existing user.
struct UserArgument: ParsableArguments {
    @Argument(help: "The user name.")
    var name: String
}

extension Installation {
    /// Returns the user with a user name; fails the command if there is none.
    func user(_ name: String) async throws -> User {
        guard let username = Username(name), let user = try await store.user(named: username) else {
            throw CommandFailure.noUser(name)
        }
        return user
    }

    /// A user of whom a command reads only what it needs to end the account.
    ///
    /// An invalid value, and one that this version does not know, keep no account from being disabled or deleted.
    struct Account {
        let id: UserIdentifier
        let username: Username
        /// The whole record; nil if it has an invalid value, or one that this version does not know.
        let user: User?

        /// The user as one line of text.
        var line: String { user.map { UserDocument($0).line } ?? username.rawValue }
    }

    /// Returns the user with a user name, even if this version cannot read the record; fails the command if there is
    /// none.
    func account(_ name: String) async throws -> Account {
        guard let account = try await existingAccount(name) else { throw CommandFailure.noUser(name) }
        return account
    }

    /// Returns the user with a user name, even if this version cannot read the record; nil if there is none.
    func existingAccount(_ name: String) async throws -> Account? {
        guard let username = Username(name), let id = try await store.userID(named: username) else { return nil }
        let user = try await StoreFault.readable { () async throws(StoreFault) in try await store.user(id) }
        return Account(id: id, username: username, user: user)
    }

    /// The changes of accounts that the pages for administrators make, too.
    var users: UserAdministration {
        let time = store.now()
        return UserAdministration(
            store, serverKey: serverKey, by: .command, notifying: mails, at: time)
    }

    /// Fails the command unless an account was enabled, disabled, or got another role.
    func require(_ outcome: ChangeStandingOutcome, of username: Username) throws {
        switch outcome {
        case .changed, .unchanged: return
        case .notFound: throw CommandFailure.temporary("another command has just deleted the user \(username)")
        case .changedMeanwhile:
            throw CommandFailure.temporary("another command has just changed the role of the user \(username)")
        case .lastOwner: throw CommandFailure.lastOwner(username)
        }
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
    static func lastOwner(_ username: Username) -> CommandFailure {
        .refused(
            "no owner but \(username) can sign in; create another one first with: "
                + "counterfoil-server user create NAME --role owner")
    }

    static func noUser(_ name: String) -> CommandFailure {
        .refused("there is no user named \(DisplayName(name)); see: counterfoil-server user list")
    }
}
