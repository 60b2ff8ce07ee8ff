import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Authentication of a confidential client by its secret at the token endpoint (RFC 6749 §2.3.1).
struct ClientSecretTests {
    private static let address = "https://app.example/cb"

    /// A web client with two secrets, one of which replaces the other.
    private struct WebClient {
        let test: TestServer
        let client: RegisteredClient
        let secrets = [ClientSecret(), ClientSecret()]

        init(_ test: TestServer) async throws {
            self.test = test
            client = try await test.register(
                "Gallery", type: .web, at: [ClientSecretTests.address], under: .standard(for: .web),
                secret: secrets[0])
            let second = ClientSecretRecord(
                digest: ArtefactDigest(of: secrets[1]), clientID: client.id, createdAt: test.clock.now)
            #expect(try await test.store.addClientSecret(second) == .added)
        }

        /// The token request for a new code, without client authentication.
        func exchange() async throws -> FormParameters {
            let attempt = Attempt(test, by: client, at: ClientSecretTests.address)
            return attempt.exchange(try await attempt.authorize().code)
        }
    }

    @Test func `the identifier of a secret contains no part of its digest`() throws {
        let client = try #require(ClientIdentifier("app_gallery"))
        let records = (0..<100).map { _ in
            ClientSecretRecord(
                digest: ArtefactDigest(of: ClientSecret()), clientID: client,
                createdAt: Date(timeIntervalSince1970: 1_800_000_000))
        }
        #expect(Set(records.map(\.shortID)).count == records.count)
        for record in records {
            let digest = record.digest.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(record.shortID.wholeMatch(of: /[0-9a-f]{12}/) != nil)
            #expect(!digest.contains(record.shortID.prefix(8)))
        }
    }

    private static func basic(_ id: String, _ secret: String) -> HTTPFields {
        [.authorization: "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()]
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { "%" + (($0 < 16 ? "0" : "") + String($0, radix: 16)) }.joined()
    }

    // RFC 6749 §2.3.1: client_secret_basic and client_secret_post, with either of two secrets.
    @Test(arguments: [0, 1])
    func `a confidential client redeems a code with its secret`(index: Int) async throws {
        let web = try await WebClient(try await TestServer())
        let secret = web.secrets[index].exposed
        let posted = try await web.exchange().adding("client_secret", secret)
        #expect(try await web.test.redeem(posted).tokenResponse.isBearer)
        let fields = Self.basic(web.client.id.rawValue, secret)
        #expect(try await web.test.redeem(web.exchange(), fields: fields).tokenResponse.isBearer)
        let named = try await web.exchange().setting("client_id", to: nil)
        #expect(try await web.test.redeem(named, fields: fields).tokenResponse.isBearer)
    }

    // The standard form-encodes the field, and many clients do not; both are read alike.
    @Test func `a form-encoded secret in the Authorization field is the same secret`() async throws {
        let web = try await WebClient(try await TestServer())
        let fields = Self.basic(Self.encoded(web.client.id.rawValue), Self.encoded(web.secrets[0].exposed))
        #expect(try await web.test.redeem(web.exchange(), fields: fields).tokenResponse.isBearer)
    }

    // A code is bound to its client, whichever other client authenticates.
    @Test func `another authenticated client cannot redeem a code`() async throws {
        let web = try await WebClient(try await TestServer())
        let secret = ClientSecret()
        let other = try await web.test.register(
            "Album", type: .web, at: [Self.address], under: .standard(for: .web), secret: secret)
        let form = try await web.exchange()
        let fields = Self.basic(other.id.rawValue, secret.exposed)
        let foreign = await web.test.redeem(form.setting("client_id", to: nil), fields: fields)
        #expect(try foreign.tokenError.error == "invalid_grant")
        let mixed = await web.test.redeem(form, fields: fields)
        #expect(try ["invalid_request", "invalid_client"].contains(mixed.tokenError.error))
        let own = Self.basic(web.client.id.rawValue, web.secrets[0].exposed)
        #expect(await web.test.redeem(form, fields: own).status == .ok)
    }

    // Issued identifiers and secrets are the same encoded and raw, so either form works.
    @Test func `issued identifiers and secrets need no encoding`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        for _ in 0..<20 {
            let reply = try await developer.register(Developer.form(type: "web", redirectURIs: Self.address))
            let page = try reply.secretsPage
            for text in [page.client.clientID, try #require(page.newSecret)] {
                #expect(text.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil)
                #expect(FormParameters(["x": text]).encoded == "x=" + text)
            }
        }
    }

    // RFC 6749 §3.2.1
    @Test func `a confidential client without authentication is refused`() async throws {
        let web = try await WebClient(try await TestServer())
        let form = try await web.exchange()
        let replies = [
            await web.test.redeem(form), await web.test.redeem(form.adding("client_secret", "")),
            await web.test.redeem(form, fields: Self.basic(web.client.id.rawValue, "")),
        ]
        for reply in replies {
            #expect(reply.status == .unauthorized)
            #expect(try reply.tokenError.error == "invalid_client")
            #expect(try #require(reply.fields[.wwwAuthenticate]).hasPrefix("Basic realm="))
        }
        // RFC 6749 §5.2: a client assertion is no HTTP authentication.
        let asserted = await web.test.redeem(
            form.adding("client_assertion", "e30.e30.e30").adding(
                "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"))
        #expect(asserted.status == .badRequest && asserted.fields[.wwwAuthenticate] == nil)
        #expect(try asserted.tokenError.error == "invalid_client")
        #expect(await web.test.redeem(form.adding("client_secret", web.secrets[0].exposed)).status == .ok)
    }

