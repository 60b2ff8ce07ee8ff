import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

extension SCIMOperation {
    /// The operations on users.
    static let users: [SCIMOperation] = [
        SCIMOperation(.get, "/Users") { call in try await SCIMUsers.list(call, try SCIMQuery(call.request)) },
        SCIMOperation(.post, "/Users", .writeUsers, SCIMUsers.create),
        SCIMOperation(.post, "/Users/.search", .readUsers, SCIMUsers.search),
        SCIMOperation(.post, "/.search", .readUsers, SCIMUsers.search),
        SCIMOperation(.get, "/Users/{user}", .readUsers, SCIMUsers.get),
        SCIMOperation(.put, "/Users/{user}", .writeUsers) { call in
            let (user, query) = (try await SCIMUsers.changeable(call), try SCIMQuery(call.request))
            let values = try SCIMUsers.resource(call, replacing: user)
            guard values.hasUserName else { throw ProblemError(.invalidValue, "userName: it is required.") }
            return try await SCIMUsers.change(user, to: values, call, query.projection)
        },
        SCIMOperation(.patch, "/Users/{user}", .writeUsers) { call in
            let (user, query) = (try await SCIMUsers.changeable(call), try SCIMQuery(call.request))
            var values = SCIMUserValues(user)
            try SCIMPatch(of: call.request).apply(to: &values)
            return try await SCIMUsers.change(user, to: values, call, query.projection)
        },
        SCIMOperation(.delete, "/Users/{user}", .writeUsers, SCIMUsers.delete),
    ]
}

/// The functions of the operations on users.
private enum SCIMUsers {
    static func search(_ call: AdministrationCall) async throws -> Reply {
        try await list(call, try SCIMQuery(searching: call.request))
    }

    /// Returns a page of the users whom a filter finds (RFC 7644 §3.4.2).
    static func list(_ call: AdministrationCall, _ query: SCIMQuery) async throws -> Reply {
        let found: [User]
        let total: Int
        if let filter = query.filter, let candidates = try await users(with: filter, call) {
            let matching = candidates.filter(filter.matches)
            found = Array(matching.dropFirst(query.startIndex - 1).prefix(query.count))
            total = matching.count
        } else {
            let page = try await listing(query, call)
            found = page.users
            // The list continues, so that a client that reads on learns that it does not have every user.
            total = page.isComplete ? page.count : page.count + 1
        }
        return try Reply(
            scimList: try found.map { .object(query.projection.applied(to: try call.scimResource($0))) }, total: total,
            startIndex: query.startIndex)
    }

    /// Returns the users with a value that is in an index; nil if the filter names none.
    private static func users(with filter: SCIMFilter, _ call: AdministrationCall) async throws -> [User]? {
        let store = call.store
        for comparison in filter.comparisons {
            switch comparison {
            case .id(let text):
                guard let id = UserIdentifier(text), !id.isPseudonym else { return [] }
                return try await store.user(id).map { [$0] } ?? []
            case .userName(let text):
                guard let name = Username(text) else { return [] }
                return try await store.user(named: name).map { [$0] } ?? []
            case .externalID(let text):
                guard let id = ExternalIdentifier(text) else { return [] }
                let users = try await store.users(withExternalID: id, limit: SCIMQuery.countLimit + 1)
                guard users.count <= SCIMQuery.countLimit else {
                    throw ProblemError(
                        .tooMany, "More than \(SCIMQuery.countLimit) users have the externalId \(EscapedText(text)).")
                }
                return users
            case .email(.value(let text)):
                guard let email = EmailAddress(text) else { return [] }
                return try await store.user(withEmail: email).map { [$0] } ?? []
            case .email, .active: continue
            }
        }
        return nil
    }

    private static func listing(_ query: SCIMQuery, _ call: AdministrationCall) async throws -> UserListing {
        var states: Set<UserQuery.State> = []
        for comparison in query.filter?.comparisons ?? [] {
            guard case .active(let flag) = comparison else {
                throw ProblemError(
                    .invalidFilter, "A filter compares id, userName, externalId or emails.value, or active alone.")
            }
            states.insert(flag ? .enabled : .disabled)
        }
        // No user is both.
        guard states.count < 2 else { return UserListing(users: [], count: 0, isComplete: true) }
        let listing = try await call.store.users(
            from: query.startIndex - 1, limit: query.count, state: states.first)
        guard listing.isComplete || query.startIndex <= listing.count else {
            throw ProblemError(
                .tooMany,
                "A list has the first \(UserListing.limit) users. Send a filter, or read all users at "
                    + "\(AdministrationOperation.prefix)/users.")
        }
        return listing
    }

