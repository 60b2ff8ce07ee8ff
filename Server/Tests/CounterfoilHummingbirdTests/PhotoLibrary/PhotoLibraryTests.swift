import CounterfoilProtocol
import CounterfoilResource
import CounterfoilServerTesting
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import photo_library

@Suite struct PhotoLibraryTests {
    private struct Album: Decodable {
        struct Photo: Decodable, Hashable {
            let id: String
            let title: String
        }
        let photos: [Photo]
    }

    /// A client of the API.
    private struct Visitor: Sendable {
        let client: any TestClientProtocol

        func send(
            _ method: HTTPRequest.Method = .get, _ path: String = "/photos", token: String? = nil, body: String? = nil
        ) async throws -> TestResponse {
            var headers: HTTPFields = [:]
            headers[.authorization] = token.map { "Bearer \($0)" }
            return try await client.executeRequest(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        }

        func album(token: String) async throws -> [Album.Photo] {
            let answer = try await send(token: token)
            #expect(answer.status == .ok)
            return try JSONDecoder().decode(Album.self, from: Data(answer.body.readableBytesView)).photos
        }
    }

    private func visit(
        _ authority: Authority, logger: Logger? = nil, _ test: @Sendable (Visitor) async throws -> Void
    ) async throws {
        let library = PhotoLibrary(resourceServer: authority.resourceServer())
        try await Application(router: library.router(), logger: logger).test(.router) { client in
            try await test(Visitor(client: client))
        }
    }

    @Test func `a user finds a starter album and adds to it`() async throws {
        try await Authority.run { authority async throws in
            let token = try authority.token(scope: "photos.read photos.write")
            try await visit(authority) { visitor async throws in
                let starters = try await visitor.album(token: token)
                #expect(starters.map(\.title) == ["First snow on the ridge", "Harbour at dawn"])
                let created = try await visitor.send(.post, token: token, body: #"{"title":" Grüße aus Åre "}"#)
                #expect(created.status == .created)
                let location = try #require(created.headers[.location])
                let shown = try await visitor.send(.get, location, token: token)
                let photo = try JSONDecoder().decode(Album.Photo.self, from: Data(shown.body.readableBytesView))
                #expect(photo.title == "Grüße aus Åre")
                #expect(location == "/photos/\(photo.id)")
                #expect(try await visitor.album(token: token) == starters + [photo])
            }
        }
    }

    @Test func `the number of all photos is for services, and not for users`() async throws {
        try await Authority.run { authority async throws in
            let user = try authority.token(subject: "anna")
            let service = try authority.token(subject: "lightbox")
            try await visit(authority) { visitor async throws in
                _ = try await visitor.album(token: user)
                let answer = try await visitor.send(.get, "/statistics", token: service)
                #expect(String(buffer: answer.body) == #"{"photos":2}"#)
                #expect(try await visitor.send(.get, "/statistics", token: user).status == .forbidden)
                #expect(try await visitor.send(.get, "/photos", token: service).status == .forbidden)
            }
        }
    }

    // A valid token of another user is not sufficient.
    @Test func `the photo of another user is 403 and an unknown one is 404`() async throws {
        try await Authority.run { authority async throws in
            let anna = try authority.token(subject: "anna")
            let bert = try authority.token(subject: "bert")
            try await visit(authority) { visitor async throws in
                let photo = try #require(try await visitor.album(token: anna).first)
                #expect(try await visitor.send(.get, "/photos/\(photo.id)", token: anna).status == .ok)
                let refused = try await visitor.send(.get, "/photos/\(photo.id)", token: bert)
                #expect(refused.status == .forbidden)
                #expect(refused.headers[.wwwAuthenticate] == nil)
                #expect(!String(buffer: refused.body).contains(photo.title))
                #expect(try await !visitor.album(token: bert).contains(photo))
                for id in [UUID().uuidString, "1", "%2e%2e"] {
                    #expect(try await visitor.send(.get, "/photos/\(id)", token: anna).status == .notFound)
                }
            }
        }
    }

    // RFC 9700 §4.15: a client with the identifier of a user cannot access the photos of that user.
    @Test func `a token without a user sees no photos`() async throws {
        try await Authority.run { authority async throws in
            let token = try authority.token(subject: "anna", clientID: "anna", scope: "photos.read photos.write")
            try await visit(authority) { visitor async throws in
                #expect(try await visitor.send(token: token).status == .forbidden)
                #expect(try await visitor.send(.post, token: token, body: #"{"title":"x"}"#).status == .forbidden)
            }
        }
    }

    // RFC 9728 §3 and §5.1
    @Test func `the API publishes its metadata, and its challenge names them`() async throws {
        try await Authority.run { authority async throws in
            let description = ResourceDescription(scopes: try Scope(parsing: "photos.read"), name: "Photo library")
            let library = PhotoLibrary(
                resourceServer: authority.resourceServer(publishing: description),
                allowedOrigin: "http://localhost:5173")
            try await Application(router: library.router()).test(.router) { client in
                let visitor = Visitor(client: client)
                let place = "/.well-known/oauth-protected-resource"
                let metadata = try await visitor.send(.get, place)
                #expect(metadata.status == .ok)
                #expect(metadata.headers[.accessControlAllowOrigin] == "*")
                let text = String(buffer: metadata.body)
                #expect(text.contains(#""resource":"https://photos.example""#))
                #expect(text.contains(#""scopes_supported":["photos.read"]"#))
                let nobody = try await visitor.send()
                let field = try #require(nobody.headers[.wwwAuthenticate])
                #expect(field.contains(#"resource_metadata="https://photos.example\#(place)""#))
            }
        }
    }

    // Each route requires its own scope.
    @Test func `reading and writing need separate scopes`() async throws {
        try await Authority.run { authority async throws in
            let reading = try authority.token(scope: "photos.read")
            let writing = try authority.token(scope: "photos.write")
            try await visit(authority) { visitor async throws in
                let nobody = try await visitor.send()
                #expect(nobody.status == .unauthorized)
                #expect(
                    nobody.headers[.wwwAuthenticate]
                        == "Bearer scope=\"photos.read\", DPoP algs=\"ES256 RS256 Ed25519 EdDSA\"")
                #expect(try await visitor.send(token: writing).status == .forbidden)
                let refused = try await visitor.send(.post, token: reading, body: #"{"title":"x"}"#)
                #expect(refused.status == .forbidden)
                #expect(refused.headers[.wwwAuthenticate]?.contains("scope=\"photos.write\"") == true)
                #expect(try await visitor.send(.get, "/healthz").status == .ok)
            }
        }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"title":1}"#, #"{"title":""}"#, #"{"title":"  "}"#, #"{"title":"a\u0000b"}"#, "title=x",
        "{\"title\":\"\(String(repeating: "a", count: 201))\"}",
    ])
    func `an invalid draft is refused`(body: String) async throws {
        try await Authority.run { authority async throws in
            let token = try authority.token(scope: "photos.write")
            try await visit(authority) { visitor async throws in
                let answer = try await visitor.send(.post, token: token, body: body)
                #expect(answer.status == .badRequest)
                #expect(String(buffer: answer.body).contains("invalid_photo"))
            }
        }
    }

