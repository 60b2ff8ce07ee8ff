import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of the doctor at servers with one misbehavior each.
@Suite(.timeLimit(.minutes(5)))
struct DoctorTests {
    /// Creates a script for a server that checks redirect URIs and has some misbehaviors.
    private static func script(_ misbehaviors: Misbehavior...) -> ServerScript {
        var script = ServerScript(misbehaviors)
        script.clients.redirects = .anyPort(["http://127.0.0.1/callback"], hosts: ["127.0.0.1"])
        return script
    }

    private static let client = ["--client-id", "lightbox", "--scope", "openid photos.read"]
    private static let signIn = client + ["--sign-in", "--browser", "print"]

    @Test func `a server without misbehaviors has no faults`() async throws {
        try await ScriptedAuthorizationServer.run(Self.script(.rotatesLeniently)) { server in
            let (outcome, report) = try await DoctorReport.of(
                [server.issuer.rawValue, "--resource", server.url(of: .api)] + Self.signIn)
            #expect(report.faultTopics.isEmpty, "\(report.findings)")
            #expect(outcome.status == 0)
            for topic in [
                "metadata", "pkce", "clock", "keys", "token-refuses", "authorization", "redirect", "redirect-exact",
                "challenge", "resource", "sign-in", "user-info", "api", "refresh-token-rotates-leniently",
            ] { #expect(report.topics.contains(topic), "\(topic)") }
            for secret in server.secrets {
                #expect(!outcome.output.contains(secret))
                #expect(!outcome.errors.contains(secret))
            }
        }
    }

    @Test(
        arguments: [
            (.trailingSlashIssuer, "issuer-mismatch", 5), (.templateIssuer, "issuer-mismatch", 5),
            (.foreignIssuer, "issuer-mismatch", 5), (.hidesPKCE, "pkce-not-stated", 5),
            (.plainPKCE, "pkce-not-stated", 5), (.noMetadata, "metadata-missing", 5),
            (.htmlMetadata, "metadata-unreadable", 5), (.doubledMetadata, "metadata-unreadable", 5),
            (.deepMetadata, "metadata-unreadable", 5), (.scriptAuthorizationEndpoint, "endpoint-unusable", 5),
            (.fileAuthorizationEndpoint, "endpoint-unusable", 5),
            (.insecureAuthorizationEndpoint, "endpoint-unusable", 5),
            (.optionAuthorizationEndpoint, "endpoint-unusable", 5), (.insecureTokenEndpoint, "endpoint-unusable", 5),
            (.clockAhead, "clock-off", 5), (.clockBehind, "clock-off", 5), (.htmlTokens, "token-answer-unreadable", 5),
            (.hugeTokens, "answer-too-large", 5), (.endlessTokens, "no-answer-in-time", 6),
            (.doubledTokens, "token-answer-unreadable", 5), (.deepTokens, "token-answer-unreadable", 5),
            (.formEncodedTokens, "token-answer-form", 5), (.redirectsTokenRequests, "token-redirects", 5),
            (.redirectsTokenRequestsForNow, "token-redirects", 5), (.refusesWithStatus200, "refusal-status-200", 0),
            (.wrapsInOK, "ok-envelope", 0), (.tooManyRequestsOnce, "busy", 0), (.unavailableOnce, "busy", 0),
            (.unavailableUntilADate, "busy", 0), (.tenThousandKeys, "answer-too-large", 5),
            (.staleKeys, "keys-change", 0),
            (.requiresDPoP, "dpop-required", 0), (.noPushedRequests, "par-absent", 0),
        ] as [(Misbehavior, String, Int32)])
    func `metadata and error responses reveal these misbehaviors`(
        misbehavior: Misbehavior, topic: String, status: Int32
    ) async throws {
        try await ScriptedAuthorizationServer.run(Self.script(misbehavior)) { server in
            let (outcome, report) = try await DoctorReport.of([server.issuer.rawValue])
            #expect(report.topics.contains(topic), "\(report.topics)")
            #expect(outcome.status == status, "\(report.faultTopics)")
            #expect((report.faults > 0) == (status != 0))
            #expect(report.findings.allSatisfy { $0.weight != "fault" || $0.mend?.isEmpty == false })
        }
    }

    @Test(
        arguments: [
            (.omitsIssuer, "iss-missing", 5), (.wrongIssuer, "iss-wrong", 5), (.staleState, "state-wrong", 5),
            (.omitsState, "state-wrong", 5), (.twoStates, "state-wrong", 5), (.twoCodes, "parameter-twice", 5),
            (.codeAndError, "code-and-error", 5), (.deniesAccess, "access-denied", 0),
            (.staleError, "state-wrong", 5), (.evilAccountsServer, "foreign-exchange-server", 5),
            (.verificationURL, "device-verification-url", 0), (.noInterval, "device-no-interval", 0),
            (.authorizationPending, "device", 0), (.slowsDown, "device-slow-down", 0),
            (.slowsDownWith429, "device-slow-down-429", 0), (.otherDataCentre, "device-other-data-centre", 0),
            (.requiresPushedRequests, "par-required", 0),
        ] as [(Misbehavior, String, Int32)])
    func `authorization requests without a page reveal these misbehaviors`(
        misbehavior: Misbehavior, topic: String, status: Int32
    ) async throws {
        try await ScriptedAuthorizationServer.run(Self.script(misbehavior)) { server in
            let (outcome, report) = try await DoctorReport.of([server.issuer.rawValue] + Self.client)
            #expect(report.topics.contains(topic), "\(report.topics)")
            #expect(outcome.status == status, "\(report.faultTopics)")
        }
    }

    @Test func `an error page and a wrong redirect URI are distinguished from a sign-in page`()
        async throws
    {
        for (status, topic) in [(200, "authorization-page"), (400, "redirect-refused")] {
            var script = Self.script(.strandsTheUser)
            script.authorization.outcome = .page(status)
            try await ScriptedAuthorizationServer.run(script) { server in
                let (_, report) = try await DoctorReport.of([server.issuer.rawValue] + Self.client)
                #expect(report.topics.contains(topic), "\(report.topics)")
            }
        }
        try await ScriptedAuthorizationServer.run(Self.script()) { server in
            let (outcome, report) = try await DoctorReport.of(
                [server.issuer.rawValue, "--redirect-uri", "http://127.0.0.1/other"] + Self.client)
            #expect(report.faultTopics == ["redirect-refused"])
            #expect(outcome.status == 7)
        }
        // RFC 6749 §3.1.2.4
        try await ScriptedAuthorizationServer.run { server in
            let (outcome, report) = try await DoctorReport.of([server.issuer.rawValue] + Self.client)
            #expect(report.faultTopics == ["redirect-anywhere"])
            #expect(outcome.status == 5)
        }
    }

    @Test(
        arguments: [
            (.manyChallenges, "challenge", 0), (.brokenChallenge, "challenge-unreadable", 5),
            (.nestedErrors, "api-error-object", 0), (.redirectsAPI, "api-redirects", 5),
            (.evilResourceMetadata, "resource-metadata-address", 5), (.foreignResource, "resource-mismatch", 5),
        ] as [(Misbehavior, String, Int32)])
    func `a request to the API without a token reveals these misbehaviors`(
        misbehavior: Misbehavior, topic: String, status: Int32
    ) async throws {
        try await ScriptedAuthorizationServer.run(Self.script(misbehavior)) { server in
            let (outcome, report) = try await DoctorReport.of(
                [server.issuer.rawValue, "--resource", server.url(of: .api)])
            #expect(report.topics.contains(topic), "\(report.topics)")
            #expect(outcome.status == status, "\(report.faultTopics)")
        }
    }

    @Test(
        arguments: [
            (.givesNoRefreshToken, "refresh-token-none", 0), (.omitsRefreshToken, "refresh-token-kept", 0),
            (.rotatesLeniently, "refresh-token-rotates-leniently", 0), (.rotates, "refresh-token-rotates", 0),
            (.rotatesStrictly, "refresh-token-rotates-strictly", 0),
            (.rotatesAndDropsTheReply, "refresh-answer-lost", 6),
            (.rotatesStrictlyAndDropsTheReply, "refresh-answer-lost", 6), (.refusesRefresh, "refresh-refused", 7),
            (.nestsTokens, "tokens-nested", 5), (.expiresInText, "expires-in-text", 0),
            (.expiresInMilliseconds, "expires-in-milliseconds", 0), (.expiresInNegative, "expires-in-unusable", 5),
            (.expiresInHuge, "expires-in-unusable", 5), (.expiresInAbsent, "expires-in-absent", 0),
            (.lowerCaseBearer, "token-type-case", 0), (.macTokens, "token-type-unknown", 5),
            (.commaSeparatedScope, "scope-commas", 0), (.omitsIDToken, "id-token", 5),
            (.idTokenWrongIssuer, "id-token", 5), (.idTokenWrongAudience, "id-token", 5),
            (.idTokenTwoAudiences, "id-token", 5), (.idTokenWrongNonce, "id-token", 5),
            (.idTokenNoNonce, "id-token", 5), (.idTokenExpired, "id-token", 5), (.idTokenNoSubject, "id-token", 5),
            (.idTokenNoIssueTime, "id-token", 5), (.idTokenNoAudience, "id-token", 5),
            (.idTokenUnsigned, "id-token", 5), (.idTokenHS256, "id-token", 5),
            (.idTokenBrokenSignature, "id-token", 5), (.idTokenUnknownKey, "id-token", 5),
            (.refreshedIDTokenOtherSubject, "refresh-other-person", 5), (.userInfoOtherSubject, "user-info", 5),
            (.userInfoNoSubject, "user-info", 5), (.signedUserInfo, "user-info", 0),
            (.wantsMoreScope, "api-wants-scope", 0),
            (.wantsStrongerSignIn, "api-wants-sign-in", 0), (.losesAuthorization, "api-refuses-token", 7),
        ] as [(Misbehavior, String, Int32)])
    func `a sign-in reveals these misbehaviors`(misbehavior: Misbehavior, topic: String, status: Int32) async throws {
        try await ScriptedAuthorizationServer.run(Self.script(misbehavior)) { server in
            let (outcome, report) = try await DoctorReport.of(
                [server.issuer.rawValue, "--resource", server.url(of: .api)] + Self.signIn)
            #expect(report.topics.contains(topic), "\(report.topics)")
            #expect(outcome.status == status, "\(report.findings.filter { $0.weight == "fault" })")
        }
    }

    // RFC 6749 §5.1 and §6
    @Test(
        arguments: [
            ({ @Sendable in $0.tokens.expiresIn = .raw("3599.5") }, "expires-in-fraction", 0),
            ({ @Sendable in $0.tokens.expiresIn = .raw("1e400") }, "expires-in-unusable", 5),
            ({ @Sendable in $0.tokens.expiresIn = .raw("\"1h\"") }, "expires-in-unusable", 5),
            ({ @Sendable in $0.tokens.extras = [WireMember("scope", ["openid", "photos.read"])] }, "scope-list", 0),
            ({ @Sendable in $0.tokens.extras = [WireMember("refresh_token", 7)] }, "token-member-unusable", 5),
            (
                { @Sendable in
                    $0.interruptions = [
                        Interruption(
                            at: .token, grantType: "refresh_token",
                            .json(#"{"access_token":"a","token_type":"mac","refresh_token":"r"}"#))
                    ]
                }, "refresh-withheld", 5
            ),
            // The claims of the ID token are {"iss":"https://login.example.com"}.
            (
                { @Sendable in
                    $0.interruptions = [
                        Interruption(
                            at: .token, grantType: "refresh_token",
                            .json(
                                #"{"access_token":"a","token_type":"Bearer","refresh_token":"r","id_token":"#
                                    + #""e30.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIn0.c2ln"}"#))
                    ]
                }, "refresh-withheld", 5
            ),
        ] as [(@Sendable (inout ServerScript) -> Void, String, Int32)])
    func `a sign-in reveals odd members of token responses`(
        change: @escaping @Sendable (inout ServerScript) -> Void, topic: String, status: Int32
    ) async throws {
        var script = Self.script()
        change(&script)
        try await ScriptedAuthorizationServer.run(script) { server in
            let (outcome, report) = try await DoctorReport.of([server.issuer.rawValue] + Self.signIn)
            #expect(report.topics.contains(topic), "\(report.topics)")
            #expect(report.topics.contains("sign-in"))
            #expect(outcome.status == status, "\(report.findings.filter { $0.weight == "fault" })")
        }
    }

    // RFC 9449 §5
    @Test(
        arguments: [(.refusesProofs, "dpop-refused", 7), (.ignoresProofs, "dpop-ignored", 5)]
            as [(Misbehavior, String, Int32)])
    func `a sign-in with DPoP reveals these misbehaviors`(misbehavior: Misbehavior, topic: String, status: Int32)
        async throws
    {
        try await ScriptedAuthorizationServer.run(Self.script(misbehavior)) { server in
            let (outcome, report) = try await DoctorReport.of([server.issuer.rawValue, "--dpop"] + Self.signIn)
            #expect(report.faultTopics == [topic])
            #expect(outcome.status == status)
        }
    }

    // RFC 9449 §5: a server that ignores proofs rejects the code only, which shows nothing.
    @Test(
        arguments: [
            ([], true), ([.requiresDPoP], true), ([.refusesProofs], true), ([.ignoresProofs], false),
        ] as [([Misbehavior], Bool)])
    func `an invalid proof shows that a server checks proofs, and bound tokens are named as not tried`(
        misbehaviors: [Misbehavior], isShown: Bool
    ) async throws {
        var script = ServerScript(misbehaviors)
        script.clients.redirects = .anyPort(["http://127.0.0.1/callback"], hosts: ["127.0.0.1"])
        try await ScriptedAuthorizationServer.run(script) { server in
            let (outcome, report) = try await DoctorReport.of([server.issuer.rawValue])
            #expect(outcome.status == 0, "\(report.findings)")
            #expect(report.topics.contains("dpop-offered"))
            #expect(report.topics.contains("dpop-checks") == isShown, "\(report.topics)")
            let left = report["not-tried"]?.text ?? ""
            #expect(left.contains("tokens that are bound to a key (--sign-in --dpop)"), "\(left)")
            let proofs = server.requests(to: .token).compactMap { request in
                HTTPField.Name("DPoP").flatMap { request.headerFields[$0] }
            }
            #expect(proofs.count == 1)
        }
    }

    @Test func `bound tokens are not named as left out if they were tried or are not offered`() async throws {
        let (outcome, report, _) = try await Self.verdict(Self.script(), Self.signIn + ["--dpop"])
        #expect(outcome.status == 0, "\(report.findings)")
        #expect(report["not-tried"]?.text.contains("bound to a key") == false, "\(report.findings)")
        let (_, other, requests) = try await Self.verdict(.product(.hydra), Self.productClient)
        #expect(other["not-tried"]?.text.contains("bound to a key") == false, "\(other.findings)")
        #expect(!requests.contains { $0.headerFields.contains { $0.name.canonicalName == "dpop" } })
    }

    /// Runs the doctor on a server that publishes its own issuer.
    static func verdict(
        _ script: ServerScript, _ arguments: [String]
    ) async throws -> (CommandLineTool.Outcome, DoctorReport, [RecordedRequest]) {
        try await ScriptedAuthorizationServer.run(script) { server in
            let (outcome, report) = try await DoctorReport.of([server.publishedIssuer] + arguments)
            return (outcome, report, server.requests)
        }
    }

    @Test func `an error page behind a redirect is found`() async throws {
        var script = ServerScript.product(.hydra)
        script.authorization.rejection = .pageElsewhere("/oauth2/fallbacks/error", 404)
        let (outcome, report, _) = try await Self.verdict(
            script, Self.productClient + ["--redirect-uri", "http://127.0.0.1/other"])
        #expect(report.faultTopics == ["redirect-refused"], "\(report.findings)")
        #expect(outcome.status == 7)
    }

    @Test func `a page instead of one metadata document is no fault`() async throws {
        var script = Self.script()
        script.metadata.forms = [.openID]
        script.interruptions = [Interruption(at: .unknown, .html())]
        let (outcome, report, _) = try await Self.verdict(script, [])
        #expect(report.topics.contains("metadata"))
        #expect(outcome.status == 0, "\(report.findings)")
    }

    // RFC 6749 §2.3, RFC 7523 §2.2
    @Test func `clients with a secret or a key are examined`() async throws {
        let directory = try TemporaryDirectory()
        let secret = directory.path("secret")
        try Data("client-secret-that-nobody-may-see".utf8).write(to: URL(fileURLWithPath: secret))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        var script = Self.script()
        script.clients.authentication = .post
        script.metadata.replaced = [
            WireMember("token_endpoint_auth_methods_supported", ["client_secret_basic", "client_secret_post"])
        ]
        let (without, report, _) = try await Self.verdict(script, Self.client)
        #expect(report.faultTopics.contains("client-refused"))
        #expect(without.status == 7)
        let (outcome, other, _) = try await Self.verdict(
            script, Self.signIn + ["--client-secret-file", secret])
        #expect(other.faultTopics.isEmpty, "\(other.findings)")
        #expect(outcome.status == 0)
        #expect(!outcome.output.contains("nobody-may-see"))

        let key = directory.path("key")
        let jwk = #"{"kty":"EC","crv":"P-256","d":"UwOyHXKmSVouZd0XAqlSu-D-rcPLlV_K-ARH7TNmu_I"}"#
        try Data(jwk.utf8).write(to: URL(fileURLWithPath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        let (refused, issuer, _) = try await Self.verdict(
            .hydraWithClientKey, Self.productClient + ["--client-key", key])
        #expect(refused.status == 7)
        #expect(
            issuer.findings.contains { $0.mend?.contains("--assertion-audience token-endpoint") == true },
            "\(issuer.findings)")
        let (accepted, endpoint, _) = try await Self.verdict(
            .hydraWithClientKey,
            Self.productClient + ["--client-key", key, "--assertion-audience", "token-endpoint", "--sign-in"]
                + ["--browser", "print"])
        #expect(endpoint.faultTopics.isEmpty, "\(endpoint.findings)")
        #expect(accepted.status == 0)
    }

    @Test func `only with --origin are scripts of a browser examined`() async throws {
        let origin = ["--origin", "https://app.example.com"]
        let (refused, report, requests) = try await Self.verdict(Self.script(), origin)
        #expect(report.faultTopics == ["cors-metadata", "cors-endpoint"], "\(report.findings)")
        #expect(refused.status == 5)
        #expect(requests.contains { $0.origin == "https://app.example.com" })
        var script = Self.script()
        script.allowsEveryOrigin = true
        let (allowed, other, _) = try await Self.verdict(script, origin)
        #expect(other.topics.contains("cors-credentials"))
        #expect(allowed.status == 0, "\(other.findings)")
    }

    @Test func `binding is a fault if the server does not announce it`() async throws {
        let (outcome, report, requests) = try await Self.verdict(
            .product(.hydra), Self.productClient + ["--dpop", "--sign-in", "--browser", "print"])
        #expect(report.faultTopics == ["dpop-not-offered"], "\(report.findings)")
        #expect(outcome.status == 5)
        #expect(!requests.contains { $0.form["code"]?.hasPrefix("counterfoil-doctor") == false })
    }

    /// Returns a port below the range from which the kernel assigns ports, on which nothing listens.
    static func unusedPort() async throws -> Int {
        try await Waiting.until("an unused port") {
            let port = Int.random(in: 20_000..<32_000)
            let uri = try LoopbackRedirectURI("http://127.0.0.1:\(port)/callback")
            guard let receiver = try? await LoopbackReceiver.listen(at: uri) else { return nil }
            await receiver.close()
            return port
        }
    }

    @Test func `the doctor prints sentences, also for a server that cannot be reached`() async throws {
        let directory = try TemporaryDirectory()
        let gone = try await CommandLineTool.run(["doctor", "http://127.0.0.1:9"], home: directory.url)
        #expect(gone.status == 6)
        #expect(
            gone.output.contains(
                "FAULT  the metadata: http://127.0.0.1:9 cannot be reached: the connection was refused"))
        #expect(gone.output.contains("       → check the name, the port and the network"))
        for arguments in [[], ["not a url"], ["https://id.example.com", "--sign-in"], ["--vendor", "nobody"]] {
            #expect(
                try await CommandLineTool.run(["doctor"] + arguments, home: directory.url).status == 64, "\(arguments)")
        }
    }
}
