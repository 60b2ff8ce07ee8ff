@_spi(Counterfoil) import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of the exit codes: each has one meaning, and 3 always means that the user has to sign in again.
@Suite(.timeLimit(.minutes(5)))
struct ExitCodeTests {
    private static let expired: ServerScript = {
        var script = ServerScript(.noPushedRequests)
        script.tokens.expiresIn = .raw("0")
        return script
    }()

    @Test(arguments: [
        ("a throttled answer", ScriptedAnswer.refusal("slow_down", status: 429), 6),
        ("a status 429", .trouble(429), 6),
        ("the redirect of a captive portal", .redirect(to: "http://portal.example.com/"), 6),
        ("the page of a captive portal", .html(), 6),
        ("the refusing page of a captive portal", .html(status: 403), 6),
        ("the status 511 of a captive portal", .trouble(511), 6),
        ("an error that no standard defines", .refusal("network_login_required", status: 403), 6),
        ("a closed connection", .closed, 6),
        ("a disabled client", .refusal("unauthorized_client"), 7),
        ("a revoked refresh token", .refusal("invalid_grant"), 3),
    ])
    func `only the end of the sign-in ends a refresh with 3`(
        what: String, answer: ScriptedAnswer, status: Int32
    ) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(Self.expired) { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            server.change {
                $0.tokens.expiresIn = .seconds
                $0.interruptions = [Interruption(at: .token, grantType: "refresh_token", answer)]
            }
            let token = try await CommandLineTool.run(["token"], home: home)
            #expect(token.status == status, "\(what): \(token.errors)")
            #expect(token.output.isEmpty)
            server.change { $0.interruptions = [] }
            let again = try await CommandLineTool.run(["token"], home: home)
            #expect(again.status == (status == 3 ? 3 : 0), "\(what): \(again.errors)")
        }
    }

    @Test func `a refusal of a sign-in ends with 7`() async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run(ServerScript(.deniesAccess)) { server in
            let login = try await CommandLineTool.signIn(at: server, home: directory.url)
            #expect(login.status == 7)
            #expect(login.errors.contains("access was denied"))
        }
    }

    // RFC 6585 §6: nothing but the status 511 tells a captive portal from a server that is misconfigured. Before the
    // first sign-in, no earlier answer shows that the server works.
    @Test(arguments: [
        ("the status 511 of a captive portal", ScriptedAnswer.trouble(511), 6),
        ("the redirect of a captive portal", .redirect(to: "http://portal.example.com/"), 5),
        ("the page of a captive portal", .html(), 5),
    ])
    func `a sign-in ends with 6 only if the answer says that it is not the server's`(
        what: String, answer: ScriptedAnswer, status: Int32
    ) async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run { server in
            server.change { $0.interruptions = [Interruption(at: .metadata, answer)] }
            let arguments = ["login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "print"]
            let login = try await CommandLineTool.run(arguments, home: directory.url)
            #expect(login.status == status, "\(what): \(login.errors)")
            server.change { $0.interruptions = [] }
            #expect(try await CommandLineTool.signIn(at: server, home: directory.url).status == 0)
        }
    }

    @Test func `a sign-in with the certificate of another host ends with 5 and names the remedy`() async throws {
        let directory = try TemporaryDirectory()
        let authority = try TLSAuthority()
        try await authority.run(names: "DNS:portal.example.com") { port in
            let login = try await CommandLineTool.run(
                ["login", "https://127.0.0.1:\(port)", "--client-id", "lightbox", "--browser", "print"],
                home: directory.url, environment: ["SSL_CERT_FILE": authority.certificate])
            #expect(login.status == 5, "\(login.errors)")
            #expect(login.errors.contains("sign in to this network in a browser"), "\(login.errors)")
        }
    }

    @Test func `an answer of an API ends call with 3 only if signing in again helps`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            // A refreshed token gets 401 too.
            for (status, code) in [(400, 7), (401, 7), (403, 7), (404, 7), (409, 7), (429, 6), (503, 6), (511, 6)]
                as [(Int, Int32)]
            {
                server.change { $0.interruptions = [Interruption(at: .api, .trouble(status))] }
                let call = try await CommandLineTool.run(["call", server.url(of: .api)], home: home)
                #expect(call.status == code, "\(status): \(call.errors)")
            }
        }
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func `an interrupted sign-in ends with 128 and the number of the signal`(signal: Int32, status: Int32)
        async throws
    {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            for arguments in [["--browser", "print"], ["--device"]] {
                server.change { $0.device.polls = Array(repeating: .pending, count: 100) }
                let process = Mutex<ChildProcess?>(nil)
                let login = try await CommandLineTool.login(
                    [server.issuer.rawValue, "--json"] + arguments, home: home,
                    visit: { _ in
                        if let identifier = process.withLock({ $0?.identifier }) { kill(identifier, signal) }
                    }, started: { started in process.withLock { $0 = started } })
                #expect(login.status == status, "\(arguments): \(login.errors)")
                #expect(login.errors.contains(#"{"error":"interrupted","exit_code":\#(status),"#))
            }
            #expect(try await CommandLineTool.run(["profiles"], home: home).output.isEmpty)
        }
    }
}
