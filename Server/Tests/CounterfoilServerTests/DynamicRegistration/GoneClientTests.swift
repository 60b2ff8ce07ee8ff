import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The errors from which a client learns that it must register again.
///
/// If the error says that only its grant is gone, the client keeps failing.
@Suite("Clients whose registration is gone")
struct GoneClientTests {
    /// A public or a confidential client that alice has used, and its refresh token.
    private struct Subject {
        let client: Registrant
        let refreshToken: RefreshToken

        init(_ desk: RegistrationDesk, isPublic: Bool) async throws {
            client = try await desk.registered([
                "redirect_uris": [isPublic ? "http://127.0.0.1/cb" : RegistrationDesk.callback],
                "grant_types": ["authorization_code", "refresh_token"],
            ])
            let uri = isPublic ? "http://127.0.0.1:51004/cb" : RegistrationDesk.callback
            let tokens = try await client.tokens(at: uri, for: "openid offline_access")
            refreshToken = try #require(tokens.refreshToken)
        }

        /// The requests to the endpoints that a client calls, as the client authenticates.
        func requests(_ desk: RegistrationDesk) async throws -> [(name: String, reply: Reply)] {
            var fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            if client.secret != nil { fields[.authorization] = client.basic }
            let refresh = FormParameters(["grant_type": "refresh_token", "refresh_token": refreshToken.exposed])
            let code = FormParameters([
                "grant_type": "authorization_code", "code": "x", "redirect_uri": "https://a.example/",
            ])
            let push = FormParameters(["response_type": "code", "redirect_uri": RegistrationDesk.callback])
            let forms: [(Endpoint, FormParameters)] = [
                (.token, refresh), (.token, code), (.pushedAuthorization, push),
                (.deviceAuthorization, FormParameters(["scope": "openid"])),
                (.revocation, FormParameters(["token": refreshToken.exposed])),
            ]
            var replies: [(String, Reply)] = []
            for (endpoint, form) in forms {
                let body = form.adding("client_id", client.id.rawValue).encoded
                let reply = await desk.test.send(.post, to: endpoint, fields: fields, body: Array(body.utf8))
                replies.append((endpoint.name, reply))
            }
            return replies
        }
    }

    private static func expectGone(_ subject: Subject, _ desk: RegistrationDesk) async throws {
        let usesHTTP = subject.client.secret != nil
        for (name, reply) in try await subject.requests(desk) {
            #expect(try reply.members["error"] as? String == "invalid_client", "\(name)")
            #expect(reply.status == (usesHTTP ? .unauthorized : .badRequest), "\(name)")
            #expect((reply.fields[.wwwAuthenticate] != nil) == usesHTTP, "\(name)")
        }
        var browser = desk.test.browser()
        let page = try await browser.open(
            "/oauth2/authorize?response_type=code&client_id=\(subject.client.id)&state=x"
                + "&redirect_uri=https://rp.example.net/callback")
        #expect(page.status == .badRequest)
        #expect(page.location == nil)
        _ = try page.problemPage
        #expect(try await subject.client.read().status == .unauthorized)
    }

    // RFC 6749 §5.2
    @Test(arguments: [true, false])
    func `a deleted client gets invalid_client at every endpoint`(isPublic: Bool) async throws {
        let desk = try await RegistrationDesk()
        let subject = try await Subject(desk, isPublic: isPublic)
        #expect(try await subject.client.delete().status == .noContent)
        try await Self.expectGone(subject, desk)
    }

    // RFC 6749 §5.2: a challenge answers HTTP authentication only. The client registers again in both cases.
    @Test func `a deleted client that posts its secret gets invalid_client without a challenge`() async throws {
        let desk = try await RegistrationDesk()
        let subject = try await Subject(desk, isPublic: false)
        let secret = try #require(subject.client.secret)
        func refresh() async -> Reply {
            await desk.test.redeem(
                FormParameters([
                    "grant_type": "refresh_token", "client_id": subject.client.id.rawValue, "client_secret": secret,
                    "refresh_token": subject.refreshToken.exposed,
                ]))
        }
        #expect(await refresh().status == .ok)
        #expect(try await subject.client.delete().status == .noContent)
        let refused = await refresh()
        #expect(refused.status == .badRequest)
        #expect(refused.fields[.wwwAuthenticate] == nil)
        #expect(try refused.tokenError.error == "invalid_client")
    }

    @Test(arguments: [true, false])
    func `a client that no user has used for 90 days is deleted`(isPublic: Bool) async throws {
        let desk = try await RegistrationDesk()
        let subject = try await Subject(desk, isPublic: isPublic)
        desk.test.clock.advance(by: 89 * 86_400)
        try await desk.test.server.maintenance.deleteAllExpired()
        #expect(try await subject.client.stored != nil)
        desk.test.clock.advance(by: 2 * 86_400)
        try await desk.test.server.maintenance.deleteAllExpired()
        try await Self.expectGone(subject, desk)
    }

    // A refresh token that the server still accepts must not lose its client.
    @Test func `a client is kept for the idle lifetime of the server`() async throws {
        let desk = try await RegistrationDesk(configure: { settings in
            settings.refreshTokenIdleLifetime = 200 * 86_400
            settings.refreshTokenLifetime = 400 * 86_400
        })
        let subject = try await Subject(desk, isPublic: true)
        desk.test.clock.advance(by: 150 * 86_400)
        try await desk.test.server.maintenance.deleteAllExpired()
        #expect(try await subject.requests(desk)[0].reply.status == .ok)
        desk.test.clock.advance(by: 201 * 86_400)
        try await desk.test.server.maintenance.deleteAllExpired()
        try await Self.expectGone(subject, desk)
    }

    // The owner no longer accepts such clients, or none of this host.
    @Test func `a client that the policy refuses gets invalid_client`() async throws {
        let desk = try await RegistrationDesk()
        let subject = try await Subject(desk, isPublic: false)
        let host = try #require(HostPattern("rp.example.net"))
        try await desk.set { $0.refusedHosts = [host] }
        for (name, reply) in try await subject.requests(desk) {
            #expect(try reply.members["error"] as? String == "invalid_client", "\(name)")
        }
        try await desk.set { $0.refusedHosts = [] }
        #expect(try await subject.requests(desk)[0].reply.status == .ok)
    }
}
