@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

/// A store with two records of each kind, and a second program of a newer version that changes the first one.
struct NewerVersion {
    let store: SQLiteStore
    let ada: World
    /// A second user with a consent to the same client.
    let bob: World
    /// A second client of the same developer, to which the first user has allowed something, too.
    let other: RegisteredClient
    let grant: Grant
    let code: CodeRecord
    let family: RefreshFamily
    let apis: [RegisteredResource]
    let device: DeviceAuthorization

    private let directory: TemporaryDirectory
    private let reports: Reports

    private final class Reports: Sendable {
        let values = Mutex<[UnsupportedValue]>([])
    }

    static let photos = Scope.Token("photos")

    /// Runs a test with a new store.
    static func run(_ test: (NewerVersion) async throws -> Void) async throws {
        let newer = try await NewerVersion()
        do { try await test(newer) } catch {
            await newer.store.close()
            throw error
        }
        await newer.store.close()
    }

    private init() async throws {
        directory = try TemporaryDirectory()
        let reports = Reports()
        self.reports = reports
        store = try SQLiteStore(
            at: directory.path("store.sqlite"),
            reporting: UnsupportedValues { value in reports.values.withLock { $0.append(value) } })
        let photos = try #require(Self.photos)
        _ = try await store.addScope(ScopeDefinition(token: photos, description: "See photos"))
        let scope = Scope([.openID, .offlineAccess, photos])
        let (user, bobby) = (try User.named("ada"), try User.named("bob"))
        for user in [user, bobby] { _ = try await store.addUser(user) }
        let client = try RegisteredClient.named("app-lightbox", owner: user.id, scope: scope)
        other = try RegisteredClient.named("app-other", owner: user.id, scope: scope)
        for client in [client, other] {
            _ = try await store.addClient(client, logo: nil, secret: nil, ownerLimit: 9)
        }
        ada = World(store, user: user, client: client, session: .lasting(of: user))
        bob = World(store, user: bobby, client: client, session: .lasting(of: bobby))
        for world in [ada, bob] {
            try await world.begin(world.session)
            try await world.approve(world.grant(scope))
        }
        let elsewhere = World(store, user: user, client: other, session: ada.session)
        try await elsewhere.approve(elsewhere.grant(scope))

        let (first, second) = (try Resource("https://a.example.com"), try Resource("https://b.example.com"))
        var apis: [RegisteredResource] = []
        for resource in [first, second] {
            let api = RegisteredResource(
                resource: resource, clientID: try #require(RegisteredResource.newClientID()), name: "Photos",
                scope: Scope([photos]), secret: ArtefactDigest(of: ClientSecret()), createdAt: World.now)
            _ = try await store.addResource(api)
            apis.append(api)
        }
        self.apis = apis
        grant = Grant(
            userID: user.id, clientID: client.id, scope: scope, resources: [first], sessionID: ada.session.id,
            createdAt: World.now, lastUsedAt: World.now)
        code = try await ada.approve(grant)
        family = RefreshFamily(
            digest: ArtefactDigest(ofFamily: RandomBytes().bytes(16)), grantID: grant.id, rotatedAt: World.now,
            lastUsedAt: World.now, expiresAt: World.now + 3600)
        _ = try await store.consumeCode(code.digest, beginning: family, at: World.now)
        device = DeviceAuthorization(
            digest: ArtefactDigest(of: DeviceCode()), userCode: ArtefactDigest(of: ClientSecret()),
            clientID: client.id, scope: scope, resources: [], codeChallenge: CodeChallenge(of: CodeVerifier()),
            requestedAt: World.now, expiresAt: World.now + 600, source: "2001:db8::9", userAgent: "TV/1.0")
        _ = try await store.addDeviceAuthorization(device, within: DeviceAuthorizationLimits(perSource: nil, total: 9))
        _ = try await store.updateUnregisteredClientPolicy(UnregisteredClientPolicy(kinds: [.document]))
        for (id, algorithm) in [("first", SigningAlgorithm.es256), ("second", .rs256)] {
            _ = try await store.addFirstSigningKey(
                SealedSigningKey(id: KeyIdentifier(id), algorithm: algorithm, sealed: [1], createdAt: World.now))
        }
    }

    /// The unsupported values that the store has reported.
    var reported: [UnsupportedValue] { reports.values.withLock { $0 } }

    /// Writes to the database as a newer version does, which has other constraints.
    func write(_ sql: String, _ arguments: [String] = []) async throws {
        let database = try DatabaseQueue(path: store.path)
        try await database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA ignore_check_constraints = ON")
            try database.execute(sql: sql, arguments: StatementArguments(arguments))
        }
        try database.close()
    }

    /// Reads one text as a newer version does; nil if there is no row.
    func text(_ sql: String) async throws -> String? {
        let database = try DatabaseQueue(path: store.path)
        let text = try await database.read { try String.fetchOne($0, sql: "SELECT CAST((\(sql)) AS TEXT)") }
        try database.close()
        return text
    }

    /// Expects that an operation fails because of a value in a column.
    func expectUnsupported(
        _ record: String, _ column: String, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, _ operation: () async throws -> Void
    ) async {
        let fault = await #expect(throws: StoreFault.self, comment, sourceLocation: sourceLocation) {
            try await operation()
        }
        guard case .unsupported(let value)? = fault else {
            Issue.record("\(String(describing: fault))", sourceLocation: sourceLocation)
            return
        }
        #expect(value.record == record && value.column == column, comment, sourceLocation: sourceLocation)
    }
}
