import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of several real processes that use one store, some of which are killed.
@Suite(.timeLimit(.minutes(5)))
struct TokenStoreProcessesTests {
    private static func store(_ path: String) -> EncryptedFileTokenStore {
        EncryptedFileTokenStore(file: URL(fileURLWithPath: path), placement: .besideTheFile)
    }

    /// Returns the length of a file to which each process appends one byte.
    private static func count(_ path: String) -> Int { FileManager.default.contents(atPath: path)?.count ?? 0 }

    private static func mark(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        _ = write(descriptor, "x", 1)
        close(descriptor)
    }

    private static func isBusy(_ error: any Error) -> Bool {
        if case .busy(_, let holder?) = error as? TokenStoreError { holder > 0 } else { false }
    }

    @Test func `one of eight processes that replace the same record succeeds`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        let wins = directory.file("wins").path
        let ready = directory.file("ready").path
        try await Self.store(path).save(EncryptedFileTokenStoreTests.credentials("start"), as: .standard)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    await #expect(processExitsWith: .success) {
                        [path = path as String, wins = wins as String, ready = ready as String, number = number as Int]
                        in
                        let store = Self.store(path)
                        let found = try #require(try await store.record(of: .standard))
                        Self.mark(ready)
                        _ = try await Waiting.until("the other processes") { Self.count(ready) < 8 ? nil : true }
                        let credentials = try EncryptedFileTokenStoreTests.credentials("number-\(number)")
                        if case .replaced = try await store.replace(found, with: credentials, in: .standard) {
                            Self.mark(wins)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(Self.count(wins) == 1)
        let kept = try #require(try await Self.store(path).credentials(of: .standard))
        #expect(kept.accessToken.exposed.hasPrefix("number-"))
    }

    @Test func `eight processes that save at once all succeed`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
                        for round in 0..<5 {
                            try await Self.store(path).save(
                                EncryptedFileTokenStoreTests.credentials("token-\(round)"),
                                as: try #require(ProfileName("profile-\(number)")))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let profiles = try await Self.store(path).profiles()
        #expect(profiles.map(\.name.rawValue) == (0..<8).map { "profile-\($0)" })
    }

    @Test func `a killed process releases the lock, and its refresh intent is still stored`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        let store = Self.store(path)
        let token = try #require(RefreshToken("r1"))
        try await store.save(EncryptedFileTokenStoreTests.credentials("one", refreshToken: "r1"), as: .standard)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = Self.store(path)
            let lock = try await store.refreshLock(of: .standard, within: .seconds(10))
            let found = try #require(try await store.record(of: .standard))
            _ = try await store.beginRefresh(
                of: found, sending: try #require(RefreshToken("r1")), at: Date(), in: .standard)
            kill(getpid(), SIGKILL)
            lock.release()
        }
        let lock = try await store.refreshLock(of: .standard, within: .zero)
        let found = try #require(try await store.record(of: .standard))
        #expect(found.refreshIntent?.concerns(token) == true)
        #expect(found.credentials.refreshToken == token)
        guard
            case .replaced = try await store.replace(
                found, with: EncryptedFileTokenStoreTests.credentials("two", refreshToken: "r2"), in: .standard)
        else {
            Issue.record("the record was still the same")
            return
        }
        lock.release()
        #expect(try await store.record(of: .standard)?.refreshIntent == nil)
    }

    @Test func `a timeout of the wait for the refresh lock names the holder`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        let lock = try await Self.store(path).refreshLock(of: .standard, within: .zero)
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = path as String] in
            do {
                try await Self.store(path).refreshLock(of: .standard, within: .milliseconds(100)).release()
                exit(1)
            } catch {
                FileHandle.standardError.write(Data("\(error)".utf8))
                guard Self.isBusy(error) else { exit(2) }
            }
        }
        let words = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let wanted = "the token store is locked by another process or task (process \(getpid())); try again later"
        #expect(words.contains(wanted))
        lock.release()
    }

    @Test(arguments: 0..<12)
    func `a process killed during a write leaves a complete record`(after milliseconds: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        let store = Self.store(path)
        try await store.save(EncryptedFileTokenStoreTests.credentials("start"), as: .standard)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, milliseconds = milliseconds as Int] in
            Task.detached {
                try? await Task.sleep(for: .milliseconds(5 + milliseconds))
                kill(getpid(), SIGKILL)
            }
            while true {
                try await Self.store(path).save(
                    EncryptedFileTokenStoreTests.credentials(String(repeating: "x", count: 50_000)), as: .standard)
            }
        }
        let kept = try #require(try await store.credentials(of: .standard)).accessToken.exposed
        #expect(kept == "start" || kept == String(repeating: "x", count: 50_000))
        // The next write succeeds and deletes the incomplete temporary file.
        try await store.save(EncryptedFileTokenStoreTests.credentials("after"), as: .standard)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(names.sorted() == ["tokens", "tokens.key", "tokens.lock"])
    }

    @Test func `a full disk leaves the old record and is reported`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("tokens").path
        try await Self.store(path).save(EncryptedFileTokenStoreTests.credentials("start"), as: .standard)
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = path as String] in
            // Limits the size of this process's files, as if the disk were full.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
            #if canImport(Glibc)
                let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            #else
                let resource = RLIMIT_FSIZE
            #endif
            guard setrlimit(resource, &limit) == 0 else { exit(1) }
            do {
                try await Self.store(path).save(
                    EncryptedFileTokenStoreTests.credentials(String(repeating: "x", count: 50_000)), as: .standard)
                exit(2)
            } catch {
                FileHandle.standardError.write(Data("\(error)".utf8))
            }
        }
        let words = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(words.contains("the token store \(path) cannot be used: File too large"))
        #expect(try await Self.store(path).credentials(of: .standard)?.accessToken.exposed == "start")
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }
}
