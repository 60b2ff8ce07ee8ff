import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The time for which a document is used without a request, and its revalidation
/// (draft-ietf-oauth-client-id-metadata-document-02 §5.2).
struct ClientDocumentCacheTests {
    private static func response(
        _ document: String = DocumentWorld.document(), cacheControl: String? = nil, entityTag: String? = nil
    ) -> ClientFileFetch {
        .answered(
            .init(
                status: 200, contentType: "application/json", entityTag: entityTag, cacheControl: cacheControl,
                body: Array(document.utf8)))
    }

    private static let unchanged = ClientFileFetch.answered(.init(status: 304))

    /// Opens an authorization request, and returns the number of requests to the host so far.
    private static func open(_ world: DocumentWorld, after seconds: TimeInterval = 0) async throws -> Int {
        world.test.clock.advance(by: seconds)
        _ = try await world.attempt().firstReply().signInPage
        return world.files.requests.count
    }

    @Test(
        arguments: [
            (nil, 300.0), ("no-store", 300), ("no-cache", 300), ("max-age=0", 300), ("private, max-age=60", 300),
            ("max-age=3600", 3600), ("public, MAX-AGE=\"3600\"", 3600), ("max-age=3600, no-store", 300),
            ("max-age=31536000", 86_400), ("max-age=99999999999999999999", 300), ("max-age=-1", 300),
            ("s-maxage=9000", 300), ("nonsense", 300),
        ] as [(String?, TimeInterval)])
    func `Cache-Control counts within five minutes and a day`(cacheControl: String?, age: TimeInterval) async throws {
        let world = try await DocumentWorld()
        world.files.set(DocumentWorld.url, Self.response(cacheControl: cacheControl))
        #expect(try await Self.open(world) == 1)
        #expect(try await Self.open(world, after: age - 1) == 1)
        #expect(try await Self.open(world, after: 1) == 2)
    }

    @Test func `a document is revalidated with its entity tag`() async throws {
        let world = try await DocumentWorld()
        world.files.set(
            DocumentWorld.url, Self.response(cacheControl: "max-age=600", entityTag: "W/\"v1\""))
        #expect(try await Self.open(world) == 1)
        world.files.set(DocumentWorld.url, Self.unchanged)
        // The response says no other age, so the former one stays.
        #expect(try await Self.open(world, after: 600) == 2)
        #expect(try await Self.open(world, after: 599) == 2)
        world.files.set(DocumentWorld.url, .answered(.init(status: 304, cacheControl: "max-age=900")))
        #expect(try await Self.open(world, after: 1) == 3)
        #expect(try await Self.open(world, after: 899) == 3)
        world.files.set(DocumentWorld.url, Self.response())
        #expect(try await Self.open(world, after: 1) == 4)
        #expect(try await Self.open(world, after: 300) == 5)
        #expect(world.files.requests.map(\.entityTag) == [nil, "W/\"v1\"", "W/\"v1\"", "W/\"v1\"", nil])
    }

    // RFC 9110 §8.8.3. A tag is kept in memory and sent again.
    @Test(arguments: [
        "v1", "\"v1", "W/v1", "w/\"v1\"", "\"a\"b\"", "\"a b\"", "\"a\r\nX: y\"", "\"é\"", "\"", "",
        "\"" + String(repeating: "t", count: 10_240) + "\"",
    ])
    func `a malformed or long entity tag is not sent`(tag: String) async throws {
        let world = try await DocumentWorld()
        world.files.set(DocumentWorld.url, Self.response(entityTag: tag))
        #expect(try await Self.open(world) == 1)
        #expect(try await Self.open(world, after: 300) == 2)
        #expect(world.files.requests.map(\.entityTag) == [nil, nil])
    }

    // Failures and invalid documents are never kept.
    @Test func `an invalid document replaces a valid one, and is not kept`() async throws {
        let world = try await DocumentWorld()
        world.files.set(DocumentWorld.url, Self.response(entityTag: "\"v1\""))
        #expect(try await Self.open(world) == 1)
        world.files.set(
            DocumentWorld.url,
            Self.response(
                DocumentWorld.document(["redirect_uris": nil]), cacheControl: "max-age=600", entityTag: "\"v2\""))
        world.test.clock.advance(by: 300)
        for count in 2...3 {
            #expect(try await world.attempt().firstReply().status == .badRequest)
            #expect(world.files.requests.count == count)
        }
        world.files.set(DocumentWorld.url, Self.response())
        #expect(try await Self.open(world) == 4)
        #expect(world.files.requests.map(\.entityTag) == [nil, "\"v1\"", nil, nil])
    }

