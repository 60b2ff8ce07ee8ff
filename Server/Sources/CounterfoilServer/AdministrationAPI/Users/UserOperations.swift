import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on users.
    static let users = accounts + userAccess + userAttributes + userData + userRecords + invitations

    private static let accounts: [AdministrationOperation] = [
        AdministrationOperation(
            "listUsers", .get, "/users", .readUsers,
            query: [
                "username", "search", "state", "role", "never_signed_in", "signed_in_before", "signed_in_since",
                "without_second_factor", "without_passkey", "after", "limit", "cursor",
            ], answer: .list(AccountDocument.self), Accounts.list),
        AdministrationOperation(
            "createUser", .post, "/users", .writeUsers, body: NewAccountBody.self,
            answer: .object(AccountDocument.self), status: .created, Accounts.create),
        AdministrationOperation(
            "getUser", .get, "/users/{user}", .readUsers, answer: .object(AccountDocument.self)
        ) { call in try await AdministrationAnswer(user: try await call.user().id, call) },
        AdministrationOperation(
            "changeUser", .patch, "/users/{user}", .writeUsers, body: ChangedAccountBody.self,
            answer: .object(AccountDocument.self), isConditional: true, Accounts.change),
        AdministrationOperation(
            "setUserRole", .put, "/users/{user}/role", .writeRoles, body: RoleBody.self,
            answer: .object(AccountDocument.self), acceptsIfMatch: true, Accounts.setRole),
        AdministrationOperation(
            "disableUser", .post, "/users/{user}/disable", .writeUsers, answer: .object(AccountDocument.self)
        ) { call in
            let user = try await call.account()
            let outcome = try await call.users.disable(user.id)
            do { return try await Accounts.answer(outcome, user.id, call) } catch let fault as StoreFault {
                // The change is made, whether or not this version can read the record.
                guard fault.isOfRecord else { throw fault }
                return try AdministrationAnswer(DisabledAccountDocument(id: user.id, username: user.username))
            }
        },
        AdministrationOperation(
            "enableUser", .post, "/users/{user}/enable", .writeUsers, answer: .object(AccountDocument.self)
        ) { call in
            let user = try await call.changeableUser()
            return try await Accounts.answer(try await call.users.enable(user.id), user.id, call)
        },
    ]
}

/// The functions of the operations on accounts.
private enum Accounts {
    static func list(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        if call.query.text("username") != nil { return try await found(call) }
        let cursor = ListCursor(call, list: "users")
        let (query, parameters) = (try userQuery(call, cursor), call.query)
        let page = try await call.store.users(matching: query)
        guard !page.isTooBroad else {
            throw ProblemError.refusedParameters([
                .parameter(
                    "search",
                    "More than \(UserQuery.candidates) addresses or names begin with "
                        + "\(parameters.text("search") ?? ""). Give more of the text."
                )
            ])
        }
        return try AdministrationAnswer(
            list: page.users.map(AccountDocument.init), next: try page.next.map { try cursor.text(after: $0.rawValue) })
    }

    /// Returns the list with the user whose user name the request has, or without an item.
    private static func found(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let name = try call.query.value("username", rule: "It must be a username.") { Username($0) }
        guard call.query.filter.count == 1 else {
            throw ProblemError.refusedParameters([.parameter("username", "It cannot be combined with another filter.")])
        }
        guard let name, let id = try await call.store.userID(named: name),
            let user = try await call.store.userOverview(id)
        else { return try AdministrationAnswer(list: [AccountDocument](), next: nil) }
        return try AdministrationAnswer(list: [AccountDocument(user)], next: nil)
    }

    private static func userQuery(_ call: AdministrationCall, _ cursor: ListCursor) throws(ProblemError) -> UserQuery {
        let query = call.query
        func time(_ name: String) throws(ProblemError) -> Date? {
            try query.value(name, rule: "It must be a time such as 2026-11-30T09:00:00Z.") {
                Moment.parse($0, in: .gmt)
            }
        }
        let (before, since) = (try time("signed_in_before"), try time("signed_in_since"))
        let isNever = try query.flag("never_signed_in") == true
        guard [before != nil, since != nil, isNever].count(where: \.self) <= 1 else {
            throw .refusedParameters([.parameter("signed_in_before", "A request has one condition on the sign-in.")])
        }
        var lastSignIn: UserQuery.LastSignIn?
        if isNever { lastSignIn = .never }
        if let before { lastSignIn = .before(before) }
        if let since { lastSignIn = .since(since) }
        let after = try query.value("after", rule: "It must be a username.") { Username($0) }
        return UserQuery(
            search: try query.value(
                "search", rule: "It must have 1 to \(UserSearch.limit) bytes and no control character.",
                { UserSearch($0) }),
            state: try query.value("state", rule: "It must be enabled or disabled.") { UserQuery.State(rawValue: $0) },
            role: try query.value("role", rule: "It must be a role or none.") { UserQuery.Role(rawValue: $0) },
            lastSignIn: lastSignIn,
            lacksSecondFactor: try query.flag("without_second_factor") ?? false,
            lacksPasskey: try query.flag("without_passkey") ?? false,
            after: try cursor.position(in: query).flatMap { Username($0) } ?? after, limit: try query.limit())
    }