    @Test func `a draft that is too large is not read`() async throws {
        try await Authority.run { authority async throws in
            let token = try authority.token(scope: "photos.read photos.write")
            try await visit(authority) { visitor async throws in
                let body = "{\"title\":\"\(String(repeating: "a", count: 5000))\"}"
                #expect(try await visitor.send(.post, token: token, body: body).status == .contentTooLarge)
                #expect(try await visitor.album(token: token).count == 2)
            }
        }
    }

    // Fetch §3.2. Without an allowed origin there are no CORS header fields at all.
    @Test(arguments: [
        ("http://localhost:5173", "http://localhost:5173", "http://localhost:5173"),
        ("http://localhost:5173", "https://evil.example", nil), (nil, "http://localhost:5173", nil),
    ])
    func `only a page of the allowed origin reads responses`(
        allowed: String?, origin: String, answered: String?
    ) async throws {
        try await Authority.run { authority async throws in
            let library = PhotoLibrary(resourceServer: authority.resourceServer(), allowedOrigin: allowed)
            try await Application(router: library.router()).test(.router) { client in
                let refused = try await client.executeRequest(
                    uri: "/photos", method: .get, headers: [.origin: origin], body: nil)
                #expect(refused.status == .unauthorized)
                #expect(refused.headers[.accessControlAllowOrigin] == answered)
                #expect(refused.headers[.accessControlExposeHeaders] == "WWW-Authenticate")
                let asked: HTTPFields = [
                    .origin: origin, .accessControlRequestMethod: "GET", .accessControlRequestHeaders: "authorization",
                ]
                let preflight = try await client.executeRequest(
                    uri: "/photos", method: .options, headers: asked, body: nil)
                #expect(preflight.headers[.accessControlAllowOrigin] == answered)
                let fields = preflight.headers[.accessControlAllowHeaders]?.lowercased()
                #expect((fields?.contains("authorization") == true) == (allowed != nil))
            }
        }
    }

    // Every spelling of a path that reaches a photo passes the same check.
    @Test(arguments: [
        "//photos", "/photos/", "/photos;x", "/photos%2f..", "/healthz/../photos", "/./photos", "/Photos",
        "/photos?x=/healthz",
        "/photos%3Faccess_token=x", "/%70hotos",
    ])
    func `no spelling of the path bypasses the token`(path: String) async throws {
        try await Authority.run { authority async throws in
            try await visit(authority) { visitor async throws in
                let answer = try await visitor.send(.get, path)
                #expect([.unauthorized, .notFound].contains(answer.status))
                #expect(!String(buffer: answer.body).contains("title"))
            }
        }
    }

    // A valid token in the query is ignored and not logged.
    @Test func `a token in the query is ignored and never logged`() async throws {
        try await Authority.run { authority async throws in
            let token = try authority.token()
            let log = RecordedLog()
            try await visit(authority, logger: log.logger) { visitor async throws in
                let answer = try await visitor.send(.get, "/photos?access_token=\(token)")
                #expect(answer.status == .unauthorized)
                #expect(answer.headers[.wwwAuthenticate]?.contains("error") == false)
                _ = try await visitor.send(token: token + "x")
            }
            let text = log.lines.joined(separator: "\n")
            #expect(text.contains("access refused"))
            for part in token.split(separator: ".") {
                #expect(!text.contains(part))
            }
        }
    }
}
