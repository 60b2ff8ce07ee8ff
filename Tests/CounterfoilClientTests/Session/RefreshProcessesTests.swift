import CounterfoilProtocol
import CounterfoilTesting
import Foundation
import Testing

@testable import CounterfoilClient

/// Several real processes that refresh one profile, some of which are killed.
@Suite(.timeLimit(.minutes(5)))
struct RefreshProcessesTests {
    /// Where a process that refreshes is killed.
    enum Point: String, CaseIterable, Codable {
        /// The token is about to be sent, and that is written down.
        case afterTheIntent
        /// The server has answered, and nothing is written down.
        case afterTheAnswer
        /// The answer is kept, and nobody has used it.
        case afterTheStore
    }

    /// A store whose process dies at a point of a refresh.
    struct DyingStore: TokenStore {
        let store: EncryptedFileTokenStore
        let point: Point

        func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord? {
            try await store.record(of: profile)
        }

        func update(
            _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> TokenRecord? {
            let isIntent = try await store.record(of: profile)?.refreshIntent == nil
            if !isIntent, point == .afterTheAnswer { kill(getpid(), SIGKILL) }
            let before = try await store.update(profile, decide)
            if point == (isIntent ? .afterTheIntent : .afterTheStore) { kill(getpid(), SIGKILL) }
            return before
        }

        func profiles() async throws(TokenStoreError) -> [StoredProfile] { try await store.profiles() }

        func exclusiveRight(
            to profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> ExclusiveRight {
            try await store.exclusiveRight(to: profile, within: limit)
        }
    }

    private static func store(_ path: String) -> EncryptedFileTokenStore {
        EncryptedFileTokenStore(file: URL(fileURLWithPath: path), placement: .besideTheFile)
    }

    /// How many bytes wait in a file to which processes append one each.
    private static func count(_ path: String) -> Int { FileManager.default.contents(atPath: path)?.count ?? 0 }

    private static func mark(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        _ = write(descriptor, "x", 1)
        close(descriptor)
    }

    // R185
    @Test func `seven processes that refresh at once make one request, and have the same token`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        let ready = directory.file("ready").path
        let folder = directory.url.path
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            try await SignedIn.at(server, in: Self.store(path))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<7 {
                    group.addTask {
                        await #expect(processExitsWith: .success) {
                            [
                                path = path as String, ready = ready as String, folder = folder as String,
                                number = number as Int
                            ] in
                            let session = TokenSession(
                                store: Self.store(path), transport: .standard, now: SignedIn.later)
                            Self.mark(ready)
                            while Self.count(ready) < 7 { try await Task.sleep(for: .milliseconds(1)) }
                            let token = try await session.credentials().accessToken.exposed
                            try Data(token.utf8).write(to: URL(fileURLWithPath: "\(folder)/token-\(number)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(SignedIn.refreshes(at: server).count == 1)
            let tokens = try (0..<7).map { try String(contentsOfFile: "\(folder)/token-\($0)", encoding: .utf8) }
            #expect(Set(tokens) == [try #require(server.accessTokens.last)])
        }
    }

    // OK-20
    @Test(arguments: Point.allCases)
    func `a process that is killed while it refreshes leaves a session that goes on`(point: Point) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesLeniently)) { server in
            try await SignedIn.at(server, in: Self.store(path))
            await Self.refreshAndDie(path, at: point)
            #expect(SignedIn.refreshes(at: server).count == (point == .afterTheIntent ? 0 : 1))
            let credentials = try await TokenSession(
                store: Self.store(path), transport: .standard, now: SignedIn.later
            ).credentials()
            #expect(credentials.accessToken.exposed == server.accessTokens.last)
            #expect(SignedIn.refreshes(at: server).count == (point == .afterTheAnswer ? 2 : 1))
            #expect(try await Self.store(path).record(of: .standard)?.refreshIntent == nil)
        }
    }

    @Test func `a lost answer that the server does not repeat ends the session, and says why`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            try await SignedIn.at(server, in: Self.store(path))
            await Self.refreshAndDie(path, at: .afterTheAnswer)
            let session = TokenSession(store: Self.store(path), transport: .standard, now: SignedIn.later)
            await #expect {
                try await session.credentials()
            } throws: {
                guard case .ended(.refused, afterLostAnswer: true)? = $0 as? SessionError else { return false }
                return "\($0)".contains("an earlier refresh was cut off before its answer was kept")
            }
            // Nothing is in the way of the next sign-in.
            #expect(try await Self.store(path).record(of: .standard) == nil)
            let fresh = try await SignedIn.at(server, in: Self.store(path))
            #expect(try await TokenSession(store: Self.store(path)).credentials() == fresh)
        }
    }

    @Test func `an answer that is lost on the way is asked for again`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesAndDropsTheReply)) { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let session = TokenSession(store: store, transport: .standard, now: SignedIn.later)
            await #expect {
                try await session.credentials()
            } throws: {
                if case .unavailable = $0 as? SessionError { true } else { false }
            }
            let credentials = try await session.credentials()
            #expect(credentials.accessToken.exposed == server.accessTokens.last)
        }
    }

    /// A process of its own that refreshes and is killed on its way.
    private static func refreshAndDie(_ path: String, at point: Point) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, point = point as Point] in
            let session = TokenSession(
                store: DyingStore(store: Self.store(path), point: point), transport: .standard, now: SignedIn.later)
            _ = try await session.credentials()
        }
    }
}
