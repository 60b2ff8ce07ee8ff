@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import NIOHTTP1
import TestSupport
import Testing

/// The traces of a server: what a collector gets, from whom a trace is taken over, and what a collector can delay.
@Suite(.timeLimit(.minutes(10)))
struct TraceTests {
    private static let collectorKey = "key-of-the-collector"

    /// Every attribute of a span, and of the process.
    private static let attributes: Set = [
        "http.request.method", "http.route", "http.response.status_code", "url.scheme", "error.type",
        "db.system.name", "db.operation.name", "server.address", "counterfoil.password_hash.wait",
        "counterfoil.request.id",
    ]
    private static let resource: Set = [
        "service.name", "service.version", "service.instance.id", "deployment.environment.name",
    ]

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    private static func environment(_ endpoint: String, delay: Int = 100) -> [String: String] {
        [
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_BSP_SCHEDULE_DELAY": "\(delay)",
            "OTEL_TRACES_SAMPLER": "parentbased_always_on",
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20\(collectorKey)",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
            // Values that the library does not support, and that have no meaning here.
            "OTEL_PROPAGATORS": "tracecontext,baggage", "OTEL_LOG_LEVEL": "debug",
        ]
    }

    private static func redeem(
        _ code: String, _ request: ClientAuthorizationRequest, traceparent: String, id: String
    ) async throws -> WebPage {
        let form = FormParameters([
            "grant_type": "authorization_code", "client_id": request.clientID, "code": code,
            "redirect_uri": request.redirectURI, "code_verifier": request.verifier.exposed,
        ])
        var agent = UserAgent()
        return try await agent.send(
            .post, "\(request.site.issuer)/oauth2/token", headers: ["traceparent": traceparent, "x-request-id": id],
            form: form)
    }

