import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

@Suite("The policy for registrations")
struct RegistrationPolicyTests {
    private static let metadata = ["redirect_uris": [RegistrationDesk.callback]]

    private static func members(of test: TestServer) async throws -> [String: Any] {
        test.clock.advance(by: 1)
        return try await test.send(.get, to: .metadata).members
    }

    // Nothing is registered unless the owner allows it.
    @Test func `registrations are refused until the policy accepts them`() async throws {
        let desk = try await RegistrationDesk { $0.kinds = [] }
        #expect(try await Self.members(of: desk.test)["registration_endpoint"] == nil)
        let reply = try await desk.register(Self.metadata)
        #expect(reply.status == .notFound)
        #expect(try reply.members["error"] as? String == "access_denied")

        try await desk.set { $0.kinds = [.registration] }
        let endpoint = try await Self.members(of: desk.test)["registration_endpoint"] as? String
        #expect(endpoint == "https://id.example.com/oauth2/register")
        let client = try await desk.registered(Self.metadata)

        // A client that registered before can still leave.
        try await desk.set { $0.kinds = [.document] }
        #expect(try await Self.members(of: desk.test)["registration_endpoint"] == nil)
        #expect(try await client.replace(Self.metadata).status == .forbidden)
        #expect(try await client.delete().status == .noContent)
    }

    // `serve --unregistered-clients` replaces the kinds of the stored policy.
    @Test(arguments: [Set<UnregisteredClientKind>([]), [.registration]])
    func `the option of the server decides instead of the policy`(kinds: Set<UnregisteredClientKind>) async throws {
        let stored: Set<UnregisteredClientKind> = kinds.isEmpty ? [.registration] : []
        let desk = try await RegistrationDesk {
            $0.kinds = stored
        } configure: {
            $0.unregisteredClients = kinds
        }
        #expect(try await (Self.members(of: desk.test)["registration_endpoint"] != nil) == !kinds.isEmpty)
        #expect(try await desk.register(Self.metadata).status == (kinds.isEmpty ? .notFound : .created))
        guard !kinds.isEmpty else { return }
        let client = try await desk.registered(Self.metadata)
        #expect(try await client.replace(Self.metadata).status == .ok)
    }

    @Test func `the metadata announce client documents only if the server can fetch them`() async throws {
        for files in [nil, RegistrantFiles()] {
            let desk = try await RegistrationDesk(files: files) { $0.kinds = [.document, .registration] }
            let announced = try await Self.members(of: desk.test)["client_id_metadata_document_supported"] as? Bool
            #expect(announced == (files == nil ? nil : true))
        }
    }

    @Test func `the metadata keep the endpoint while the store is unavailable`() async throws {
        let store = TestStore()
        let desk = try await RegistrationDesk(store: store)
        #expect(try await Self.members(of: desk.test)["registration_endpoint"] != nil)
        store.fail(.unregisteredClientPolicy)
        #expect(try await Self.members(of: desk.test)["registration_endpoint"] != nil)
    }

