@_spi(Counterfoil) import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of `call` with bodies that are too long for memory, or that do not end.
@Suite(.timeLimit(.minutes(5)))
struct CallStreamTests {
    /// The maximum memory of the program, in KiB.
    private static let memoryLimit = 64 * 1024
    /// The length of a body that does not fit into this memory: 5 GB with the variable `COUNTERFOIL_ALL_RUNS`.
    private static let bodyLength =
        ProcessInfo.processInfo.environment["COUNTERFOIL_ALL_RUNS"] == nil ? 96 << 20 : 5_000_000_000

    private static let eventStream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    private static let noContent = "HTTP/1.1 204 No Content\r\n\r\n"

    /// Runs a closure with the URL of an API, for which a user is signed in.
    private static func run(
        _ answer: @escaping @Sendable (borrowing SocketAPI.Exchange) -> Void,
        _ body: @escaping @Sendable (String, _ home: URL, ScriptedAuthorizationServer) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let api = try SocketAPI(answer)
        try await ScriptedAuthorizationServer.run { server in
            let login = try await CommandLineTool.signIn(at: server, home: directory.url, "--api", api.origin)
            #expect(login.status == 0, "\(login.errors)")
            try await body("\(api.origin)/photos", directory.url, server)
        }
    }

    /// The largest memory of a process so far, in KiB; 0 except on Linux.
    private static func peakMemory(of process: Int32) throws -> Int {
        #if os(Linux)
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(Int(line.filter(\.isNumber)))
        #else
            return 0
        #endif
    }

    // The server sends an event only after the previous one has appeared on standard output.
    @Test func `each event of a stream is printed as it arrives`() async throws {
        let printed = Gate()
        try await Self.run({ exchange in
            exchange.write(Self.eventStream)
            for number in 0..<4 {
                exchange.write("data: \(number)\n\n")
                guard printed.pass() else { return }
            }
        }) { url, home, _ in
            let output = try OutputPipe()
            let process = try ChildProcess(
                path: try Product.client.executable.path, arguments: ["call", url],
                environment: ["HOME": home.path, "PATH": "/usr/bin:/bin"], standardOutput: output.writingEnd)
            let text = await output.text { if $0.hasPrefix("data: ") { printed.open() } }
            #expect(text == "data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n")
            #expect(await process.exitStatus == 0)
        }
    }

    @Test func `a response of any length is copied in little memory`() async throws {
        let copied = Gate()
        // The length is prime, so that a lost or repeated part is noticed.
        let block = (0..<65_537).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        try await Self.run({ exchange in
            exchange.write("HTTP/1.1 200 OK\r\nContent-Length: \(Self.bodyLength)\r\n\r\n")
            var rest = Self.bodyLength
            while rest > 1 {
                let part = min(block.count, rest - 1)
                guard exchange.write(block.prefix(part)) else { return }
                rest -= part
            }
            // The program still runs when its memory is read.
            guard copied.pass() else { return }
            exchange.write(block.prefix(1))
        }) { url, home, _ in
            let pipe = Pipe()
            let count = Mutex(0)
            let differs = Mutex(false)
            let isRead = Gate()
            let reading = pipe.fileHandleForReading
            Thread.detachNewThread {
                var buffer = [UInt8](repeating: 0, count: 64 * 1024)
                var total = 0
                while case let length = read(reading.fileDescriptor, &buffer, buffer.count), length > 0 {
                    if total + length < Self.bodyLength {
                        let isRight =
                            buffer[0] == block[total % block.count]
                            && buffer[length - 1] == block[(total + length - 1) % block.count]
                        if !isRight { differs.withLock { $0 = true } }
                    }
                    total += length
                    count.withLock { [total] in $0 = total }
                    if total == Self.bodyLength - 1 { isRead.open() }
                }
                isRead.open()
            }
            let process = try ChildProcess(
                path: try Product.client.executable.path, arguments: ["call", url],
                environment: ["HOME": home.path, "PATH": "/usr/bin:/bin"],
                standardOutput: pipe.fileHandleForWriting.fileDescriptor)
            try pipe.fileHandleForWriting.close()
            await DetachedThread.result { _ = isRead.pass() }
            let peak = try Self.peakMemory(of: process.identifier)
            #expect(peak < Self.memoryLimit)
            copied.open()
            #expect(await process.exitStatus == 0)
            await DetachedThread.result { _ = isRead.pass() }
            #expect(count.withLock { $0 } == Self.bodyLength)
            #expect(!differs.withLock { $0 })
        }
    }

