import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil client-document`.
@Suite(.timeLimit(.minutes(5)))
struct ClientDocumentTests {
    private static let url = "https://lightbox.example/client.json"

    private static func run(_ arguments: [String]) async throws -> CommandLineTool.Outcome {
        let directory = try TemporaryDirectory()
        return try await CommandLineTool.run(["client-document"] + arguments, home: directory.url)
    }

    // OAuth Client ID Metadata Document §4.1
    @Test func `the name is enough for the document of a native app`() async throws {
        let outcome = try await Self.run([Self.url, "--name", "Lightbox"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.isEmpty)
        #expect(
            outcome.output == """
                {
                  "application_type" : "native",
                  "client_id" : "https://lightbox.example/client.json",
                  "client_name" : "Lightbox",
                  "grant_types" : [
                    "authorization_code",
                    "refresh_token"
                  ],
                  "redirect_uris" : [
                    "http://127.0.0.1/callback"
                  ],
                  "response_types" : [
                    "code"
                  ],
                  "token_endpoint_auth_method" : "none"
                }

                """)
    }

    @Test func `the document contains what the options name, and notes go to standard error`() async throws {
        let outcome = try await Self.run([
            Self.url, "--name", "Lightbox", "--redirect-uri", "https://lightbox.example/callback", "--redirect-uri",
            "http://localhost:8080/callback", "--redirect-uri", "com.example.lightbox:/callback", "--client-uri",
            "https://lightbox.example", "--logo-uri", "https://lightbox.example/logo.png", "--scope", "openid photos",
        ])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let document = try JSONDecoder().decode(WireValue.self, from: Data(outcome.output.utf8))
        #expect(
            document["redirect_uris"] == [
                "https://lightbox.example/callback", "http://localhost:8080/callback", "com.example.lightbox:/callback",
            ])
        #expect(document["application_type"] == "native")
        #expect(document["client_uri"] == "https://lightbox.example")
        #expect(document["logo_uri"] == "https://lightbox.example/logo.png")
        #expect(document["scope"] == "openid photos")
        #expect(outcome.errors.contains("note   the redirect URI http://localhost:8080/callback has a port"))
        #expect(outcome.errors.contains("list http://127.0.0.1, too (RFC 8252 §8.3)"))
        let web = try await Self.run([
            Self.url, "--name", "Lightbox", "--redirect-uri", "https://lightbox.example/callback",
        ])
        #expect(web.output.contains(#""application_type" : "web""#))
    }

    @Test(
        arguments: [
            (["http://lightbox.example/client.json", "--name", "Lightbox"], "must be https"),
            (["https://lightbox.example", "--name", "Lightbox"], "must have a path"),
            ([url], "Name the client with --name"),
            ([url, "--name", "Lightbox", "--check"], "--check reads the document at the URL"),
            ([url, "--name", "Lightbox", "--redirect-uri", "http://lightbox.example/"], "http is allowed only for"),
            ([url, "--name", "Lightbox", "--redirect-uri", "javascript:alert(1)"], "browsers handle the scheme"),
            ([url, "--name", "Lightbox", "--logo-uri", "data:image/png,a"], "logo_uri is not an https URL"),
        ])
    func `a document that no server could use is not printed`(arguments: [String], words: String) async throws {
        let outcome = try await Self.run(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    /// Checks a document that is published at `https://127.0.0.1`, and returns the exit code and the findings.
    private static func check(
        _ members: String, type: String = "application/json", status: String = "200 OK"
    ) async throws -> (Int32, DoctorReport) {
        let directory = try TemporaryDirectory()
        let authority = try TLSAuthority()
        let result = Mutex<(Int32, DoctorReport)?>(nil)
        try await authority.run(sendsFiles: true) { port in
            let url = "https://127.0.0.1:\(port)/client.json"
            let body = "{\(members.replacing("URL", with: url))}"
            let head = "HTTP/1.0 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            try authority.answer(head + body, named: "client.json")
            let outcome = try await CommandLineTool.run(
                ["client-document", url, "--check", "--json"], home: directory.url,
                environment: ["SSL_CERT_FILE": authority.certificate])
            let report = try JSONDecoder().decode(DoctorReport.self, from: Data(outcome.output.utf8))
            result.withLock { $0 = (outcome.status, report) }
        }
        return try #require(result.withLock { $0 })
    }

    private static let valid =
        #""client_id":"URL","client_name":"Lightbox","redirect_uris":["http://127.0.0.1/callback"],"#
        + #""application_type":"native","grant_types":["authorization_code","refresh_token"],"#
        + #""token_endpoint_auth_method":"none""#

    // OAuth Client ID Metadata Document §4 and §4.1
    @Test func `a published document is judged as servers judge it`() async throws {
        let (status, report) = try await Self.check(Self.valid)
        #expect(status == 0, "\(report.findings)")
        #expect(report.topics.contains("document"))
        for (change, topic) in [
            ((#""client_id":"URL""#, #""client_id":"URL/""#), "document-client-id"),
            ((#""none""#, #""client_secret_basic""#), "document-method"),
            ((#""none""#, #""none","client_secret":"a""#), "document-secret"),
            ((#""none""#, #""private_key_jwt""#), "document-key"),
            ((#","token_endpoint_auth_method":"none""#, ""), "document-method"),
            ((#"["http://127.0.0.1/callback"]"#, "[]"), "document-redirects"),
            (("http://127.0.0.1/callback", "http://lightbox.example/"), "document-redirect-uri"),
            ((#"["authorization_code","refresh_token"]"#, #"["implicit"]"#), "document-grants"),
            ((#""none""#, #""none","logo_uri":"javascript:a""#), "document-url"),
            ((#""client_name":"Lightbox","#, #""client_name":"Lightbox","client_name":"a","#), "document-unreadable"),
        ] {
            let (status, report) = try await Self.check(Self.valid.replacing(change.0, with: change.1))
            #expect(report.faultTopics == [topic], "\(change)")
            #expect(status == 5)
        }
        for (change, topic) in [
            ((#""application_type":"native","#, ""), "document-application-type"),
            ((#","refresh_token""#, ""), "document-refresh"), ((#""client_name":"Lightbox","#, ""), "document-name"),
            (("http://127.0.0.1/callback", "lightbox:/callback"), "document-scheme"),
            (("http://127.0.0.1/callback", "https://lightbox.example/callback"), "document-other-host"),
        ] {
            let (status, report) = try await Self.check(Self.valid.replacing(change.0, with: change.1))
            #expect(report.topics.contains(topic), "\(change)")
            #expect(status == 0, "\(report.findings)")
        }
    }

    // OAuth Client ID Metadata Document §4: only the status 200 counts.
    @Test func `a document that servers do not accept or cannot fetch is a fault`() async throws {
        let (_, page) = try await Self.check(Self.valid, type: "text/html")
        #expect(page.faultTopics == ["document-type"], "\(page.findings)")
        let (status, missing) = try await Self.check(Self.valid, status: "302 Found")
        #expect(missing.faultTopics == ["document-missing"], "\(missing.findings)")
        #expect(status == 5)
        let outcome = try await Self.run(["https://127.0.0.1:9/client.json", "--check", "--json"])
        #expect(outcome.status == 6)
    }
}
