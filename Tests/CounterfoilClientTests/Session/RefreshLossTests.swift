@_spi(Counterfoil) import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of real processes that refresh at a server without a grace period, where a lost response ends the session.
///
/// Each series has a few runs. With the variable `COUNTERFOIL_ALL_RUNS`, it has 200.
@Suite(.timeLimit(.minutes(30)))
struct RefreshLossTests {
    private static let hasAllRuns = ProcessInfo.processInfo.environment["COUNTERFOIL_ALL_RUNS"] != nil
    private static let runs = hasAllRuns ? 200 : 5

    /// A signed-in user whose access token has expired, at a server behind a gate.
    private struct Scene: Sendable {
        let server: ScriptedAuthorizationServer
        let gate: ResponseGate
        /// The path of the token store.
        let path: String

        /// Runs a test with the store in a folder.
        static func run(
            in folder: String, _ body: @escaping @Sendable (Scene) async throws -> Void
        ) async throws {
            var script = ServerScript(.rotatesStrictly)
            script.tokens.expiresIn = .raw("0")
            try await ScriptedAuthorizationServer.run(script) { server in
                let port = try #require(URL(string: server.address)?.port.flatMap { UInt16(exactly: $0) })
                let gate = try ResponseGate(to: port)
                defer { gate.stop() }
                server.change { $0.publicOrigin = gate.origin }
                let scene = Scene(server: server, gate: gate, path: "\(folder)/tokens")
                try await scene.signIn()
                try await body(scene)
            }
        }

        var store: EncryptedFileTokenStore {
            EncryptedFileTokenStore(file: URL(fileURLWithPath: path), placement: .besideTheFile)
        }

        func signIn() async throws { try await SignedIn.at(server, in: store) }

        /// Runs `counterfoil token`.
        func token(
            started: @escaping @Sendable (ChildProcess) -> Void = { _ in }
        ) async throws -> CommandLineTool.Outcome {
            try await CommandLineTool.run(
                ["token", "--store", "file:\(path)"], home: URL(fileURLWithPath: path).deletingLastPathComponent(),
                started: started)
        }

        /// Runs `counterfoil token`, and `body` when the server has answered and the response is held.
        func tokenOfHeldResponse(
            _ body: @Sendable (ChildProcess) async throws -> Void
        ) async throws -> CommandLineTool.Outcome {
            let (processes, started) = AsyncStream.makeStream(of: ChildProcess.self)
            gate.hold()
            async let outcome = token { started.yield($0) }
            try await gate.holdsResponse()
            for await process in processes.prefix(1) { try await body(process) }
            return try await outcome
        }

        /// Expects that the session lives: the next process gets a new token.
        func lives(_ comment: Comment) async throws {
            let next = try await token()
            #expect(next.status == 0, "\(comment): \(next.errors)")
            #expect(next.output == "\(server.accessTokens.last ?? "")\n", comment)
            let kept = try await store.credentials(of: .standard)
            try #require(kept?.refreshToken?.exposed == server.refreshTokens.last, comment)
        }
    }