    // RFC 7591 §3, RFC 6750 §3
    @Test func `a registration needs a valid initial access token if the policy says so`() async throws {
        let desk = try await RegistrationDesk { $0.requiresInitialAccessToken = true }
        let text = InitialAccessTokenText()
        let token = InitialAccessToken(
            digest: ArtefactDigest(of: text), name: "Build system", createdAt: desk.test.clock.now,
            expiresAt: desk.test.clock.now + 3600)
        try await desk.test.store.addInitialAccessToken(token)
        let missing = try await desk.register(Self.metadata)
        #expect(missing.status == .unauthorized)
        #expect(missing.fields[.wwwAuthenticate] == #"Bearer realm="registration""#)
        #expect(try missing.members["error"] as? String == "invalid_token")
        let inQuery = try await desk.send(
            .post, to: "/oauth2/register?access_token=\(text.exposed)", #"{"redirect_uris": ["https://a.example/"]}"#)
        #expect(inQuery.status == .unauthorized)

        #expect(try await desk.register(Self.metadata, token: text.exposed).status == .created)
        #expect(try await desk.register(Self.metadata, token: text.exposed).status == .created)
        desk.test.clock.advance(by: 3600)
        for wrong in [text.exposed, "invented"] {
            let reply = try await desk.register(Self.metadata, token: wrong)
            #expect(reply.status == .unauthorized)
            #expect(reply.fields[.wwwAuthenticate]?.hasPrefix(#"Bearer error="invalid_token""#) == true)
        }
        for line in desk.test.log.lines { #expect(!line.contains(text.exposed)) }
    }

    // A token that is sent must be valid, so that its owner notices that it has expired.
    @Test func `an invalid initial access token is refused although none is needed`() async throws {
        let desk = try await RegistrationDesk()
        #expect(try await desk.register(Self.metadata, token: "invented").status == .unauthorized)
    }

    @Test func `the hosts of the policy apply to the https redirect URIs`() async throws {
        let allowed = try #require(HostPattern("*.example.net"))
        let refused = try #require(HostPattern("evil.example.net"))
        let desk = try await RegistrationDesk { policy in
            policy.allowedHosts = [allowed]
            policy.refusedHosts = [refused]
        }
        _ = try await desk.registered(Self.metadata)
        _ = try await desk.registered(["redirect_uris": ["http://127.0.0.1/cb"]])
        for uris in [
            ["https://rp.example.com/cb"], ["https://evil.example.net/cb"],
            [RegistrationDesk.callback, "https://EVIL.example.net/cb"],
        ] {
            try await desk.refusal(of: ["redirect_uris": uris], "invalid_redirect_uri")
        }
    }

    // ASVS 10.4.7
    // Fifty addresses get half of the limit, and the rest is for those that have few registrations.
    @Test func `a flood of registrations is stopped, and unused clients are deleted`() async throws {
        let desk = try await RegistrationDesk()
        var statuses: [HTTPResponse.Status: Int] = [:]
        for number in 0..<10_000 {
            let reply = try await desk.register(Self.metadata, source: "198.51.100.\(number % 50)")
            statuses[reply.status, default: 0] += 1
            if reply.status == .tooManyRequests {
                #expect(reply.fields[.retryAfter].flatMap { Int($0) } ?? 0 > 0)
            }
        }
        #expect(statuses == [.created: 500, .tooManyRequests: 9500])
        #expect(try await desk.test.store.auditLog(after: nil, limit: 5000).count <= 500 + 2 * 150)
        for _ in 0..<5 {
            #expect(try await desk.register(Self.metadata, source: "203.0.113.9").status == .created)
        }
        #expect(try await desk.register(Self.metadata, source: "203.0.113.9").status == .tooManyRequests)
        desk.test.clock.advance(by: 8 * 86_400)
        try await desk.test.server.maintenance.deleteAllExpired()
        #expect(try await desk.test.store.clients().map(\.id) == [desk.test.lightbox.id])
    }

    @Test func `one address can register fifty clients in an hour, and one with a token more`() async throws {
        let desk = try await RegistrationDesk()
        for _ in 0..<50 { _ = try await desk.registered(Self.metadata) }
        // Refused metadata do not count.
        try await desk.refusal(of: [:], "invalid_redirect_uri")
        let reply = try await desk.register(Self.metadata)
        #expect(reply.status == .tooManyRequests)
        #expect(reply.fields[.retryAfter] == "3600")
        #expect(try await desk.register(Self.metadata, source: "198.51.100.7").status == .created)
        let text = InitialAccessTokenText()
        try await desk.test.store.addInitialAccessToken(
            InitialAccessToken(
                digest: ArtefactDigest(of: text), name: "Build system", createdAt: desk.test.clock.now,
                expiresAt: desk.test.clock.now + 86_400))
        #expect(try await desk.register(Self.metadata, token: text.exposed).status == .created)
        desk.test.clock.advance(by: 3600)
        #expect(try await desk.register(Self.metadata).status == .created)
    }

    // A household has 256 networks of 64 bits, and an organization 65,536.
    @Test func `one IPv6 network of 48 bits cannot use up the registrations of an hour`() async throws {
        let desk = try await RegistrationDesk()
        var statuses: [HTTPResponse.Status: Int] = [:]
        for number in 0..<1000 {
            let subnet = String(number * 61, radix: 16)
            let reply = try await desk.register(Self.metadata, source: "2001:db8:2:\(subnet)::/64")
            statuses[reply.status, default: 0] += 1
        }
        #expect(statuses == [.created: 200, .tooManyRequests: 800])
        for source in ["198.51.100.7", "2001:db8:3:0::/64"] {
            #expect(try await desk.register(Self.metadata, source: source).status == .created)
        }
    }

    @Test func `one IPv6 network of 56 bits can register twice as many clients as one of 64 bits`() async throws {
        let desk = try await RegistrationDesk()
        var statuses: [HTTPResponse.Status: Int] = [:]
        for number in 0..<256 {
            let source = "2001:db8:2:\(String(0x1200 + number, radix: 16))::/64"
            statuses[try await desk.register(Self.metadata, source: source).status, default: 0] += 1
        }
        #expect(statuses == [.created: 100, .tooManyRequests: 156])
        #expect(try await desk.register(Self.metadata, source: "2001:db8:2:12::/64").status == .created)
        #expect(try await desk.register(Self.metadata, source: "2001:db8:2:120::/64").status == .created)
    }

    @Test func `the limits of registrations are settings`() async throws {
        let desk = try await RegistrationDesk(configure: { settings in
            settings.registrationsPerSource = 2
            settings.registrationsPerHour = 4
        })
        for _ in 0..<2 { #expect(try await desk.register(Self.metadata).status == .created) }
        #expect(try await desk.register(Self.metadata).status == .tooManyRequests)
        #expect(try await desk.register(Self.metadata, source: "198.51.100.7").status == .created)
        #expect(try await desk.register(Self.metadata, source: "198.51.100.7").status == .tooManyRequests)
        #expect(try await desk.register(Self.metadata, source: "198.51.100.8").status == .created)
        #expect(try await desk.register(Self.metadata, source: "198.51.100.9").status == .tooManyRequests)
    }

    // The time is that in which registrations at their limit take the other half, but at least an hour.
    @Test(arguments: [
        (0, 1000, 604_800), (4999, 1000, 604_800), (5000, 1000, 18_000), (10_000, 1000, 18_000),
        (5000, 1_000_000, 3600), (5000, 2, 604_800),
    ])
    func `unused clients are deleted sooner if half of the places for them are taken`(
        unused: Int, perHour: Int, seconds: Int
    ) {
        #expect(ExpirationLimits.lifetimeOfUnused(unused, registrationsPerHour: perHour) == seconds)
    }

    @Test func `clients beyond the limit of unused ones are refused`() async throws {
        let store = TestStore()
        let desk = try await RegistrationDesk(store: store)
        let clients = [try await desk.registered(Self.metadata), try await desk.registered(Self.metadata)]
        try await Self.fill(store, upTo: 10_000)
        let reply = try await desk.register(Self.metadata)
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.fields[.retryAfter] == "3600")
        #expect(try reply.members["error"] as? String == "temporarily_unavailable")
        #expect(try await desk.events.count == 2)
        // A client that a user has allowed something does not count.
        _ = try await clients[0].tokens()
        _ = try await desk.registered(Self.metadata)
    }

    /// Adds copies of a client that registered itself, until there are as many such clients.
    private static func fill(_ store: TestStore, upTo count: Int) async throws {
        try await store.database.engine.commit { database in
            let columns = try database.all("SELECT name FROM pragma_table_info('clients') WHERE name <> 'id'") {
                try $0.text()
            }.joined(separator: ", ")
            _ = try database.run(
                """
                WITH RECURSIVE numbers (number) AS (
                    SELECT count(*) + 1 FROM clients WHERE source = 'registration'
                    UNION ALL SELECT number + 1 FROM numbers WHERE number < ?1
                )
                INSERT INTO clients (id, \(columns))
                SELECT 'copy-' || number, \(columns)
                FROM numbers, (SELECT \(columns) FROM clients WHERE source = 'registration' LIMIT 1) AS original
                """,
                count)
        }
    }
}
