import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

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
        _ path: String, started: @escaping @Sendable (ChildProcess) -> Void = { _ in }
    ) async throws -> CommandLineTool.Outcome {
        try await CommandLineTool.run(
            ["token", "--store", "file:\(path)"],
            home: URL(fileURLWithPath: path).deletingLastPathComponent(), started: started)
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

    // OK-20: before the server has processed the request, and after it has done everything but respond.
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
