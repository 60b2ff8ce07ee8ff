import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable @_spi(Counterfoil) import CounterfoilClient

/// Tests of several real processes that refresh one profile, some of which are killed.
@Suite(.timeLimit(.minutes(5)))
struct RefreshProcessesTests {
    /// Signs in with an access token that has already expired, so that the next request for it causes a
    /// refresh.
    private static func signIn(_ server: ScriptedAuthorizationServer, _ path: String) async throws {
        server.change { $0.tokens.lifetime = 1 }
        try await SignedIn.at(server, in: store(path))
        server.change { $0.tokens.lifetime = 3600 }
    }

    private static func store(_ path: String) -> EncryptedFileTokenStore {
        EncryptedFileTokenStore(file: URL(fileURLWithPath: path), placement: .besideTheFile)
    }

    private static func token(
        _ path: String, _ options: String..., started: @escaping @Sendable (ChildProcess) -> Void = { _ in },
        onOutput: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> CommandLineTool.Outcome {
        try await CommandLineTool.run(
            ["token", "--store", "file:\(path)"] + options,
            home: URL(fileURLWithPath: path).deletingLastPathComponent(), onOutput: onOutput, started: started)
    }

    @Test func `seven processes that refresh at once send one request and use the same token`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            try await Self.signIn(server, path)
            let outcomes = try await withThrowingTaskGroup(of: CommandLineTool.Outcome.self) { group in
                for _ in 0..<7 { group.addTask { try await Self.token(path) } }
                return try await group.reduce(into: [CommandLineTool.Outcome]()) { $0.append($1) }
            }
            #expect(outcomes.map(\.status) == [0, 0, 0, 0, 0, 0, 0], "\(outcomes.map(\.errors))")
            #expect(SignedIn.refreshes(at: server).count == 1)
            #expect(Set(outcomes.map(\.output)) == ["\(server.accessTokens.last ?? "")\n"])
        }
    }

    /// The number of processes that start at once; 50 with the variable `COUNTERFOIL_ALL_RUNS`.
    private static let many = ProcessInfo.processInfo.environment["COUNTERFOIL_ALL_RUNS"] == nil ? 8 : 50

    private static func tokens(
        _ path: String, onOutput: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> [CommandLineTool.Outcome] {
        try await withThrowingTaskGroup(of: CommandLineTool.Outcome.self) { group in
            for _ in 0..<many { group.addTask { try await token(path, onOutput: onOutput) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    // RFC 9110 §10.2.3
    @Test func `many processes send one request in the time of Retry-After`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            try await Self.signIn(server, path)
            server.change { $0.interruptions = [Interruption(at: .token, .trouble(503, retryAfter: "600"))] }
            for outcome in try await Self.tokens(path) + [Self.token(path)] {
                #expect(outcome.status == 6, "\(outcome.errors)")
                #expect(outcome.output.isEmpty)
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    @Test func `every process says why the session has ended`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            try await Self.signIn(server, path)
            server.revokeEverything()
            for outcome in try await Self.tokens(path) + [Self.token(path)] {
                #expect(outcome.status == 3)
                #expect(outcome.errors.hasPrefix("Error: the session has ended: the server refused: invalid_grant"))
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    /// Stores a token that is due for a refresh for ten minutes before it expires, and valid for five.
    private static func makeDue(_ server: ScriptedAuthorizationServer, _ path: String) async throws -> Credentials {
        var profile = ServerProfile.okta
        profile.location = .issuer("http://{host}")
        profile.behavior.earlyRefresh = 600
        var due = try #require(try await store(path).credentials(of: .standard))
        due.expires = Date().addingTimeInterval(300)
        due.server = try VendorServer(profile, at: String(server.origin.dropFirst("http://".count)))
        try await store(path).save(due, as: .standard)
        return due
    }

    /// Runs a test with a server whose responses a gate can hold, and with a folder for the token store.
    private static func runGated(
        _ test: @escaping @Sendable (ScriptedAuthorizationServer, ResponseGate, TemporaryDirectory) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            let port = try #require(URL(string: server.address)?.port.flatMap { UInt16(exactly: $0) })
            let gate = try ResponseGate(to: port)
            defer { gate.stop() }
            server.change { $0.publicOrigin = gate.origin }
            try await test(server, gate, directory)
        }
    }

    @Test func `processes get a valid token from a silent server, and its later answer is stored`() async throws {
        try await Self.runGated { server, gate, directory in
            let path = directory.file("tokens").path
            try await Self.signIn(server, path)
            let due = try await Self.makeDue(server, path)
            gate.hold()
            let printed = Mutex(0)
            async let outcomes = Self.tokens(path) { _ in printed.withLock { $0 += 1 } }
            _ = try await Waiting.until("all tokens", within: .seconds(60)) {
                printed.withLock { $0 } == Self.many ? true : nil
            }
            // The process that refreshes outlives those that have needed the token, except in a container.
            gate.release()
            for outcome in try await outcomes {
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(outcome.output == "\(due.accessToken.exposed)\n")
            }
            _ = try await Waiting.until("a new token in the store", within: .seconds(60)) {
                try await Self.store(path).credentials(of: .standard)?.accessToken == due.accessToken ? nil : true
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
            #expect(try await Self.token(path).output == "\(server.accessTokens.last ?? "")\n")
        }
    }

    @Test func `a silent server does not hold back a valid ID token`() async throws {
        try await Self.runGated { server, gate, directory in
            let path = directory.file("tokens").path
            // The clock was set back, so the ID token is due for a refresh, however long it is valid.
            var first = try await SignedIn.at(server, scope: "openid", in: Self.store(path))
            first.received = Date().addingTimeInterval(86_400)
            try await Self.store(path).save(first, as: .standard)
            let idToken = first.idToken
            gate.hold()
            // The server answers only when the ID token was printed.
            let outcome = try await Self.token(path, "--format", "id-token", onOutput: { _ in gate.release() })
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output == idToken.map { "\($0.exposed)\n" })
            _ = try await Waiting.until("a new ID token in the store", within: .seconds(60)) {
                try await Self.store(path).credentials(of: .standard)?.idToken == idToken ? nil : true
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }

    #if os(Linux)
        /// Starts a shell as the first process of a PID namespace, whose end kills all others (pid_namespaces(7)).
        private static func shell(
            _ script: String, home: URL, errors: OutputPipe? = nil
        ) throws -> ChildProcess {
            try ChildProcess(
                path: "/usr/bin/unshare", arguments: ["-pf", "--mount-proc", "/bin/sh", "-c", script],
                environment: ["HOME": home.path, "PATH": "/usr/bin:/bin"], standardError: errors?.writingEnd)
        }

        @Test(.enabled(if: geteuid() == 0, "only root can create a PID namespace"))
        func `an early refresh in a container ends before its first process`() async throws {
            try await Self.runGated { server, gate, directory in
                // A container may be forbidden to create another one.
                guard try await Self.shell("exit 0", home: directory.url).exitStatus == 0 else { return }
                let path = directory.file("tokens").path
                try await Self.signIn(server, path)
                let due = try await Self.makeDue(server, path)
                gate.hold()
                let errors = try OutputPipe()
                let shell = try Self.shell(
                    "'\(try Product.client.executable.path)' token --store 'file:\(path)' | { read T; echo \"$T\" >&2; }",
                    home: directory.url, errors: errors)
                // The token is there before the server answers.
                let text = await errors.text { _ in gate.release() }
                #expect(text == "\(due.accessToken.exposed)\n")
                #expect(await shell.exitStatus == 0)
                let kept = try #require(try await Self.store(path).credentials(of: .standard))
                #expect(kept.refreshToken?.exposed == server.refreshTokens.last)
                #expect(kept.accessToken.exposed == server.accessTokens.last && kept.accessToken != due.accessToken)
            }
        }
    #endif

    // RFC 8707 §2.2: each refresh sends the token that the previous refresh got, at a server that accepts each once.
    @Test func `ten processes that need tokens for two APIs at once send two requests`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        let targets = ["https://photos.example.com", "https://mail.example.com"]
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            var options = NativeSignIn.Options()
            options.resources = try targets.map { try Resource($0) }
            let first = try await SignedIn.at(server, in: Self.store(path), options: options)
            let tokens = try await withThrowingTaskGroup(of: (String, CommandLineTool.Outcome).self) { group in
                for number in 0..<10 {
                    let target = targets[number % 2]
                    group.addTask { (target, try await Self.token(path, "--resource", target)) }
                }
                return try await group.reduce(into: [String: Set<String>]()) { tokens, result in
                    #expect(result.1.status == 0, "\(result.1.errors)")
                    tokens[result.0, default: []].insert(result.1.output)
                }
            }
            #expect(targets.map { tokens[$0]?.count } == [1, 1])
            #expect(tokens[targets[0]] != tokens[targets[1]])
            let requested = SignedIn.refreshes(at: server).map { $0.form.all("resource") }
            #expect(requested.count == 2 && Set(requested) == [[targets[0]], [targets[1]]])
            // The chain of refresh tokens is intact, and the access token of the whole sign-in is the same.
            let kept = try #require(try await Self.store(path).credentials(of: .standard))
            #expect(kept.accessToken == first.accessToken)
            #expect(kept.refreshToken?.exposed == server.refreshTokens.last)
        }
    }

    // Before the server has processed the request, and after it has done everything but respond.
    @Test(arguments: [Interruption.Moment.before, .after])
    func `the session survives a process that is killed before its refresh response`(
        moment: Interruption.Moment
    ) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesLeniently)) { server in
            try await Self.signIn(server, path)
            try await Self.dieWhileRefreshing(server, path, moment)
            let left = try #require(try await Self.store(path).record(of: .standard))
            #expect(left.refreshIntent != nil)
            let outcome = try await Self.token(path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output == "\(server.accessTokens.last ?? "")\n")
            let kept = try #require(try await Self.store(path).record(of: .standard))
            #expect(kept.refreshIntent == nil)
            #expect(kept.credentials.refreshToken?.exposed == server.refreshTokens.last)
        }
    }

    @Test func `a lost response that the server does not repeat ends the session with a reason`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            try await Self.signIn(server, path)
            try await Self.dieWhileRefreshing(server, path, .after)
            let outcome = try await Self.token(path)
            #expect(outcome.status == 3)
            #expect(outcome.errors.contains("the response to an earlier refresh was lost"))
            #expect(outcome.output.isEmpty)
            // Nothing prevents the next sign-in.
            let left = try await Self.store(path).record(of: .standard)
            #expect(left == nil)
            try await SignedIn.at(server, in: Self.store(path))
            #expect(try await Self.token(path).output == "\(server.accessTokens.last ?? "")\n")
        }
    }

    @Test(arguments: 0..<12)
    func `the session survives a process that is killed at any moment`(number: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesLeniently)) { server in
            try await Self.signIn(server, path)
            _ = try await Self.token(path) { process in
                Thread.detachNewThread {
                    usleep(UInt32(number) * 8_000)
                    kill(process.identifier, SIGKILL)
                }
            }
            let outcome = try await Self.token(path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output == "\(server.accessTokens.last ?? "")\n")
        }
    }

    /// Starts a refresh in a process that is killed when the server has received its request.
    private static func dieWhileRefreshing(
        _ server: ScriptedAuthorizationServer, _ path: String, _ moment: Interruption.Moment
    ) async throws {
        let (processes, started) = AsyncStream.makeStream(of: ChildProcess.self)
        server.change {
            $0.interruptions = [
                Interruption(at: .token, grantType: "refresh_token", times: 1, .silent, moment: moment)
            ]
        }
        async let outcome = token(path) { started.yield($0) }
        _ = try await server.requests(atLeast: 1) { $0.form["grant_type"] == "refresh_token" }
        for await process in processes.prefix(1) { kill(process.identifier, SIGKILL) }
        #expect(try await outcome.status == 128 + SIGKILL)
        #expect(server.requests(to: .token).count == 2)
    }
}