    // RFC 6749 §5.2: the same response for every wrong secret, with a challenge in HTTP authentication only, and
    // the code stays valid.
    @Test func `a wrong secret is refused and consumes nothing`() async throws {
        let web = try await WebClient(try await TestServer())
        let form = try await web.exchange()
        let good = web.secrets[0].exposed
        let wrong = [
            ClientSecret().exposed, String(good.dropLast()), good + "A", good.lowercased(), "x", " " + good, "\0", "é",
            String(repeating: "a", count: 4000), "\(good)&client_secret=\(good)", "' OR 1=1 --", "%",
        ]
        for secret in wrong {
            let posted = await web.test.redeem(form.adding("client_secret", secret))
            #expect(posted.status == .badRequest)
            #expect(posted.fields[.wwwAuthenticate] == nil)
            let basic = await web.test.redeem(form, fields: Self.basic(web.client.id.rawValue, secret))
            #expect(basic.status == .unauthorized)
            #expect(basic.fields[.wwwAuthenticate]?.hasPrefix("Basic realm=") == true)
            for reply in [posted, basic] { #expect(try reply.tokenError.error == "invalid_client") }
        }
        #expect(await web.test.redeem(form.adding("client_secret", good)).status == .ok)
        for line in web.test.log.lines { #expect(!line.contains(good)) }
    }

    // An attacker who guesses secrets does not learn which clients exist.
    @Test func `an unknown client and a wrong secret get the same response`() async throws {
        let web = try await WebClient(try await TestServer())
        let form = try await web.exchange()
        let guess = ClientSecret().exposed
        for id in ["app_gallery", "app_unknown"] {
            let posted = await web.test.redeem(form.setting("client_id", to: id).adding("client_secret", guess))
            let basic = await web.test.redeem(form.setting("client_id", to: id), fields: Self.basic(id, guess))
            #expect(posted.status == .badRequest && posted.fields[.wwwAuthenticate] == nil)
            #expect(basic.status == .unauthorized && basic.fields[.wwwAuthenticate] != nil)
            for reply in [posted, basic] {
                #expect(try reply.tokenError.error == "invalid_client")
                #expect(
                    try reply.tokenError.errorDescription
                        == "the client_id or the client_secret is wrong")
            }
        }
    }

    @Test func `a deleted secret stops working immediately`() async throws {
        let web = try await WebClient(try await TestServer())
        let form = try await web.exchange()
        #expect(try await web.test.store.removeClientSecret(ArtefactDigest(of: web.secrets[0]), of: web.client.id))
        let ended = form.adding("client_secret", web.secrets[0].exposed)
        #expect(try await web.test.redeem(ended).tokenError.error == "invalid_client")
        #expect(await web.test.redeem(form.adding("client_secret", web.secrets[1].exposed)).status == .ok)
    }

    // A secret proves the identity of its own client only.
    @Test func `the secret of another client is refused`() async throws {
        let web = try await WebClient(try await TestServer())
        let other = ClientSecret()
        _ = try await web.test.register(
            "Frames", type: .web, at: [Self.address], under: .standard(for: .web), secret: other)
        let form = try await web.exchange().adding("client_secret", other.exposed)
        #expect(try await web.test.redeem(form).tokenError.error == "invalid_client")
        let theirs = form.setting("client_id", to: "app_frames")
        #expect(try await web.test.redeem(theirs).tokenError.error == "invalid_grant")
    }

    // Even a secret stored by mistake does not authenticate a public client.
    @Test(arguments: [ClientType.native, .singlePage, .device])
    func `a public client cannot authenticate with a secret`(type: ClientType) async throws {
        let test = try await TestServer()
        let secret = ClientSecret()
        let client = try await test.register(
            "Darkroom", type: type, at: [Self.address], under: .standard(for: type), secret: secret)
        for text in [secret.exposed, "anything"] {
            let form = FormParameters([
                "grant_type": "authorization_code", "client_id": client.id.rawValue,
                "code": AuthorizationCode().exposed,
                "client_secret": text,
            ])
            let posted = await test.redeem(form)
            #expect(posted.status == .badRequest)
            #expect(try posted.tokenError.error == "invalid_client")
            #expect(
                try posted.tokenError.errorDescription
                    == "this is a public client without a secret; send client_id alone")
            let basic = await test.redeem(
                form.setting("client_secret", to: nil), fields: Self.basic(client.id.rawValue, text))
            #expect(basic.status == .unauthorized)
            #expect(try basic.tokenError.error == "invalid_client")
        }
    }

    // A secret in the URL is ignored.
    @Test func `a secret in the URL is ignored`() async throws {
        let web = try await WebClient(try await TestServer())
        let form = try await web.exchange()
        let reply = await web.test.redeem(form, query: "client_secret=\(web.secrets[0].exposed)")
        #expect(try reply.tokenError.error == "invalid_client")
    }
}