    @Test func `the spans of a code flow are one tree, and contain no secret and no name of a user`() async throws {
        let collector = SpanCollector()
        try await collector.run { endpoint in
            try await Site.make { site in
                try await site.add(.alice)
                try await site.addScope("photos.read", "See your photos and albums")
                let request = ClientAuthorizationRequest(site, try await site.registerClient())
                let server = try await site.start(
                    options: ["--trusted-proxy", "127.0.0.1", "--log-format", "json", "--log-level", "debug"],
                    environment: Self.environment(endpoint))
                let secrets = try await server.whileRunning {
                    var browser = UserAgent()
                    browser.added = ["traceparent": "00-\(Self.trace)-\(Self.parent)-01"]
                    let answer = try await Account.alice.answer("allow", at: request.url, in: &browser)
                    let code = try answer.code
                    let sampled = try await Self.redeem(
                        code, request, traceparent: "00-\(Self.trace)-\(Self.parent)-01", id: "req-7")
                    #expect(sampled.status == 200)
                    let root = try await collector.span("the token request") {
                        $0.traceID == Self.trace && $0.name == "POST /oauth2/token"
                    }
                    try Self.check(root, in: collector.spans)

                    // The proxy does not record this trace, so the server does not, either.
                    let other = "a\(Self.trace.dropFirst())"
                    _ = try await Self.redeem(
                        code, request, traceparent: "00-\(other)-\(Self.parent)-00", id: "req-8")
                    let refused = try await Self.redeem(
                        code, request, traceparent: "00-b\(Self.trace.dropFirst())-\(Self.parent)-01", id: "req-9")
                    #expect(refused.status == 400)
                    let last = try await collector.span("the refused request") {
                        $0.traceID == "b\(Self.trace.dropFirst())" && $0.isRoot
                    }
                    #expect(last.attributes["error.type"] == "invalid_grant")
                    #expect(!last.isError)
                    #expect(!collector.spans.contains { $0.traceID == other })

                    try Self.checkPasswordHash(in: collector.spans)
                    let logged = try server.logEvents.filter { $0["request"] == "req-7" }
                    #expect(!logged.isEmpty)
                    #expect(logged.allSatisfy { $0["trace_id"] == Self.trace })
                    #expect(try server.logEvents.allSatisfy { $0["request"] != "req-8" || $0["trace_id"] == nil })
                    return [code, request.state ?? "", request.verifier.exposed] + (try Self.tokens(in: sampled))
                }
                #expect(!server.errors.contains(Self.collectorKey))
                #expect(collector.unreadable == [])
                #expect(collector.heads.allSatisfy { $0.uri == "/v1/traces" })
                #expect(
                    collector.heads.allSatisfy { $0.headers["authorization"] == ["Bearer \(Self.collectorKey)"] })
                Self.checkContent(of: collector, without: secrets + [request.clientID])
            }
        }
    }

    /// Checks that the spans of a code flow are one tree under the span of the proxy.
    private static func check(_ root: CollectedSpan, in spans: [CollectedSpan]) throws {
        let tree = spans.filter { $0.traceID == trace }
        #expect(root.parentID == parent)
        let requests = tree.filter { $0.parentID == parent }.map(\.name)
        #expect(
            Set(requests) == [
                "GET /oauth2/authorize", "POST /oauth2/authorize/sign-in", "POST /oauth2/authorize/consent",
                "POST /oauth2/token",
            ])
        #expect(root.attributes["http.route"] == "/oauth2/token")
        #expect(root.attributes["http.response.status_code"] == "200")
        #expect(root.attributes["counterfoil.request.id"] == "req-7")
        let identifiers = Set(tree.map(\.spanID))
        #expect(identifiers.count == tree.count)
        #expect(tree.allSatisfy { $0.parentID == parent || identifiers.contains($0.parentID) })
        // An access token and an ID token.
        #expect(tree.filter { $0.name == "sign token" }.count == 2)
        let commit = try #require(tree.first { $0.name == "commit consumeCode" })
        #expect(commit.attributes == ["db.system.name": "sqlite", "db.operation.name": "consumeCode"])
        #expect(tree.contains { $0.name == "read code" })
    }

    /// Checks the span of the password hash of the sign-in.
    private static func checkPasswordHash(in spans: [CollectedSpan]) throws {
        let hash = try #require(spans.first { $0.name == "hash password" })
        #expect(hash.attributes["counterfoil.password_hash.wait"].flatMap(Double.init).map { $0 >= 0 } == true)
        let signIn = try #require(spans.first { $0.spanID == hash.parentID })
        #expect(signIn.name == "POST /oauth2/authorize/sign-in")
        #expect(signIn.traceID == trace && signIn.parentID == parent)
    }

    /// Checks that the collector has got allowed attributes only, and no secret in any byte.
    private static func checkContent(of collector: SpanCollector, without secrets: [String]) {
        let names = Set(collector.spans.flatMap(\.attributes.keys))
        #expect(names.subtracting(attributes) == [])
        #expect(Set(collector.resource.keys) == resource)
        #expect(collector.resource["service.name"] == "counterfoil-server")
        #expect(collector.spans.allSatisfy { $0.eventCount == 0 && $0.linkCount == 0 && $0.state.isEmpty })
        let user = Account.alice
        let text = collector.text.lowercased()
        for secret in secrets + [user.name, user.fullName, user.email, user.password, "photos.read"] {
            #expect(!text.contains(secret.lowercased()), "\(secret)")
        }
    }

    private static func tokens(in page: WebPage) throws -> [String] {
        struct Tokens: Decodable {
            let access_token: String
            let id_token: String
        }
        let tokens = try JSONDecoder().decode(Tokens.self, from: Data(page.body.utf8))
        return [tokens.access_token, tokens.id_token]
    }

    @Test func `a traceparent of a client is ignored, and the last spans are sent when the server stops`() async throws
    {
        let collector = SpanCollector()
        try await collector.run { endpoint in
            try await Site.make { site in
                let server = try await site.start(environment: Self.environment(endpoint, delay: 600_000))
                let ended = try await server.whileRunning {
                    var agent = UserAgent()
                    for flags in ["01", "00"] {
                        let headers = ["traceparent": "00-\(Self.trace)-\(Self.parent)-\(flags)"]
                        #expect(try await agent.send(.get, site.issuer + "/livez", headers: headers).status == 200)
                    }
                    try server.signal("TERM")
                    return try await server.ended(within: .seconds(20))
                }
                #expect(ended.status == 0)
                let spans = collector.spans.filter { $0.name == "GET /livez" }
                #expect(spans.count == 2)
                #expect(spans.allSatisfy { $0.parentID.isEmpty && $0.traceID != Self.trace && $0.traceID.count == 32 })
            }
        }
    }

    @Test(arguments: [SpanCollector.Answer.silence, .status(.internalServerError), .status(.serviceUnavailable)])
    func `a collector that fails costs nothing but spans`(answer: SpanCollector.Answer) async throws {
        let collector = SpanCollector(answer)
        try await collector.run { endpoint in
            try await Site.make { site in
                var environment = Self.environment(endpoint)
                environment["OTEL_EXPORTER_OTLP_TIMEOUT"] = "200"
                environment["OTEL_BSP_EXPORT_TIMEOUT"] = "300"
                let server = try await site.start(
                    options: ["--log-format", "json", "--stop-timeout", "3"], environment: environment)
                let ended = try await server.whileRunning {
                    var agent = UserAgent()
                    #expect(try await agent.send(.get, site.issuer + "/livez").status == 200)
                    let line = try await server.said("the failure") { program in
                        try program.logEvents.first { $0["message"] == "failed to send spans to the collector" }
                    }
                    #expect(line["dropped"].flatMap { Int($0) } ?? 0 > 0)
                    for _ in 0..<20 { #expect(try await agent.send(.get, site.issuer + "/livez").status == 200) }
                    try server.signal("TERM")
                    return try await server.ended(within: .seconds(10))
                }
                #expect(ended.status == 0)
                #expect(!ended.errors.contains(Self.collectorKey))
                let lines = ended.errors.split(separator: "\n").filter { $0.contains("failed to send spans") }
                // One while it runs, and one with the rest when it stops.
                #expect(lines.count <= 2)
            }
        }
    }

    // A collector that accepts connections and never answers, in the handshake of TLS or after it got spans.
    @Test(arguments: ["http", "https"])
    func `a collector that never answers does not keep the server from ending`(scheme: String) async throws {
        let connections = Mutex(0)
        try await LocalListener.run({
            connections.withLock { $0 += 1 }
            return []
        }) { port in
            try await Site.make { site in
                var environment = Self.environment("\(scheme)://127.0.0.1:\(port)")
                // No limit of the export ends it before the limit of the test.
                environment["OTEL_EXPORTER_OTLP_TIMEOUT"] = "600000"
                environment["OTEL_BSP_EXPORT_TIMEOUT"] = "600000"
                let server = try await site.start(options: ["--stop-timeout", "1"], environment: environment)
                let ended = try await server.whileRunning {
                    var agent = UserAgent()
                    #expect(try await agent.send(.get, site.issuer + "/livez").status == 200)
                    try await Waiting.until("a connection to the collector") {
                        connections.withLock { $0 } > 0 ? () : nil
                    }
                    #expect(try await agent.send(.get, site.issuer + "/livez").status == 200)
                    try server.signal("TERM")
                    return try await server.ended(within: .seconds(20))
                }
                #expect(ended.status == 0)
            }
        }
    }

    @Test func `an endpoint that cannot be used ends the start, and is not repeated in the error`() async throws {
        try await Site.make { site in
            let server = try RunningProgram(
                .server,
                [
                    "serve", "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)", "--data-dir",
                    site.dataDirectory,
                ], environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://user:\(Self.collectorKey)@collector:4318"],
                in: site.folder)
            let ended = try await server.ended()
            #expect(ended.status == 3)
            #expect(ended.errors.contains("OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL"))
            #expect(!ended.errors.contains(Self.collectorKey))
        }
    }
}

extension CollectedSpan {
    /// Whether the span is that of a request.
    fileprivate var isRoot: Bool { attributes["http.response.status_code"] != nil && attributes["http.route"] != nil }
}
