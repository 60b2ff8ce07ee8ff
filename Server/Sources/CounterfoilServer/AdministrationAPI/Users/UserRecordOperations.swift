import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

extension AdministrationOperation {
    /// The operations by which users move from one server to another.
    static let userRecords: [AdministrationOperation] = [
        AdministrationOperation(
            "exportUsers", .get, "/user-records", .readUsers, query: ["limit", "cursor"],
            answer: .list(UserRecordDocument.self), UserRecords.list),
        AdministrationOperation(
            "importUsers", .post, "/user-records", .writeUsers, body: ImportBody.self,
            answer: .object(ImportDocument.self), bodyLimit: 256 * 1024, UserRecords.add),
    ]
}

private enum UserRecords {
    static func list(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let cursor = ListCursor(call, list: "user records")
        let position = try cursor.position(in: call.query)
        let query = UserQuery(after: position.flatMap { Username($0) }, limit: try call.query.limit())
        if position == nil {
            let event = call.event(.account, detail: "exported all users")
            try await call.store.appendAudit(event)
            call.components.auditor.countRecorded([event])
        }
        let page = try await call.store.users(matching: query)
        var records: [UserRecordDocument] = []
        for user in page.users.map(\.user) {
            records.append(
                UserRecordDocument(
                    user, try await call.store.attributes(of: user.id), try await call.store.identities(of: user.id)))
        }
        return try AdministrationAnswer(list: records, next: try page.next.map { try cursor.text(after: $0.rawValue) })
    }

    static func add(_ call: AdministrationCall, _ body: ImportBody) async throws -> AdministrationAnswer {
        var results: [ImportResult?] = []
        var accepted: [ImportedUser] = []
        var values = UniqueValues()
        for members in body.users {
            let (user, problems) = read(members, call, &values)
            if let user { accepted.append(user.user(at: call.now)) }
            results.append(user == nil ? .refused(problems) : nil)
        }
        let outcomes = try await call.users.importUsers(accepted, isTrial: body.isTrial)
        var rest = zip(accepted, outcomes).map { ImportResult($0, $1) }[...]
        return try AdministrationAnswer(ImportDocument(results: results.compactMap { $0 ?? rest.popFirst() }))
    }

    /// Reads a user; nil with the problems if a member is refused.
    private static func read(
        _ members: [String: JSONValue], _ call: AdministrationCall, _ values: inout UniqueValues
    ) -> (UserRecordBody?, [ProblemDetails.Part]) {
        var (body, problems): (UserRecordBody?, _) = BodyMembers.parsed(members)
        guard problems.isEmpty, let user = body else { return (nil, problems) }
        if let role = user.role {
            do throws(RoleRefusal) { try call.users.check(assigning: role) } catch {
                problems.append(.member("role", ProblemError(error).details.detail ?? ""))
            }
        }
        problems += values.doubles(in: user)
        if !problems.isEmpty { body = nil }
        return (body, problems)
    }

    /// The unique values of the users of a request.
    private struct UniqueValues {
        private var ids: Set<UserIdentifier> = []
        private var usernames: Set<Username> = []
        private var emails: Set<EmailAddress> = []
        private var identities: Set<ExternalSubject> = []

        /// Adds the values of a user, and returns the members that an earlier user has, too.
        mutating func doubles(in user: UserRecordBody) -> [ProblemDetails.Part] {
            var members: [UserRecordBody.Member] = []
            if let id = user.id, !ids.insert(id).inserted { members.append(.sub) }
            if !usernames.insert(user.username).inserted { members.append(.username) }
            if let email = user.email, !emails.insert(email).inserted { members.append(.email) }
            if !identities.isDisjoint(with: user.identities) { members.append(.identities) }
            identities.formUnion(user.identities)
            return members.map { .member($0.rawValue, "An earlier user of the import has it.") }
        }
    }
}
