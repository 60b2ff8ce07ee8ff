import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

import struct TestSupport.Site

/// The way from the page of a failed sign-in to its reason, with the programs alone.
@Suite(.timeLimit(.minutes(5)))
struct FailedSignInTests {
    /// Signs in on the page of an authorization request, and returns the reference on the error page.
    private static func reference(_ request: ClientAuthorizationRequest, _ name: String, _ password: String)
        async throws -> String
    {
        var browser = UserAgent()
        let form = try await browser.open(request.url).form(with: "password")
        let page = try await browser.submit(form, ["username": name, "password": password])
        #expect((400..<500).contains(page.status))
        return try #require(page.body.firstMatch(of: /(?i)reference <code>([^<]+)<\/code>/).map { String($0.output.1) })
    }

    @Test func `the response to a disabled account is that to a wrong password and to an unknown user`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let request = ClientAuthorizationRequest(site, try await site.registerClient())
            try await site.serving {
                func response(to name: String, _ password: String) async throws -> [String] {
                    var browser = UserAgent()
                    let form = try await browser.open(request.url).form(with: "password")
                    let page = try await browser.post(form, ["username": name, "password": password])
                    let reference = try #require(page.header("x-request-id"))
                    func masked(_ text: String) -> String {
                        text.replacing(name, with: "NAME").replacing(reference, with: "REFERENCE")
                            .replacing(/(name="ticket" value=")[^"]+/) { $0.output.1 + "TICKET" }
                    }
                    #expect(page.body.contains(reference) && masked(page.body).contains("TICKET"))
                    return ["\(page.status)"]
                        + page.headers.filter { $0.name != "date" }
                        .map { "\($0.name): \(masked($0.value))" } + [masked(page.body)]
                }
                let wrong = try await response(to: "alice", "not the password")
                let unknown = try await response(to: "clive", Account.alice.password)
                #expect(try await site.administer(["user", "disable", "alice"]).status == 0)
                let disabled = try await response(to: "alice", Account.alice.password)
                #expect(wrong.first == "400" && wrong == unknown && wrong == disabled)
            }
        }
    }

    @Test func `a response to a program has the reference of its refusal in X-Request-ID`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let server = try await site.start(
                options: ["--log-format", "json", "--log-level", "info", "--unregistered-clients", "registration"])
            try await server.whileRunning {
                var program = UserAgent()
                let form = FormParameters([
                    "grant_type": "client_credentials", "client_id": "app_unknown", "client_secret": "wrong",
                    "token": "none",
                ])
                var references: Set<String> = []
                for (path, endpoint) in [
                    ("token", "token"), ("introspect", "introspection"), ("revoke", "revocation"),
                    ("par", "pushedAuthorization"), ("device_authorization", "deviceAuthorization"),
                    ("register", "registration"), ("userinfo", "userInfo"),
                ] {
                    let answer = try await program.send(.post, site.issuer + "/oauth2/" + path, form: form)
                    #expect((400..<500).contains(answer.status), "\(path)")
                    let reference = try #require(answer.header("x-request-id"), "\(path)")
                    // RFC 6749 §5.2 has no member for it.
                    #expect(!answer.body.contains(reference))
                    let line = try await server.said("the answer") { program in
                        try program.logEvents.first { $0["request"] == reference && $0["message"] == "answered" }
                    }
                    #expect(line["endpoint"] == endpoint)
                    references.insert(reference)
                }
                #expect(references.count == 7)
                let token = try await program.send(.post, site.issuer + "/oauth2/token", form: form)
                let reference = try #require(token.header("x-request-id"))
                let found = try await site.administer(["audit", "list", "--request", reference])
                #expect(found.output.contains("client-authentication refused: invalid_client"), "\(found)")
            }
        }
    }

    @Test func `the command finds the reason by the reference, and by user, source, outcome and time`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let request = ClientAuthorizationRequest(site, try await site.registerClient())
            let server = try await site.start(options: ["--log-format", "json"])
            try await server.whileRunning {
                let wrong = try await Self.reference(request, "alice", "not the password")
                let unknown = try await Self.reference(request, "nobody", Account.alice.password)
                #expect(try await site.administer(["user", "disable", "alice"]).status == 0)
                let disabled = try await Self.reference(request, "alice", Account.alice.password)

                func list(_ options: String...) async throws -> [String] {
                    let ended = try await site.administer(["audit", "list"] + options)
                    #expect(ended.status == 0, "\(ended.errors)")
                    return ended.output.split(separator: "\n").map(String.init)
                }
                for (reference, reason) in [
                    (wrong, "wrong_password"), (unknown, "unknown_user"), (disabled, "disabled"),
                ] {
                    let found = try await list("--request", reference)
                    #expect(found.count == 1 && found[0].contains("sign-in refused: \(reason)"), "\(found)")
                    #expect(found.first?.contains("  source=127.0.0.1  request=\(reference)") == true, "\(found)")
                    let lines = try server.logEvents.filter { $0["request"] == reference }
                    #expect(lines.map { $0["reason"] } == [reason] && lines.first?["level"] == "notice", "\(lines)")
                    #expect(lines.first?["endpoint"] == "signIn" && lines.first?["source"] == "127.0.0.1")
                }
                #expect(try await list("--person", "alice", "--outcome", "refused").count == 2)
                #expect(try await list("--source", "127.0.0.1", "--outcome", "refused").count == 3)
                #expect(try await list("--source", "192.0.2.1") == ["No matching events."])
                #expect(try await list("--until", "2026-01-01") == ["No matching events."])
                #expect(try await list("--outcome", "refused", "--since", "2026-01-01T03:12").count == 3)
                let json = try await site.administer(["audit", "list", "--request", disabled, "--json"]).output
                #expect(json.contains(#""reason":"disabled""#) && !json.contains(#""detail""#), "\(json)")
                let local = try await list("--request", disabled, "--local-time")
                #expect(local.first?.contains(/^[\d-]+T[\d:]+[+-]\d\d:\d\d\b/) == true, "\(local)")
                let refused = try await site.administer(["audit", "list", "--until", "soon"])
                #expect(refused.status == 64 && refused.errors.contains("--until must be today"))
                #expect(!server.errors.contains("nobody") && !server.errors.contains("not the password"))
            }
        }
    }
}
