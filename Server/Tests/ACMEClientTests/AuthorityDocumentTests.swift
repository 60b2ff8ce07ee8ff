import ACMETesting
import Foundation
import Testing

@testable import ACMEClient

@Suite("ACME: documents of an authority")
struct AuthorityDocumentTests {
    private func url() throws -> AuthorityURL { try #require(AuthorityURL("https://ca.example/directory")) }

    @Test(arguments: [
        ("https://ca.example/directory", true), ("http://127.0.0.1:14000/dir", true), ("http://localhost/dir", true),
        ("http://ca.example/directory", false), ("https://user@ca.example/", false), ("ca.example", false),
        ("https:///directory", false), ("ftp://ca.example/", false),
    ])
    func `a directory is at an https URL, or at this machine`(text: String, isAccepted: Bool) {
        #expect((AuthorityURL(text) != nil) == isAccepted)
    }

    @Test(arguments: [301, 302, 307, 308])
    func `a redirect of an authority is not followed`(status: Int) async throws {
        let host = ScriptedHost()
        let redirect = "HTTP/1.1 \(status) Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
        let answered = try await host.run(answering: [Array(redirect.utf8)]) { port in
            let authority = HTTPAuthority(trusting: nil, userAgent: "test")
            let request = AuthorityRequest(
                method: .get, url: "http://127.0.0.1:\(port)/directory", accepted: "application/json", body: [])
            let response = try? await authority.send(request)
            await authority.close()
            return response
        }
        #expect(answered?.status == status)
        #expect(host.requests.count == 1)
    }

    // RFC 8555 §7.1.1
    @Test func `a directory names its resources, each over https`() throws {
        let json = """
            {"newNonce":"https://ca.example/nonce","newAccount":"https://ca.example/account",
            "newOrder":"https://ca.example/order","renewalInfo":"https://ca.example/renewal","keyChange":"x",
            "meta":{"termsOfService":"https://ca.example/terms","externalAccountRequired":true}}
            """
        let directory = try #require(AuthorityDirectory(Array(json.utf8), from: try url()))
        #expect(directory.newOrder == "https://ca.example/order")
        #expect(directory.renewalInfo == "https://ca.example/renewal")
        #expect(directory.requiresExternalAccount)
        #expect(directory.termsOfService == "https://ca.example/terms")
        for bad in [
            json.replacingOccurrences(of: "https://ca.example/order", with: "http://ca.example/order"),
            json.replacingOccurrences(of: "newNonce", with: "nonce"), "[]", "", "{",
        ] {
            #expect(AuthorityDirectory(Array(bad.utf8), from: try url()) == nil)
        }
    }

    // RFC 8555 §7.1.3
    @Test func `an order has a status that the standard knows`() throws {
        func order(_ status: String, authorization: String = "https://ca.example/authz/1") throws -> AuthorityOrder? {
            let json = """
                {"status":"\(status)","authorizations":["\(authorization)"],"finalize":"https://ca.example/finalize",
                "certificate":"https://ca.example/cert"}
                """
            return AuthorityOrder(Array(json.utf8), from: try url())
        }
        for status in ["pending", "ready", "processing", "valid", "invalid"] {
            #expect(try order(status)?.status.rawValue == status)
        }
        #expect(try order("done") == nil)
        #expect(try order("valid", authorization: "http://internal.example/") == nil)
        #expect(try order("valid")?.certificate == "https://ca.example/cert")
    }

    // RFC 8555 §8.1: a token has at least 128 bits, and is base64url.
    @Test(arguments: [
        ("evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA", 1), ("short", 0), ("evaGxfADs6pSRb2LAv9IZf17../etc", 0),
    ])
    func `a challenge without a proper token is none`(token: String, count: Int) throws {
        let json = """
            {"status":"pending","identifier":{"type":"dns","value":"ID.example.com"},
            "challenges":[{"type":"http-01","url":"https://ca.example/c/1","token":"\(token)"},{"type":"dns-01"}]}
            """
        let authorization = try #require(HostAuthorization(Array(json.utf8), from: try url()))
        #expect(authorization.host == "id.example.com")
        #expect(authorization.challenges.count == count)
    }

    // RFC 8555 §6.7.1
    @Test func `a problem tells its parts, and no control character reaches the log`() {
        let json = #"""
            {"type":"urn:ietf:params:acme:error:malformed","detail":"Some of the identifiers\u001b[31m\nwere rejected",
            "subproblems":[{"type":"urn:ietf:params:acme:error:rejectedIdentifier","detail":"not allowed",
            "identifier":{"type":"dns","value":"example.org"}}]}
            """#
        let problem = AuthorityProblem(status: 403, body: Array(json.utf8))
        #expect(problem.type == "malformed")
        #expect(
            problem.description
                == "malformed: Some of the identifiers\u{FFFD}[31m\u{FFFD}were rejected "
                + "(example.org: rejectedIdentifier: not allowed)")
        #expect(AuthorityProblem(status: 502, body: Array("<html>".utf8)).description == "status 502")
        let detail = #"{"detail":"\#(String(repeating: "a", count: 10_000))"}"#
        let long = AuthorityProblem(status: 403, body: Array(detail.utf8))
        #expect(long.description.count < 400)
    }

    // RFC 9110 §10.2.3
    @Test(
        arguments: [
            ("120", 120.0), ("Thu, 01 Jan 1970 00:02:00 GMT", 20), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("soon", nil),
            ("-1", nil),
        ] as [(String, Double?)])
    func `the pause that an authority asks for is a number or a date`(text: String, pause: Double?) {
        let response = AuthorityResponse(status: 503, retryAfter: text)
        #expect(response.pause(at: Date(timeIntervalSince1970: 100)) == pause)
    }

    // RFC 9773 §4.2
    @Test func `renewal information is a window`() throws {
        func information(_ start: String, _ end: String) -> RenewalInformation? {
            RenewalInformation(
                Array(
                    """
                    {"suggestedWindow":{"start":"\(start)","end":"\(end)"},"explanationURL":"https://ca.example/why"}
                    """.utf8))
        }
        let window = try #require(information("2025-01-02T04:00:00Z", "2025-01-03T04:00:00.5Z"))
        #expect(window.start == Date(timeIntervalSince1970: 1_735_790_400))
        #expect(window.end == Date(timeIntervalSince1970: 1_735_876_800.5))
        #expect(window.explanation == "https://ca.example/why")
        #expect(information("2025-01-03T04:00:00Z", "2025-01-02T04:00:00Z") == nil)
        #expect(information("tomorrow", "2025-01-02T04:00:00Z") == nil)
    }
}