    /// Sends a signal, and waits until the process has taken it.
    private static func send(_ signal: Int32, to process: ChildProcess) async throws {
        kill(process.identifier, signal)
        _ = try await Waiting.until("the process to take the signal") {
            let status = try? String(contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }
            let pending = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) } ?? 0
            return pending & (1 << UInt64(signal - 1)) == 0 ? true : nil
        }
    }

    // When a terminal is closed, a program gets SIGHUP twice.
    @Test(arguments: [[SIGINT], [SIGTERM], [SIGHUP, SIGHUP]])
    func `a signal during a refresh ends the program when the new token is stored`(signals: [Int32]) async throws {
        let directory = try TemporaryDirectory()
        try await Scene.run(in: directory.url.path) { scene in
            let outcome = try await scene.tokenOfHeldResponse { process in
                for signal in signals { try await Self.send(signal, to: process) }
                scene.gate.release()
            }
            #expect(outcome.status == 128 + signals[0])
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.isEmpty)
            try await scene.lives("after \(signals)")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a second signal during a refresh ends the program at once`(signal: Int32) async throws {
        let directory = try TemporaryDirectory()
        try await Scene.run(in: directory.url.path) { scene in
            let outcome = try await scene.tokenOfHeldResponse { process in
                try await Self.send(signal, to: process)
                kill(process.identifier, signal)
            }
            #expect(outcome.status == 128 + signal)
            scene.gate.release()
        }
    }

    @Test func `a program that is stopped during a refresh stores the response when it continues`() async throws {
        let directory = try TemporaryDirectory()
        try await Scene.run(in: directory.url.path) { scene in
            let outcome = try await scene.tokenOfHeldResponse { process in
                kill(process.identifier, SIGSTOP)
                scene.gate.release()
                // The time limit of a request is 14 seconds.
                if Self.hasAllRuns { try await Task.sleep(for: .seconds(20)) }
                kill(process.identifier, SIGCONT)
            }
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(SignedIn.refreshes(at: scene.server).count == 1)
            try await scene.lives("after SIGSTOP")
        }
    }

    @Test func `a signal at any moment of a refresh loses no session`() async throws {
        let directory = try TemporaryDirectory()
        try await Scene.run(in: directory.url.path) { scene in
            var random = SeededGenerator.ofThisRun()
            for round in 0..<Self.runs {
                let signal = [SIGINT, SIGTERM, SIGHUP, SIGSTOP].randomElement(using: &random) ?? SIGINT
                let moment = UInt32.random(in: 0...200_000, using: &random)
                scene.gate.delay(.random(in: 0...100_000, using: &random))
                let outcome = try await scene.token { process in
                    Thread.detachNewThread {
                        usleep(moment)
                        kill(process.identifier, signal)
                        usleep(10_000)
                        kill(process.identifier, SIGCONT)
                    }
                }
                #expect([0, 128 + signal].contains(outcome.status), "round \(round): \(outcome.errors)")
                scene.gate.delay(0)
                try await scene.lives("round \(round), signal \(signal) after \(moment) µs")
            }
        }
    }

    @Test(.enabled(if: hasAllRuns, "it waits until a token of three seconds is due"))
    func `exec ends after the refresh in progress, although its program has ended`() async throws {
        let directory = try TemporaryDirectory()
        try await Scene.run(in: directory.url.path) { scene in
            scene.server.change { $0.tokens.expiresIn = .raw("3") }
            let flag = "\(scene.path).flag"
            let script = "echo ready >&2; until [ -e '\(flag)' ]; do sleep 0.05; done; echo done >&2"
            async let outcome = CommandLineTool.run(
                ["exec", "--store", "file:\(scene.path)", "--", "/bin/sh", "-c", script], home: directory.url,
                onLine: { line in if line == "ready" { scene.gate.hold() } else { scene.gate.release() } })
            try await scene.gate.holdsResponse()
            try Data().write(to: URL(fileURLWithPath: flag))
            #expect(try await outcome.status == 0)
            scene.server.change { $0.tokens.expiresIn = .raw("0") }
            let kept = try await scene.store.credentials(of: .standard)
            #expect(kept?.refreshToken?.exposed == scene.server.refreshTokens.last)
        }
    }

    @Test func `a connection that is cut outside of the response loses no session`() async throws {
        let directory = try TemporaryDirectory()
        try await Scene.run(in: directory.url.path) { scene in
            var random = SeededGenerator.ofThisRun()
            for round in 0..<Self.runs {
                let cuts: [ResponseGate.Cut] = [
                    .beforeRequest, .afterBytes(.random(in: 0...1500, using: &random)), .afterResponse,
                ]
                let cut = cuts.randomElement(using: &random) ?? .afterResponse
                scene.gate.cut(cut)
                let outcome = try await scene.token()
                guard scene.gate.hasDropped else {
                    #expect(outcome.status == 0, "round \(round), \(cut): \(outcome.errors)")
                    try await scene.lives("round \(round), \(cut)")
                    continue
                }
                // No client can know a token that did not arrive. The server ends the session.
                if try await scene.store.record(of: .standard) == nil { try await scene.signIn() }
            }
        }
    }

    #if os(Linux)
        /// A small file system in memory, which root can create.
        private struct SmallDisk {
            let folder: String

            /// Nil if this process may not mount it.
            init?(at folder: String) {
                guard mount("tmpfs", folder, "tmpfs", 0, "size=512k") == 0 else { return nil }
                self.folder = folder
            }

            func unmount() { umount2(folder, Int32(MNT_DETACH)) }

            private var filler: String { "\(folder)/filler" }

            /// Fills the disk.
            func fill() {
                let descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
                for size in [65536, 4096, 1] {
                    let bytes = [UInt8](repeating: 1, count: size)
                    while write(descriptor, bytes, size) > 0 {}
                }
                close(descriptor)
            }

            func makeRoom() { unlink(filler) }

            static let isAvailable = {
                guard let directory = try? TemporaryDirectory(), let disk = SmallDisk(at: directory.url.path) else {
                    return false
                }
                disk.unmount()
                return true
            }()
        }

        @Test(.enabled(if: SmallDisk.isAvailable, "this user cannot mount a small file system"))
        func `a disk that fills up during a refresh loses no session`() async throws {
            let directory = try TemporaryDirectory()
            let disk = try #require(SmallDisk(at: directory.url.path))
            defer { disk.unmount() }
            try await Scene.run(in: disk.folder) { scene in
                let outcome = try await scene.tokenOfHeldResponse { _ in
                    disk.fill()
                    scene.gate.release()
                }
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(outcome.errors.isEmpty)
                let refreshes = SignedIn.refreshes(at: scene.server).count
                // Without room for the response, nothing is sent.
                let refused = try await scene.token()
                #expect(refused.status == 6)
                #expect(refused.errors.contains("No space left on device"))
                #expect(SignedIn.refreshes(at: scene.server).count == refreshes)
                disk.makeRoom()
                try await scene.lives("after a full disk")
            }
        }

        @Test(.enabled(if: SmallDisk.isAvailable, "this user cannot mount a small file system"))
        func `a disk that fills up at any moment loses no session`() async throws {
            let directory = try TemporaryDirectory()
            let disk = try #require(SmallDisk(at: directory.url.path))
            defer { disk.unmount() }
            try await Scene.run(in: disk.folder) { scene in
                var random = SeededGenerator.ofThisRun()
                for round in 0..<Self.runs {
                    let moment = UInt32.random(in: 0...200_000, using: &random)
                    scene.gate.delay(.random(in: 0...100_000, using: &random))
                    let (ends, filled) = AsyncStream.makeStream(of: Void.self)
                    _ = try await scene.token { _ in
                        Thread.detachNewThread {
                            usleep(moment)
                            disk.fill()
                            filled.finish()
                        }
                    }
                    for await _ in ends {}
                    scene.gate.delay(0)
                    disk.makeRoom()
                    try await scene.lives("round \(round), full after \(moment) µs")
                }
            }
        }
    #endif
}
