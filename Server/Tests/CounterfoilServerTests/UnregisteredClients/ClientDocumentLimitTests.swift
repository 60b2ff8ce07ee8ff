import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The limits of what unregistered clients cost: requests to other hosts, memory and rows.
struct ClientDocumentLimitTests {
    private static func url(_ number: Int, at host: String = "app.example.net") -> String {
        "https://\(host)/clients/\(number).json"
    }

    /// One of the IP addresses that name documents, so that the limit of one address is not reached.
    private static func source(_ number: Int) -> String { "198.51.\(number / 200 % 200).\(number % 200 + 1)" }

    private static func status(_ test: TestServer, _ url: String, by number: Int = 0) async throws -> Int {
        try await DocumentWorld.attempt(test, url).firstReply(from: source(number)).status.code
    }

    @Test func `four requests to a host run at a time, and others wait for one of them`() async throws {
        let files = HeldClientFiles()
        let test = try await DocumentWorld.server(files)
        async let statuses = outcomes(of: 4) { number in try await Self.status(test, Self.url(number)) }
        await files.waitForHeld(4)
        async let fifth = Self.status(test, Self.url(4))
        async let elsewhere = Self.status(test, Self.url(0, at: "other.example.com"))
        await files.waitForHeld(5)
        #expect(await files.requests.count == 5)
        await files.answer(Self.url(0, at: "other.example.com"))
        #expect(try await elsewhere == 200)
        await files.answer()
        await files.waitForHeld(1)
        await files.answer()
        #expect(try await fifth == 200)
        #expect(try await statuses == [200: 4])
    }

    // A document that takes for ever holds one place of its host, and none of another.
    @Test func `thirty-two requests run at a time`() async throws {
        let files = HeldClientFiles { !$0.contains("fast") }
        let test = try await DocumentWorld.server(files)
        async let statuses = outcomes(of: 32) { number in
            try await Self.status(test, Self.url(0, at: "host\(number).example.net"), by: number)
        }
        await files.waitForHeld(32)
        let refused = try await DocumentWorld.attempt(test, Self.url(1, at: "fast.example.net")).firstReply()
        #expect(refused.status == .serviceUnavailable)
        #expect(try refused.developerReason?.contains("too many client documents are fetched at the moment") == true)
        #expect(refused.fields[.retryAfter] == "60")
        await files.answer()
        #expect(try await statuses == [200: 32])
        #expect(try await Self.status(test, Self.url(1, at: "fast.example.net")) == 200)
    }

    @Test func `a thousand documents at once cost what the limits say`() async throws {
        let files = HeldClientFiles { _ in false }
        let test = try await DocumentWorld.server(files)
        let statuses = try await outcomes(of: 1000) { number in
            try await Self.status(test, Self.url(0, at: "host\(number).example.net"), by: number)
        }
        #expect(Set(statuses.keys).isSubset(of: [200, 503]))
        #expect(statuses[200, default: 0] <= 600)
        #expect(await files.requests.count == statuses[200])
        #expect(try await test.store.clients().map(\.id) == [test.lightbox.id])
        test.clock.advance(by: 60)
        #expect(try await Self.status(test, Self.url(0, at: "late.example.net")) == 200)
    }