    @Test func `a file of any length is sent in little memory`() async throws {
        let isMeasured = Gate()
        let heads = Mutex<[String]>([])
        let (received, receipt) = AsyncStream.makeStream(of: Int.self)
        try await Self.run({ exchange in
            var count = 0
            exchange.readBody {
                count += $0.count
                return count >= Self.bodyLength
            }
            let head = exchange.head
            heads.withLock { $0.append(head) }
            receipt.yield(count)
            guard isMeasured.pass() else { return }
            exchange.write(Self.noContent)
        }) { url, home, _ in
            let file = home.appendingPathComponent("photos.tar")
            #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
            #expect(truncate(file.path, off_t(Self.bodyLength)) == 0)
            let process = Mutex<Int32>(0)
            async let call = CommandLineTool.run(
                ["call", "--data", "@\(file.path)", url], home: home,
                started: { child in process.withLock { $0 = child.identifier } })
            #expect(await received.first { _ in true } == Self.bodyLength)
            #expect(try Self.peakMemory(of: process.withLock { $0 }) < Self.memoryLimit)
            isMeasured.open()
            let outcome = try await call
            #expect(outcome.status == 0, "\(outcome.errors)")
            let head = try #require(heads.withLock { $0 }.first).lowercased()
            #expect(head.split(separator: "\r\n").contains("content-length: \(Self.bodyLength)"))
        }
    }

