import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQL
@testable import CounterfoilSQLite

@Suite("SQLite: frequent queries use an index")
struct QueryPlanTests {
    /// Returns the query plan of a statement in a new store, one element per step.
    private func plan(of statement: String) async throws -> [String] {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let steps = try await store.engine.pool.read { database in
            let explained = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement)")
            explained.setUncheckedArguments(StatementArguments())
            return try Row.fetchAll(explained).map { row in row["detail"] as String }
        }
        await store.close()
        return steps
    }

    @Test func `a refresh follows integer keys from one table to the next`() async throws {
        let steps = try await plan(of: StoreQuery.refreshFacts).filter { $0.hasPrefix("SEARCH") }
        #expect(
            Set(steps.filter { !$0.hasPrefix("SEARCH clients") }) == [
                "SEARCH refresh_tokens USING PRIMARY KEY (digest=?)",
                "SEARCH grants USING INTEGER PRIMARY KEY (rowid=?)",
                "SEARCH people USING INTEGER PRIMARY KEY (rowid=?)",
            ])
        #expect(steps.first?.hasPrefix("SEARCH refresh_tokens") == true, "\(steps)")
        // Whether the client exists is known from the index of its identifiers, without its row.
        #expect(steps.count == 4 && steps.contains { $0.hasPrefix("SEARCH clients USING COVERING INDEX") }, "\(steps)")
    }

    @Test func `an API is found by its normalized resource indicator`() async throws {
        let steps = try await plan(of: RegisteredResource.lookup)
        #expect(steps.contains { $0.hasPrefix("SEARCH resources USING INDEX resources_normalized") }, "\(steps)")
    }

    @Test(arguments: TimedRows.allCases)
    func `expired rows are found without reading the others`(_ rows: TimedRows) async throws {
        let steps = try await plan(of: rows.removal)
        #expect(!steps.isEmpty)
        #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(steps)")
    }

    @Test func `the numbers of a period are found by its hours`() async throws {
        let steps = try await plan(of: StoreQuery.activity(periods: 2))
        #expect(steps.count { $0.hasPrefix("SEARCH activity_counts USING PRIMARY KEY (hour>?") } == 2, "\(steps)")
    }

    @Test(arguments: [Approval.facts, Session.isOver, Session.surplus])
    func `an approval, a logout and a sign-in scan no table`(_ statement: String) async throws {
        let steps = try await plan(of: statement)
        #expect(!steps.isEmpty)
        // A constant row in a subquery is not a table.
        let tables = steps.filter { !["SCAN CONSTANT ROW", "SCAN one"].contains($0) }
        #expect(!tables.contains { $0.hasPrefix("SCAN") }, "\(steps)")
    }

    @Test(arguments: [
        PushedRequest.countOfClient, PushedRequest.countFromSource, PushedRequest.countOfDocuments,
        PushedRequest.countOfDocumentsFromSource,
    ])
    func `pushed requests are counted with an index that covers the query`(_ statement: String) async throws {
        let steps = try await plan(of: statement)
        #expect(steps.count == 1 && steps[0].hasPrefix("SEARCH pushed_requests USING COVERING INDEX"), "\(steps)")
    }

    /// The query for a page of the activity of a user.
    static var activity: AuditQuery {
        var query = AuditQuery(userID: UserIdentifier(), before: AuditPosition(at: Date(), number: 0))
        query.kinds = [.signIn, .passkey]
        return query
    }

    @Test func `the activity of a user is read from the index of the user`() async throws {
        let steps = try await plan(of: Self.activity.statement)
        #expect(steps.count == 1 && steps[0].hasPrefix("SEARCH audit USING INDEX audit_person"), "\(steps)")
    }

    @Test(
        arguments: [
            AuditQuery(kind: .throttled), AuditQuery(kind: .throttled, before: AuditPosition(at: Date(), number: 7)),
            AuditQuery(userID: UserIdentifier()),
            AuditQuery(
                clientID: ClientIdentifier("app_first"), since: Date(), before: AuditPosition(at: Date(), number: 7)),
            AuditQuery(since: Date()), AuditQuery(before: AuditPosition(at: Date(), number: 7)),
            AuditQuery(source: "192.0.2.1", order: .oldestFirst), AuditQuery(requestID: "r1", until: Date()),
        ])
    func `events of a kind, a user, a client, an address or a request are found in their order`(
        _ query: AuditQuery
    ) async throws {
        let steps = try await plan(of: query.statement)
        #expect(!steps.isEmpty)
        #expect(!steps.contains { $0.hasPrefix("SCAN") || $0.contains("TEMP B-TREE") }, "\(steps)")
        // Every event that the index leads to matches.
        #expect(query.lastExamined == nil)
    }

    @Test(arguments: [
        (AuditQuery(kind: .signIn, clientID: ClientIdentifier("app_first")), "audit_client"),
        (AuditQuery(kind: .signIn, outcome: .refused), "audit_refused"),
        (AuditQuery(kind: .signIn, outcome: .done), "audit_kind"),
        (AuditQuery(kind: .signIn, userID: UserIdentifier(), source: "192.0.2.1"), "audit_source"),
        (AuditQuery(kind: .signIn, source: "192.0.2.1", requestID: "r1"), "audit_request"),
        (AuditQuery(outcome: .done), "audit_time"),
    ])
    func `events with several conditions are read from one index, and the last one to examine is found in it`(
        _ query: AuditQuery, _ index: String
    ) async throws {
        var bounded = query
        (bounded.after, bounded.before) = (AuditPosition(at: Date(), number: 1), AuditPosition(at: Date(), number: 7))
        for statement in [bounded.statement, try #require(bounded.lastExamined)] {
            let steps = try await plan(of: statement)
            #expect(steps.count == 1 && steps[0].contains(" INDEX \(index) ("), "\(steps)")
            #expect(steps.first?.contains("at>? AND at<?") == true, "\(steps)")
        }
    }

    @Test func `refusals are read from an index of their own`() async throws {
        let steps = try await plan(of: AuditQuery(outcome: .refused, since: Date()).statement)
        #expect(steps.count == 1 && steps[0].hasPrefix("SEARCH audit USING INDEX audit_refused"), "\(steps)")
    }

    @Test func `the whole log is read in its order with an index`() async throws {
        #expect(try await plan(of: AuditQuery().statement) == ["SCAN audit USING INDEX audit_time"])
        for statement in [AuditEntry.log, AuditEntry.removal, AuditEntry.limit, AuditRecord.unsealed] {
            let steps = try await plan(of: statement)
            #expect(
                steps.contains { $0.hasPrefix("SEARCH audit USING") && $0.contains("INDEX audit_time") }, "\(steps)")
            #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
        }
    }

    // Among a million users, a search and a page of a list read a small part of the table.
    @Test(
        arguments: [
            UserQuery(), UserQuery(state: .disabled), UserQuery(role: .role(.support)),
            UserQuery(state: .enabled, role: .noRole, lastSignIn: .never, lacksSecondFactor: true, lacksPasskey: true),
            UserQuery(lastSignIn: .before(Date()), after: Username("ada")), UserQuery(search: UserSearch("ada")),
            UserQuery(search: UserSearch("per_AAAAAAAAAAAAAAAAAAAAAA"), state: .disabled),
        ])
    func `users are found with an index, whatever the query asks for`(_ query: UserQuery) async throws {
        var extent = UserQueryExtent()
        extent.last = Username("zoe")
        let statements = [query.lastExamined, query.page(in: extent), query.count(in: extent)]
        for statement in statements + [query.excess].compactMap(\.self) {
            let steps = try await plan(of: statement.sql)
            #expect(!steps.isEmpty)
            // The users of a search are a list in a subquery, at most 3,000.
            let tables = steps.filter {
                !["SCAN CONSTANT ROW", "SCAN found", "SCAN counted"].contains($0) && !$0.hasPrefix("SCAN part")
            }
            #expect(!tables.contains { $0.hasPrefix("SCAN") }, "\(statement.sql): \(steps)")
            if query.search == nil {
                #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(statement.sql): \(steps)")
            }
        }
        #expect(try await plan(of: RemovalCounts.query).allSatisfy { !$0.hasPrefix("SCAN") || $0 == "SCAN counted" })
    }

    // SQLite finds rows by the first of several bounds, whichever is nearer.
    @Test(arguments: [nil, "ada", "zoe"])
    func `a search has one bound at each end of the user names`(_ after: String?) throws {
        var extent = UserQueryExtent()
        extent.last = Username("zoey")
        let query = UserQuery(search: UserSearch("zo"), after: after.flatMap { Username($0) })
        let page = query.page(in: extent)
        let search = try #require(page.sql.split(separator: "UNION").first)
        for statement in [Substring(query.lastExamined.sql), search] {
            #expect(statement.matches(of: /username >=? \?1/).count == 1, "\(statement)")
            #expect(statement.matches(of: /username [<>]/).count == 2, "\(statement)")
        }
        #expect(page.values.first as? String == (after == "zoe" ? "zoe" : "zo"))
        #expect(page.values.dropFirst().first as? String == "zoey")
    }

    /// The queries for lists of clients that a person registered.
    static var clientQueries: [ClientQuery] {
        let place = ClientCursor("lightbox", "app_first", in: .name)
        let (time, ada) = (ClientCursor("1800000000000000", "app_first", in: .newest), UserIdentifier())
        return [
            ClientQuery(), ClientQuery(after: place), ClientQuery(order: .newest, after: time),
            ClientQuery(search: ClientSearch("light"), after: place),
            ClientQuery(search: ClientSearch("light"), state: .suspended, order: .newest, after: time),
            ClientQuery(state: .pending, after: place), ClientQuery(state: .development),
            ClientQuery(state: .suspended), ClientQuery(state: .machineAccess, after: place),
            ClientQuery(developer: ada, after: place),
            ClientQuery(search: ClientSearch("light"), developer: ada, order: .newest),
        ]
    }

    @Test func `services that wait for the approval of scopes, and mails that wait, have an index`() async throws {
        for statement in [ClientQuery(state: .machineAccess).page.sql, StoreQuery.clientCounts] {
            let steps = try await plan(of: statement)
            #expect(steps.contains { $0.contains("INDEX clients_machine_access (type=?)") }, "\(steps)")
        }
        let steps = try await plan(of: MailBacklog.query)
        #expect(steps.count { $0.contains("INDEX mails_created") } == 2, "\(steps)")
    }

    // Among 10,000 clients, a page of a list reads a small part of the table.
    @Test(arguments: clientQueries)
    func `registered clients are found with an index, whatever the query asks for`(_ query: ClientQuery) async throws {
        for statement in [query.page, query.count] {
            let steps = try await plan(of: statement.sql)
            #expect(!steps.isEmpty)
            // The clients of a part of a search are a list in a subquery.
            let tables = steps.filter { !$0.hasPrefix("SCAN found") && !$0.hasPrefix("SCAN part") }
            // The first page is the beginning of an index.
            let scans = tables.filter { $0.hasPrefix("SCAN") && !$0.contains("USING") }
            #expect(scans.isEmpty, "\(statement.sql): \(steps)")
        }
        if query.search == nil, query.developer == nil, query.order == .name || query.state == nil {
            let steps = try await plan(of: query.page.sql)
            #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
        }
    }

    @Test(arguments: [
        ClientUse.ofClients("?1, ?2"), ClientDeveloper.ofClient, ClientDeveloper.invitations,
        ClientDeveloper.administrationScopes, ClientQuestion.ofClient,
        ClientUse.record(of: "?1", at: "?2"), StoreQuery.usersOfClient,
    ])
    func `the users of one client are found without reading those of others`(_ statement: String) async throws {
        let steps = try await plan(of: statement)
        #expect(!steps.isEmpty)
        let tables = steps.filter { !["SCAN found", "SCAN CONSTANT ROW"].contains($0) }
        #expect(!tables.contains { $0.hasPrefix("SCAN") }, "\(steps)")
    }

    @Test(arguments: UserQuery.State.allCases.map(Optional.some) + [nil])
    func `a directory reads users in the order of an index`(_ state: UserQuery.State?) async throws {
        for statement in [
            StoreQuery.endOfListing(state), StoreQuery.countOfListing(state), StoreQuery.listing(state),
            StoreQuery.usersWithExternalID,
        ] {
            let steps = try await plan(of: statement)
            #expect(steps.count == 1 && steps[0].hasPrefix("SEARCH people USING"), "\(steps)")
        }
    }

    // SQLite merges a query in the source of another one if it is the only one there.
    @Test func `a search that examines user names alone has one bound at each end`() async throws {
        var extent = UserQueryExtent()
        (extent.last, extent.hasEmails, extent.hasNames) = (Username("zoey"), false, false)
        let query = UserQuery(search: UserSearch("zo#"))
        for statement in [query.page(in: extent).sql, query.count(in: extent).sql] {
            #expect(statement.matches(of: /username [<>]/).count == 2, "\(statement)")
            let steps = try await plan(of: statement)
            #expect(steps.filter { $0.contains(" people ") }.count == 1, "\(steps)")
        }
    }

    @Test(arguments: [DeviceAuthorization.countInNetwork, DeviceAuthorization.count])
    func `pending device authorizations are counted with an index`(_ statement: String) async throws {
        let steps = try await plan(of: statement)
        #expect(
            steps.contains { $0.hasPrefix("SEARCH device_authorizations USING") && $0.contains("COVERING INDEX") },
            "\(steps)")
    }

    // Everyone can ask for an origin.
    @Test func `a registered origin is found without reading other clients`() async throws {
        let steps = try await plan(of: StoreQuery.originIsRegistered)
        #expect(steps.contains("SEARCH client_origins USING PRIMARY KEY (origin=?)"), "\(steps)")
    }

    // A stranger can create any number of clients, so no query may read them all.
    @Test(
        arguments: [
            StoreQuery.nextHost, StoreQuery.unusedAreTooMany, StoreQuery.consentsToClient, StoreQuery.usersOfClient,
            "SELECT id FROM clients WHERE \(SQLConnection.clientIsUnused) LIMIT ?2",
            "SELECT id FROM clients WHERE \(SQLConnection.clientIsIdle) LIMIT ?2",
        ]
            + [UnregisteredClientFamily.host("app.example.com"), .registrations].flatMap {
                [StoreQuery.page(of: $0), StoreQuery.members(of: $0), StoreQuery.count(of: $0)]
            })
    func `unregistered clients and their users are found with an index, in their order`(
        _ statement: String
    ) async throws {
        let steps = try await plan(of: statement)
        #expect(!steps.isEmpty)
        // A subquery with a limit is not a table.
        let tables = steps.filter { !["SCAN CONSTANT ROW", "SCAN found"].contains($0) }
        #expect(!tables.contains { $0.hasPrefix("SCAN") || $0.contains("TEMP B-TREE") }, "\(steps)")
    }

    @Test(arguments: [
        User.removalFacts, RemovedUser.events, RemovedUser.pushedRequests, RemovedUser.grants, Grant.page,
        AppSignIn.count, AppSignIn.recent, LeftoverAccess.ofUser,
    ])
    func `the records of one user are found without reading those of others`(_ statement: String) async throws {
        let steps = try await plan(of: statement)
        #expect(!steps.isEmpty)
        #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(steps)")
    }

    @Test func `registered clients are listed without reading the others`() async throws {
        let steps = try await plan(of: StoreQuery.registeredClients)
        #expect(steps.contains { $0.contains("USING INDEX clients_registered") }, "\(steps)")
        #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
    }

    // Everyone can ask for the association files.
    @Test(
        arguments: [
            (StoreQuery.associatedClientsQuery, "clients_associated"),
            (StoreQuery.longestIdleLifetime, "clients_idle_lifetime"),
        ])
    func `the registry as a whole is read from indexes of its own`(_ statement: String, _ index: String) async throws {
        let steps = try await plan(of: statement)
        #expect(steps.count == 1 && steps[0].contains("USING INDEX \(index)"), "\(steps)")
    }

    @Test(arguments: ClientRemovals.atOnce + [ClientRemovals.grants] + ClientRemovals.others)
    func `a client is deleted without reading the records of others`(_ statement: String) async throws {
        // A list in a subquery is not a table.
        let steps = try await plan(of: statement).filter { !$0.hasPrefix("SCAN CONSTANT ROW") }
        #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(statement): \(steps)")
    }

    @Test(arguments: [Webhook.firstSeal, Webhook.due, Webhook.oldestWaiting("state = 'active'")])
    func `the events of webhooks are found without reading the audit log`(_ statement: String) async throws {
        let steps = try await plan(of: statement)
        #expect(!steps.contains { $0.hasPrefix("SCAN audit") && !$0.contains("INDEX") }, "\(steps)")
        #expect(steps.contains { $0.hasPrefix("SEARCH audit") }, "\(steps)")
    }

    @Test func `the next back-channel logout of a client is found without reading the others`() async throws {
        let due = try await plan(of: LogoutQueues.due())
        #expect(due.contains { $0.hasPrefix("SEARCH logout_queues") && $0.contains("logout_queues_due") }, "\(due)")
        #expect(
            !due.contains { step in
                ["logout_queues", "queue", "clients", "delivery"].contains { step.hasPrefix("SCAN \($0)") }
            }, "\(due)")
        for steps in [due, try await plan(of: LogoutQueues.removalOfOld)] {
            #expect(
                steps.contains {
                    $0.contains("SEARCH logout_deliveries USING") && $0.contains("logout_deliveries_client")
                },
                "\(steps)")
            #expect(!steps.contains { $0.hasPrefix("SCAN logout_deliveries") }, "\(steps)")
        }
    }
}