    @Test func `the copy of a document is kept while its host fails`() async throws {
        let world = try await DocumentWorld()
        world.files.set(DocumentWorld.url, Self.response(entityTag: "\"v1\""))
        #expect(try await Self.open(world) == 1)
        world.files.set(DocumentWorld.url, .failed(.timedOut))
        world.test.clock.advance(by: 300)
        #expect(try await world.attempt().firstReply().status == .serviceUnavailable)
        world.files.set(DocumentWorld.url, Self.unchanged)
        #expect(try await Self.open(world) == 3)
        #expect(world.files.requests.map(\.entityTag) == [nil, "\"v1\"", "\"v1\""])
    }

    // The requests that the host refuses use up the limit of six a minute, and the seventh must not get the copy.
    @Test(arguments: [
        ClientFileFetch.answered(.init(status: 410)), .answered(.init(status: 404)), .answered(.init(status: 403)),
        .answered(.init(status: 500)), .failed(.timedOut), .failed(.unreachable),
    ])
    func `a document that its host does not confirm begins no authorization`(failure: ClientFileFetch) async throws {
        let world = try await DocumentWorld()
        world.files.set(DocumentWorld.url, Self.response(entityTag: "\"v1\""))
        let tokens = try await world.tokens()
        world.test.clock.advance(by: 300)
        world.files.set(DocumentWorld.url, failure)
        for _ in 0..<7 {
            let status = try await world.attempt().firstReply().status
            #expect(status == .badRequest || status == .serviceUnavailable)
        }
        #expect(world.files.requests.count == 7)
        // What a user has allowed keeps working.
        #expect(await world.test.redeem(world.refresh(tokens)).status == .ok)
        world.files.set(DocumentWorld.url, Self.response(entityTag: "\"v1\""))
        #expect(try await Self.open(world, after: 60) == 8)
        // The host has confirmed the document, so the copy can be used again.
        world.test.clock.advance(by: 300)
        for number in 0..<30 {
            let other = try world.attempt("https://app.example.net/\(number).json")
            _ = try await other.firstReply(from: "198.51.100.\(number)")
        }
        #expect(try await Self.open(world) == 38)
    }

    // RFC 9110 §15.5.5 and §15.5.11: the host says that the document does not exist any more.
    @Test(arguments: [(404, nil), (410, nil), (500, "\"v1\"")] as [(Int, String?)])
    func `a document that does not exist any more is removed from the cache`(status: Int, tag: String?) async throws {
        let world = try await DocumentWorld()
        world.files.set(DocumentWorld.url, Self.response(entityTag: "\"v1\""))
        #expect(try await Self.open(world) == 1)
        world.files.set(DocumentWorld.url, .answered(.init(status: status)))
        world.test.clock.advance(by: 300)
        _ = try await world.attempt().firstReply()
        world.files.set(DocumentWorld.url, Self.response())
        #expect(try await Self.open(world) == 3)
        #expect(world.files.requests.map(\.entityTag) == [nil, "\"v1\"", tag])
    }

    @Test func `of requests at the same time one fetches the document`() async throws {
        let files = HeldClientFiles()
        let test = try await DocumentWorld.server(files)
        async let statuses = outcomes(of: 50) { _ in try await DocumentWorld.attempt(test).firstReply().status }
        await files.waitForHeld(1)
        await files.answer()
        #expect(try await statuses == [.ok: 50])
        #expect(await files.requests.count == 1)
    }

    // The request of a user who leaves does not end the request of the others.
    @Test func `the others get the document if the first request is cancelled`() async throws {
        let files = HeldClientFiles()
        let test = try await DocumentWorld.server(files)
        let first = Task { try await DocumentWorld.attempt(test).firstReply().status }
        await files.waitForHeld(1)
        async let second = DocumentWorld.attempt(test).firstReply().status
        first.cancel()
        await files.answer()
        #expect(try await second == .ok)
        _ = await first.result
        #expect(try await DocumentWorld.attempt(test).firstReply().status == .ok)
        #expect(await files.requests.count == 1)
    }
}