    // RFC 9112 §7.1
    @Test func `standard input is sent as it arrives`() async throws {
        let start = [UInt8](repeating: 0x7A, count: 1 << 20)
        let (received, receipt) = AsyncStream.makeStream(of: Int.self)
        let heads = Mutex<[String]>([])
        try await Self.run({ exchange in
            let head = exchange.head
            heads.withLock { $0.append(head) }
            var (count, isStarted) = (0, false)
            exchange.readBody { part in
                count += part.count { $0 == 0x7A }
                if !isStarted, count >= start.count {
                    isStarted = true
                    receipt.yield(count)
                }
                return part.suffix(5).elementsEqual("0\r\n\r\n".utf8)
            }
            exchange.write("HTTP/1.1 200 OK\r\nContent-Length: \(String(count).utf8.count)\r\n\r\n\(count)")
        }) { url, home, _ in
            let pipe = Pipe()
            async let call = CommandLineTool.run(
                ["call", "--data", "@-", url], home: home, input: pipe.fileHandleForReading.fileDescriptor)
            let writing = pipe.fileHandleForWriting
            await DetachedThread.result { try? writing.write(contentsOf: start) }
            // The rest is written when the server has the start.
            _ = await received.first { _ in true }
            try writing.write(contentsOf: Array("zzz".utf8))
            try writing.close()
            let outcome = try await call
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output == "\(start.count + 3)")
            #expect(heads.withLock { $0 }.first?.lowercased().contains("transfer-encoding: chunked") == true)
        }
    }

    @Test(arguments: [3, 1 << 21])
    func `a request is repeated with a new token if its data can be read again`(length: Int) async throws {
        let authorizations = Mutex<[String]>([])
        try await Self.run({ exchange in
            let fields = exchange.head.split(separator: "\r\n").map { String($0) }
            let field = fields.first { $0.lowercased().hasPrefix("authorization:") } ?? ""
            let isFirst = authorizations.withLock { all in
                all.append(field)
                return all.count == 1
            }
            var count = 0
            exchange.readBody { part in
                count += part.count { $0 == 0x7A }
                return count == length
            }
            exchange.write(
                isFirst
                    ? "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno\n"
                    : "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nyes\n")
        }) { url, home, server in
            let file = home.appendingPathComponent("data")
            try Data(repeating: 0x7A, count: length).write(to: file)
            // A pipe, which can be read only once.
            let piped = try await Shell.run(
                "cat '\(file.path)' | '\(try Product.client.executable.path)' call --data @- '\(url)'",
                environment: ["HOME": home.path])
            let isKept = length < 1 << 20
            #expect(piped.status == (isKept ? 0 : 6), "\(piped.errors)")
            #expect(piped.output == (isKept ? "yes\n" : "no\n"))
            #expect(
                piped.errors
                    == (isKept
                        ? ""
                        : "Error: the API rejected the token (status 401). There is a new token, so run the command again. "
                            + "The data was not sent again, because it cannot be read again; data in a file can: "
                            + "use --data @FILE\n"))
            // The token was refreshed in both cases, so the next call succeeds.
            #expect(server.requests(to: .token).count == 2)
            authorizations.withLock { $0 = [] }
            let sent = try await CommandLineTool.run(["call", "--data", "@\(file.path)", url], home: home)
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(sent.output == "yes\n")
            let used = authorizations.withLock { $0 }
            #expect(used.count == 2)
            #expect(Set(used).count == 2)
        }
    }

    // RFC 9449 §9
    @Test func `data that cannot be read again cannot answer a demand for a nonce`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("data")
        try Data(repeating: 0x7A, count: 2 << 20).write(to: URL(fileURLWithPath: file))
        let calls = Mutex(0)
        let api = try SocketAPI { exchange in
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            var count = 0
            exchange.readBody { part in
                count += part.count { $0 == 0x7A }
                return count == 2 << 20
            }
            exchange.write(
                isFirst
                    ? "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\nDPoP-Nonce: one\r\n"
                        + "Connection: close\r\nContent-Length: 0\r\n\r\n"
                    : "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: directory.url, "--api", api.origin, "--dpop", "--scope", "openid")
            #expect(login.status == 0, "\(login.errors)")
            let piped = try await Shell.run(
                "cat '\(file)' | '\(try Product.client.executable.path)' call --data @- '\(api.origin)'",
                environment: ["HOME": directory.url.path])
            #expect(piped.status == 64, "\(piped.errors)")
            #expect(piped.errors.contains("the API requires the request again with a nonce (status 401). The data was"))
            #expect(calls.withLock { $0 } == 1)
            calls.withLock { $0 = 0 }
            let sent = try await CommandLineTool.run(["call", "--data", "@\(file)", api.origin], home: directory.url)
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(calls.withLock { $0 } == 2)
        }
    }

    @Test func `a reader that closes the pipe ends the call like SIGPIPE`() async throws {
        try await Self.run({ exchange in
            exchange.write(Self.eventStream)
            while exchange.write("data: again\n\n") {}
        }) { url, home, _ in
            let outcome = try await Shell.run(
                "{ '\(try Product.client.executable.path)' call '\(url)'; echo $? >~/status; } | head -n 1; cat ~/status",
                environment: ["HOME": home.path])
            #expect(outcome.output == "data: again\n141\n")
            #expect(outcome.errors.isEmpty)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none\ncaf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\none\ncaf",
    ])
    func `the beginning of an incomplete response is printed, and the end is an error`(beginning: String) async throws {
        let printed = Gate()
        try await Self.run({ exchange in
            exchange.write(Array(beginning.utf8) + [0xC3])
            printed.pass()
        }) { url, home, _ in
            let (output, errors) = (try OutputPipe(), try OutputPipe())
            let process = try ChildProcess(
                path: try Product.client.executable.path, arguments: ["call", url],
                environment: ["HOME": home.path, "PATH": "/usr/bin:/bin"], standardOutput: output.writingEnd,
                standardError: errors.writingEnd)
            async let told = errors.text()
            #expect(await output.text { _ in printed.open() } == "one\ncaf\u{FFFD}")
            #expect(await told.hasPrefix("Error: the response is incomplete: "))
            #expect(await process.exitStatus == 6)
        }
    }

    @Test func `a silent API ends the call after the timeout`() async throws {
        let isDone = Gate()
        try await Self.run({ exchange in
            exchange.write(Self.eventStream)
            exchange.write("data: one\n\n")
            isDone.pass()
        }) { url, home, _ in
            let call = try await CommandLineTool.run(["call", "--timeout", "1", url], home: home)
            isDone.open()
            #expect(call.status == 6)
            #expect(call.output == "data: one\n\n")
            #expect(call.errors.hasPrefix("Error: the response is incomplete: "))
            #expect(call.errors.contains("did not respond in time"), "\(call.errors)")
            let wrong = try await CommandLineTool.run(["call", "--timeout", "0", url], home: home)
            #expect(wrong.status == 64)
        }
    }

    @Test func `a terminal shows each character when it is complete, and obeys none`() async throws {
        let isShown = Gate()
        try await Self.run({ exchange in
            exchange.write("HTTP/1.1 200 OK\r\n\r\none\u{1B}[2J\ttwo\r\nthree \u{202E}")
            exchange.write([0xE2, 0x82])
            guard isShown.pass() else { return }
            exchange.write([0xAC])
            exchange.write(" four".utf8)
            exchange.write([0xF0, 0x9F, 0x98])
        }) { url, home, _ in
            let terminal = try Terminal()
            defer { terminal.end() }
            let status = try await terminal.run(["call", url], home: home) { _ in
                try await terminal.shows("three ")
                isShown.open()
            }
            #expect(status == 0, "\(terminal.text)")
            try await terminal.shows("four")
            #expect(terminal.text.replacing("\r\n", with: "\n") == "one[2J\ttwo\nthree \u{20AC} four\u{FFFD}\n")
        }
    }
}
