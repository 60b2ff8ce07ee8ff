import CounterfoilClient
import CounterfoilClientTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of `counterfoil credential aws` against a scripted endpoint in place of the Security Token Service.
@Suite(.timeLimit(.minutes(5)))
struct CredentialAWSTests {
    private static let role = "arn:aws:iam::123456789012:role/photos"

    private static func document(
        _ inside: String = """
        <AccessKeyId>ASIAEXAMPLE</AccessKeyId>
              <SecretAccessKey>a/secret+key</SecretAccessKey>
              <SessionToken>session &amp; &#x3C;token&#62;</SessionToken>
              <Expiration>2026-11-23T21:00:00Z</Expiration>
        """
    ) -> String {
        """
        <?xml version="1.0"?>
        <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
          <AssumeRoleWithWebIdentityResult>
            <Audience>a > b</Audience>
            <Credentials>\(inside)</Credentials>
            <Empty a="x>y"/>
          </AssumeRoleWithWebIdentityResult>
          <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>
        </AssumeRoleWithWebIdentityResponse>

        """
    }

    private static func answer(_ text: String, status: Int = 200) -> Interruption {
        Interruption(
            at: .api,
            ScriptedAnswer(status: status, headerFields: [.init("Content-Type", "text/xml")], body: .text(text)))
    }

    @Test func `the ID token is exchanged for the credentials of a role`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            server.change { $0.interruptions = [Self.answer(Self.document())] }
            let service = server.url(of: .api)
            let outcome = try await CommandLineTool.credential(
                "aws", "--role-arn", Self.role, "--sts-endpoint", service, "--duration", "900", home: home)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(
                outcome.output
                    == "{\"AccessKeyId\":\"ASIAEXAMPLE\",\"Expiration\":\"2026-11-23T21:00:00Z\","
                    + "\"SecretAccessKey\":\"a/secret+key\",\"SessionToken\":\"session & <token>\",\"Version\":1}\n")
            let request = try #require(server.requests(to: .api).first)
            #expect(request.method == .post && request.query.pairs.isEmpty && request.authorization == nil)
            #expect(request.form["Action"] == "AssumeRoleWithWebIdentity" && request.form["Version"] == "2011-06-15")
            #expect(request.form["RoleArn"] == Self.role && request.form["RoleSessionName"] == "counterfoil")
            #expect(request.form["DurationSeconds"] == "900")
            let token = try #require(request.form["WebIdentityToken"])
            #expect(token.split(separator: ".").count == 3 && !server.accessTokens.contains(token))
            let access = try await CommandLineTool.credential(
                "aws", "--role-arn", Self.role, "--sts-endpoint", service, "--access-token", "--session-name",
                "alice@example.com", home: home)
            #expect(access.status == 0)
            #expect(server.requests(to: .api).last?.form["WebIdentityToken"] == server.accessTokens[0])
            #expect(server.requests(to: .api).last?.form["RoleSessionName"] == "alice@example.com")
        }
    }

    @Test func `a token goes only to a Security Token Service that the sign-in names`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            for arguments in [[], ["--access-token"], ["--sts-endpoint", "http://sts.example.com"]] {
                let outcome = try await CommandLineTool.run(
                    ["credential", "aws", "--role-arn", Self.role] + arguments, home: home)
                #expect(outcome.status == 64 && outcome.output.isEmpty)
            }
            for arguments in [
                ["--role-arn", "photos"], ["--role-arn", Self.role, "--duration", "10"],
                ["--role-arn", Self.role, "--session-name", "a b"],
            ] {
                #expect(try await CommandLineTool.run(["credential", "aws"] + arguments, home: home).status == 64)
            }
        }
    }

    @Test func `an error of the Security Token Service is reported without the token`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let token = server.accessTokens[0]
            func error(_ code: String, _ message: String = "no") -> String {
                "<ErrorResponse><Error><Type>Sender</Type><Code>\(code)</Code><Message>\(message)</Message></Error>"
                    + "<RequestId>1</RequestId></ErrorResponse>"
            }
            let cases: [(Interruption, Int32, String)] = [
                (Self.answer(error("AccessDenied", "not for \(token)"), status: 403), 7, "AccessDenied: not for …"),
                (Self.answer(error("Throttling"), status: 400), 6, "(status 400): Throttling: no"),
                (Self.answer("<html>", status: 503), 6, "(status 503): no reason"),
                (Self.answer("", status: 302), 7, "(status 302)"),
            ]
            for (interruption, status, words) in cases {
                server.change { $0.interruptions = [interruption] }
                let outcome = try await CommandLineTool.credential(
                    "aws", "--role-arn", Self.role, "--sts-endpoint", server.url(of: .api), "--access-token",
                    home: home)
                #expect(outcome.status == status && outcome.output.isEmpty, "\(outcome.errors)")
                #expect(outcome.errors.contains(words), "\(outcome.errors)")
                #expect(!outcome.errors.contains(token))
            }
        }
    }

    @Test func `a malformed response contains no credentials`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let whole = Self.document()
        let malformed = [
            "", "{}", "<a>", "<a></b>", "text", whole + "<more/>", whole + "text",
            whole.replacing("<Audience>", with: "<!-- c --><Audience>"),
            whole.replacing("<?xml version=\"1.0\"?>", with: "<!DOCTYPE a [<!ENTITY e \"x\">]>"),
            whole.replacing("&amp;", with: "&e;"), whole.replacing("&#62;", with: "&#xD800;"),
            whole.replacing("a/secret+key", with: "<![CDATA[a]]>"),
            whole.replacing("2026-11-23T21:00:00Z", with: "tomorrow"),
            whole.replacing("<Credentials>", with: "<Credentials><AccessKeyId>B</AccessKeyId>"),
            whole.replacing("AssumeRoleWithWebIdentityResult", with: "AssumeRoleResult"),
            String(repeating: "<a>", count: 9) + String(repeating: "</a>", count: 9),
        ]
        let cut = stride(from: 40, to: whole.utf8.count - 3, by: 131).map {
            String(decoding: whole.utf8.prefix($0), as: UTF8.self)
        }
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            for document in malformed + cut {
                server.change { $0.interruptions = [Self.answer(document)] }
                let outcome = try await CommandLineTool.credential(
                    "aws", "--role-arn", Self.role, "--sts-endpoint", server.url(of: .api), "--access-token",
                    home: home)
                #expect(outcome.status == 5 && outcome.output.isEmpty, "\(document)")
                #expect(outcome.errors.contains("contains no credentials; check --sts-endpoint"))
            }
        }
    }
}