    // The host answers each URL with a document of its own.
    @Test func `thirty requests a minute go to one host`() async throws {
        let files = HeldClientFiles { _ in false }
        let test = try await DocumentWorld.server(files)
        for number in 0..<30 { #expect(try await Self.status(test, Self.url(number), by: number) == 200) }
        #expect(try await Self.status(test, Self.url(30)) == 503)
        #expect(try await Self.status(test, Self.url(0)) == 200)
        #expect(try await Self.status(test, Self.url(0, at: "other.example.com")) == 200)
        #expect(await files.requests.count == 31)
        test.clock.advance(by: 60)
        #expect(try await Self.status(test, Self.url(30)) == 200)
    }

    // Strangers who use up the limit of a host cannot keep users from a client that the server knows.
    @Test func `a copy is used if only the limits prevent a request`() async throws {
        let files = HeldClientFiles { _ in false }
        let test = try await DocumentWorld.server(files)
        func useUp(_ minute: Int) async throws {
            for number in 0..<30 { _ = try await Self.status(test, Self.url(1000 * minute + number), by: number) }
        }
        #expect(try await Self.status(test, Self.url(0)) == 200)
        test.clock.advance(by: 86_399)
        try await useUp(1)
        #expect(try await Self.status(test, Self.url(0)) == 200)
        #expect(await files.requests.count == 31)
        // A copy of a day is too old.
        test.clock.advance(by: 60)
        try await useUp(2)
        #expect(try await Self.status(test, Self.url(0)) == 503)
        test.clock.advance(by: 60)
        #expect(try await Self.status(test, Self.url(0)) == 200)
    }

    @Test func `six requests a minute go to one URL`() async throws {
        let world = try await DocumentWorld([:])
        for _ in 0..<20 { #expect(try await world.attempt().firstReply().status == .serviceUnavailable) }
        #expect(world.files.requests.count == 6)
        world.publish([:])
        world.test.clock.advance(by: 60)
        #expect(try await world.attempt().firstReply().status == .ok)
    }

    // The host answers one URL with another document each time.
    @Test func `a document that always changes costs a request and an event every five minutes`() async throws {
        let world = try await DocumentWorld()
        _ = try await world.attempt().authorize().code
        for number in 1...3 {
            world.publish(["client_name": "\"Version \(number)\""])
            world.test.clock.advance(by: 300)
            for _ in 0..<20 { #expect(try await world.attempt().firstReply().status == .ok) }
            #expect(world.files.requests.count == number + 1)
            #expect(try await world.stored?.presentation.name == "Version \(number)")
        }
        #expect(try await world.audited.count == 4)
        #expect(
            try await world.test.store.unregisteredClientHosts(startingWith: "", after: nil, limit: 9).map(
                \.count.clients) == [1])
    }

    // Paths that do not exist cost the stranger a request each, and the other users of the host none.
    @Test func `one address causes ten requests a minute, and others get the documents of the host`() async throws {
        let known = Self.url(0)
        let world = try await DocumentWorld([
            known: DocumentWorld.document(at: known), Self.url(1): DocumentWorld.document(at: Self.url(1)),
        ])
        let test = world.test
        #expect(try await Self.status(test, known, by: 0) == 200)
        test.clock.advance(by: 300)
        for number in 2..<12 { #expect(try await Self.status(test, Self.url(number), by: 1) == 503) }
        test.clock.advance(by: 20)
        for number in 12..<60 {
            let refused = try await DocumentWorld.attempt(test, Self.url(number)).firstReply(from: Self.source(1))
            #expect(refused.status == .tooManyRequests)
            #expect(refused.fields[.retryAfter] == "40")
            #expect(
                try refused.developerReason?.contains("too many client documents from this address") == true)
        }
        #expect(world.files.requests.count == 11)
        #expect(try await test.store.audit(AuditQuery(kind: .throttled)).first?.event.explanation == "client documents")
        // A copy in the cache costs nothing.
        #expect(try await Self.status(test, known, by: 1) == 200)
        #expect(world.files.requests.count == 11)
        // The host answers those who come from elsewhere.
        #expect(try await Self.status(test, Self.url(1), by: 2) == 200)
        #expect(try await Self.status(test, Self.url(1), by: 1) == 200)
        test.clock.advance(by: 40)
        #expect(try await Self.status(test, Self.url(12), by: 1) == 503)
        #expect(world.files.requests.count == 13)
    }

    // The documents are in the cache, and their keys are at another host.
    @Test func `one address causes ten requests for keys a minute`() async throws {
        let urls = (0..<12).map { "https://app\($0).example.net/client.json" }
        let world = try await DocumentWorld([:])
        for (number, url) in urls.enumerated() {
            let members = [
                "token_endpoint_auth_method": #""private_key_jwt""#,
                "jwks_uri": "\"https://keys.example.org/\(number).json\"",
            ]
            world.files.set(url, .json(DocumentWorld.document(at: url, members)))
            #expect(try await Self.status(world.test, url, by: number) == 200)
        }
        let known = world.files.requests.count
        for url in urls {
            let parts = [#"{"alg":"ES256"}"#, "{\"iss\":\"\(url)\",\"sub\":\"\(url)\"}", "signature"]
            let assertion = parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
            let refused = try await DocumentWorld.attempt(world.test, url).with("client_assertion", assertion)
                .with("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer").push()
            #expect(try refused.members["error"] as? String == "invalid_client")
        }
        let asked = world.files.requests.dropFirst(known)
        #expect(asked.allSatisfy { $0.url.rawValue.hasPrefix("https://keys.example.org/") })
        #expect(asked.count == 10)
    }

    // RFC 9126 §2.3, RFC 8628 §3.1
    @Test func `a pushed request beyond the limit of its address gets 429`() async throws {
        let world = try await DocumentWorld([:])
        for number in 0..<10 {
            #expect(try await DocumentWorld.attempt(world.test, Self.url(number)).push().status == .serviceUnavailable)
        }
        let refused = try await DocumentWorld.attempt(world.test, Self.url(10)).push()
        #expect(refused.status == .tooManyRequests)
        #expect(try refused.members["error"] as? String == "temporarily_unavailable")
        #expect(refused.fields[.retryAfter] == "60")
    }

    @Test func `a thousand documents are kept, those that were used last`() async throws {
        let files = HeldClientFiles { _ in false }
        let test = try await DocumentWorld.server(files)
        func open(_ number: Int) async throws {
            // Slow enough for the limit of requests, and fast enough that no document expires.
            test.clock.advance(by: 0.2)
            #expect(try await Self.status(test, Self.url(0, at: "host\(number).example.net"), by: number) == 200)
        }
        for number in 0..<1000 { try await open(number) }
        // Document 0 is used again, so document 1 is the oldest.
        try await open(0)
        try await open(1001)
        #expect(await files.requests.count == 1001)
        try await open(0)
        #expect(await files.requests.count == 1001)
        try await open(1)
        #expect(await files.requests.count == 1002)
    }

    @Test func `documents of stored clients are kept longest`() async throws {
        let files = HeldClientFiles { _ in false }
        let test = try await DocumentWorld.server(files)
        let stored = Self.url(0, at: "stored.example.net")
        _ = try await DocumentWorld.attempt(test, stored).authorize().code
        #expect(try await Self.status(test, stored) == 200)
        for number in 0..<1200 {
            test.clock.advance(by: 0.2)
            #expect(try await Self.status(test, Self.url(0, at: "host\(number).example.net"), by: number) == 200)
        }
        let before = await files.requests.count
        #expect(try await Self.status(test, stored) == 200)
        #expect(await files.requests.count == before)
    }

    @Test func `one user adds twenty clients in an hour`() async throws {
        let files = HeldClientFiles { _ in false }
        let test = try await DocumentWorld.server(files)
        func allow(_ number: Int) async throws -> Reply {
            let attempt = try DocumentWorld.attempt(test, Self.url(0, at: "host\(number).example.net"))
            var browser = test.browser(source: Self.source(number))
            return try await browser.authorize(attempt.url, username: "alice", password: TestServer.password)
        }
        for number in 0..<20 { _ = try await allow(number).code }
        let refused = try await allow(20)
        #expect(refused.status == .tooManyRequests)
        #expect(refused.fields[.retryAfter] == "3600")
        #expect(try await test.store.audit(AuditQuery(kind: .throttled)).first?.event.explanation == "first approvals")
        // A client that is stored is no new one.
        _ = try await allow(0).code
        test.clock.advance(by: 3600)
        _ = try await allow(20).code
    }

    // RFC 9126 §2: documents cost an attacker nothing, so all of them count as one client.
    @Test func `pushed requests of all clients with documents are limited together`() async throws {
        let files = HeldClientFiles { _ in false }
        let test = try await DocumentWorld.server(files)
        for number in 0..<500 {
            let attempt = try DocumentWorld.attempt(test, Self.url(number % 8))
            #expect(await attempt.push().status == .created)
        }
        #expect(try await DocumentWorld.attempt(test, Self.url(8)).push().status == .tooManyRequests)
        let elsewhere = try await DocumentWorld.attempt(test, Self.url(9)).push(source: "198.51.100.9")
        #expect(elsewhere.status == .created)
        #expect(await Attempt(test).push().status == .created)
        #expect(try await test.store.clients().count == 1)
    }
}