    static func create(_ call: AdministrationCall, _ body: NewAccountBody) async throws -> AdministrationAnswer {
        if let role = body.role { try call.users.check(assigning: role) }
        guard let username = Username(body.username) else { throw NotFoundError() }
        var hash: PasswordHash?
        if let typed = body.password {
            hash = try await call.hash(typed, for: username, email: body.email, name: body.name ?? body.username)
        }
        guard
            var user = User(
                creating: body.username, email: body.email, isEmailVerified: body.isEmailVerified,
                displayName: body.name, passwordHash: hash, role: body.role,
                at: call.now)
        else { throw NotFoundError() }
        user.mustChangePassword = body.mustChangePassword
        switch try await call.users.add(user) {
        case .added: return try AdministrationAnswer(created: user, call)
        case .usernameTaken: throw ProblemError.conflict("username-taken", .member("username", "Another user has it."))
        case .emailTaken: throw ProblemError.emailTaken
        case .ownerExists: throw ProblemError.conflict("owner-exists", nil, "There is already an owner.")
        }
    }

    static func change(_ call: AdministrationCall, _ body: ChangedAccountBody) async throws -> AdministrationAnswer {
        let former = try await call.changeableUser()
        try call.requireMatch(try AccountDocument.version(of: former))
        var user = former
        body.write(into: &user)
        switch try await call.users.update(user, from: former) {
        case .updated: return try await AdministrationAnswer(user: user.id, call)
        case .changedMeanwhile: throw ProblemError.changedMeanwhile
        case .emailTaken: throw ProblemError.emailTaken
        case .notFound: throw NotFoundError()
        }
    }

    static func setRole(_ call: AdministrationCall, _ body: RoleBody) async throws -> AdministrationAnswer {
        let user = try await call.user()
        try await call.requireMatchIfSent { try AccountDocument.version(of: user) }
        return try await answer(try await call.users.setRole(body.role, of: user.id), user.id, call)
    }

    static func answer(
        _ outcome: ChangeStandingOutcome, _ user: UserIdentifier, _ call: AdministrationCall
    ) async throws -> AdministrationAnswer {
        switch outcome {
        case .changed, .unchanged: return try await AdministrationAnswer(user: user, call)
        case .notFound: throw NotFoundError()
        case .lastOwner: throw ProblemError.lastOwner
        case .changedMeanwhile:
            throw ProblemError.conflict(
                "changed-meanwhile", nil, "The role has changed at the same time; read it, and repeat the change.")
        }
    }
}

extension ProblemError {
    /// Creates the error of a request that contradicts what is stored.
    static func conflict(_ kind: String, _ part: ProblemDetails.Part?, _ detail: String? = nil) -> ProblemError {
        ProblemError(
            ProblemDetails(
                .conflict, kind, detail: detail ?? part.map { "\($0.pointer ?? ""): \($0.detail)" },
                parts: part.map { [$0] } ?? []))
    }

    static let emailTaken = conflict("email-taken", .member("email", "Another user has it."))

    /// The error if a mail cannot be queued.
    static let mailQueueFull = ProblemError(
        .serviceUnavailable, "mail-queue-full", "Too many mails wait to be sent; try again later.")

    static let lastOwner = conflict("last-owner", nil, "No other owner could sign in; nothing was changed.")
}

extension AdministrationCall {
    /// Checks a new password of a user, and returns its hash; throws 422 for one that a user could not choose.
    func hash(
        _ typed: String, for username: Username, email: EmailAddress?, name: String
    ) async throws -> PasswordHash {
        do {
            let password = try Password(
                choosing: typed, for: username, email: email, displayName: name, host: settings.issuer.host)
            return try await components.hasher.hash(password)
        } catch let refusal as Password.Refusal {
            throw ProblemError(
                .unprocessableContent, "invalid-members", "Members of the body are refused.",
                parts: [.member("password", "\(refusal)")])
        }
    }
}