    static func get(_ call: AdministrationCall) async throws -> Reply {
        let (user, query) = (try await call.user(), try SCIMQuery(call.request))
        guard try !call.names(user, in: .ifNoneMatch) else {
            return Reply(.notModified, fields: [.eTag: try AdministrationCall.scimVersion(of: user)])
        }
        return try call.scimReply(user, query.projection)
    }

    /// Creates a user without a password (RFC 7644 §3.3).
    static func create(_ call: AdministrationCall) async throws -> Reply {
        let query = try SCIMQuery(call.request)
        let values = try resource(call, replacing: nil)
        guard let userName = values.userName,
            var user = User(
                creating: userName.rawValue, email: nil, isEmailVerified: false, displayName: nil, passwordHash: nil,
                role: nil, at: call.now)
        else { throw ProblemError(.invalidValue, "userName: it is required.") }
        values.write(into: &user, at: call.now)
        switch try await call.users.add(user) {
        case .added: return try call.scimReply(user, query.projection, status: .created)
        case .usernameTaken:
            throw ProblemError.conflict("username-taken", nil, "userName: another user has \(userName).")
        case .emailTaken: throw emailTaken
        case .ownerExists: throw ProblemError.conflict("owner-exists", nil)
        }
    }

    /// Reads the resource in the body of a request.
    ///
    /// - Parameter former: The user, whose username the resource must repeat; nil for a new user.
    static func resource(
        _ call: AdministrationCall, replacing former: User?
    ) throws(ProblemError) -> SCIMUserValues {
        let body = try SCIMBody(of: call.request)
        try body.require(schema: SCIMAttribute.userSchema, allowing: [SCIMAttribute.enterpriseSchema])
        // A directory that keeps its passwords to itself sends a placeholder for a new user.
        let members = former == nil ? body.members.filter { SCIMAttribute($0.key) != .password } : body.members
        var values = SCIMUserValues(replacing: former)
        try values.read(members)
        return values
    }

    /// Returns the user in the path, whose account the caller may change, in the version that `If-Match` names.
    static func changeable(_ call: AdministrationCall) async throws -> User {
        let user = try await call.changeableUser()
        guard try call.request.head.headerFields[.ifMatch] == nil || call.names(user, in: .ifMatch) else {
            throw ProblemError.changedMeanwhile
        }
        return user
    }

    /// Changes a user in one commit.
    static func change(
        _ former: User, to values: SCIMUserValues, _ call: AdministrationCall, _ projection: SCIMProjection
    ) async throws -> Reply {
        var user = former
        values.write(into: &user, at: call.now)
        guard user != former else { return try call.scimReply(user, projection) }
        switch try await call.users.provision(user, from: former) {
        case .updated: user.changedAt = call.now
        case .notFound: throw NotFoundError()
        case .emailTaken: throw emailTaken
        case .lastOwner: throw ProblemError.lastOwner
        case .changedMeanwhile:
            throw ProblemError.conflict(
                "changed-meanwhile", nil, "The user has changed at the same time; send the request again.")
        }
        return try call.scimReply(user, projection)
    }

    static func delete(_ call: AdministrationCall) async throws -> Reply {
        let user = try await changeable(call)
        switch try await call.users.delete(user.id, ownedClients: .refuse).outcome {
        case .begun: return Reply(.noContent)
        case .notFound: throw NotFoundError()
        case .lastOwner: throw ProblemError.lastOwner
        case .ownsClients(let clients):
            let names = clients.map(\.rawValue).joined(separator: ", ")
            throw ProblemError.conflict(
                "owns-clients", nil,
                "The user owns apps, which an administrator deletes or gives to another user: \(names).")
        case .newOwnerNotFound: throw NotFoundError()
        }
    }

    private static let emailTaken = ProblemError.conflict("email-taken", nil, "emails: another user has the address.")
}
