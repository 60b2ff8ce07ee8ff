@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The end of a server: what it still answers, and what it tells load balancers and the service manager.
@Suite(.timeLimit(.minutes(10)))
struct StoppingTests {
    /// The requests that several tasks send until they are told that it is enough.
    private final class Load: Sendable {
        let isOver = Mutex(false)
    }

    private final class Count: Sendable {
        let number = Mutex(0)
    }

    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" }

    private static func status(_ url: String) async throws -> Int {
        var agent = UserAgent()
        return try await agent.send(.get, url).status
    }

    /// The head of a request, and a part of its body.
    private static let begun = """
        POST /oauth2/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\
        Content-Length: 12\r\n\r\ngrant_
        """

    private static func waitForEndOfListening(_ site: Site) async throws {
        try await Waiting.until("the end of listening") {
            await (try? Self.status(site.issuer + "/livez")) == nil ? () : nil
        }
    }

    @Test func `a server that stops is not ready at once, and answers requests until its delay ends`() async throws {
        try await Site.make { site in
            let socket = try NotifySocket(at: site.folder.path("notify"))
            let server = try await site.start(
                options: ["--drain-delay", "600"],
                environment: [
                    "NOTIFY_SOCKET": site.folder.path("notify"), "WATCHDOG_USEC": "2000000",
                ])
            try await server.whileRunning {
                #expect(try await Self.status(site.issuer + "/readyz") == 200)
                let last = try await RawConnection.run(port: site.port) { connection in
                    try await connection.send(Self.get("/livez"))
                    let first = try await connection.receive(until: "alive")
                    #expect(!first.lowercased().contains("connection: close"))
                    try server.signal("TERM")
                    try await Waiting.until("that the server is not ready") {
                        try await Self.status(site.issuer + "/readyz") == 503 ? () : nil
                    }
                    #expect(try await Self.status(site.issuer + "/.well-known/openid-configuration") == 200)
                    // The open connection ends with its next response, so a balancer does not use it again.
                    try await connection.send(Self.get("/livez"))
                    return try await connection.everything().dropFirst(first.count)
                }
                #expect(last.hasPrefix("HTTP/1.1 200 "))
                #expect(last.lowercased().contains("\r\nconnection: close\r\n"))

                // A second signal ends the delay.
                try server.signal("TERM")
                #expect(try await server.ended(within: .seconds(20)).status == 0)
                let (states, signs) = socket.messages
                #expect(
                    states == [
                        "READY=1\nSTATUS=Serving requests", "STOPPING=1\nSTATUS=Answering the last requests",
                    ])
                #expect(signs > 0)
            }
        }
    }

    @Test func `a connection that waits to be accepted when the server stops is answered`() async throws {
        try await Site.make { site in
            let server = try await site.start()
            try await server.whileRunning {
                // The kernel completes the connections of a process that stands still.
                try server.signal("STOP")
                let count = 100
                let sent = Count()
                let answers = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<count {
                        group.addTask {
                            try await RawConnection.run(port: site.port) { connection in
                                try await connection.send(Self.get("/livez"))
                                sent.number.withLock { $0 += 1 }
                                return try await connection.everything()
                            }
                        }
                    }
                    _ = try await Waiting.until("that every request is sent") {
                        sent.number.withLock { $0 == count } ? true : nil
                    }
                    try server.signal("TERM")
                    try server.signal("CONT")
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.count { $0.hasPrefix("HTTP/1.1 200 ") } == count)
                #expect(try await server.ended(within: .seconds(20)).status == 0)
            }
        }
    }

    @Test func `a request that has begun is answered, and no further connection is accepted`() async throws {
        try await Site.make { site in
            let server = try await site.start()
            try await server.whileRunning {
                let answer = try await RawConnection.run(port: site.port) { connection in
                    try await connection.send(Self.begun)
                    try server.signal("TERM")
                    try await Self.waitForEndOfListening(site)
                    try await connection.send("type=x")
                    return try await connection.everything()
                }
                #expect(RawConnection.status(of: answer) == 400)
                #expect(answer.lowercased().contains("\r\nconnection: close\r\n"))
                #expect(try await server.ended(within: .seconds(20)).status == 0)
            }
        }
    }

    @Test func `a request that does not end is cut off at the deadline`() async throws {
        try await Site.make { site in
            let server = try await site.start(options: ["--stop-timeout", "1"])
            try await server.whileRunning {
                let answer = try await RawConnection.run(port: site.port) { connection in
                    try await connection.send(Self.begun)
                    try server.signal("TERM")
                    return (try? await connection.everything()) ?? ""
                }
                #expect(answer == "")
                let ended = try await server.ended(within: .seconds(20))
                #expect(ended.status == 0)
                #expect(ended.errors.contains("closed connections at the deadline of the stop"))
            }
        }
    }

    @Test func `a client of the metrics does not delay the stop`() async throws {
        try await Site.make { site in
            let server = try await site.start(
                options: ["--metrics-listen", "127.0.0.1:0", "--stop-timeout", "600"])
            try await server.whileRunning {
                let port = try await server.said("where metrics are") { program in
                    program.errors.firstMatch(of: /Metrics are at http:\/\/127\.0\.0\.1:(\d+)\//).flatMap {
                        Int($0.output.1)
                    }
                }
                try await RawConnection.run(port: port) { connection in
                    try await connection.send("GET /metrics HTTP/1.1\r\nHost:")
                    try server.signal("TERM")
                    #expect(try await server.ended(within: .seconds(10)).status == 0)
                }
            }
        }
    }

    @Test func `restarts on a socket of systemd refuse no connection, and lose no request`() async throws {
        let socket = try ListeningSocket()
        try await Site.make { site in
            func start() async throws -> RunningProgram {
                try await site.start(
                    listen: ["systemd:http"], passing: socket.handle, environment: ["LISTEN_FDNAMES": "http"])
            }
            let port = socket.port
            let url = "http://127.0.0.1:\(port)/livez"
            var server = try await start()
            let load = Load()
            let total = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var count = 0
                        while !load.isOver.withLock({ $0 }) {
                            let answer = try await RawConnection.exchange(
                                "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                                port: port)
                            #expect(RawConnection.status(of: answer) == 200)
                            count += 1
                        }
                        return count
                    }
                }
                for _ in 0..<3 {
                    #expect(try await Self.status(url) == 200)
                    try server.signal("TERM")
                    #expect(try await server.ended(within: .seconds(20)).status == 0)
                    server = try await start()
                }
                load.isOver.withLock { $0 = true }
                return try await group.reduce(0, +)
            }
            #expect(total > 0)
            await server.stop()
        }
    }

    @Test func `a server without a socket of systemd says which one is missing`() async throws {
        try await Site.make { site in
            let ended = try await site.administer([
                "serve", "--issuer", site.issuer, "--listen", "systemd:http",
            ])
            #expect(ended.status == 3)
            #expect(
                ended.errors == """
                    counterfoil-server: --listen systemd:http: systemd has passed no socket named http; add a socket \
                    unit with FileDescriptorName=http

                    """)
        }
    }

    @Test(arguments: [
        ("1", "systemd has passed sockets that no option names: web; name each with --listen systemd:NAME"),
        ("65", "LISTEN_FDS must be a number of sockets from 0 to 64"),
    ])
    func `a socket of systemd that no option names is an error`(count: String, message: String) async throws {
        let socket = try ListeningSocket()
        try await Site.make { site in
            let server = try RunningProgram(
                .server,
                [
                    "serve", "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)", "--data-dir",
                    site.dataDirectory,
                ], environment: ["LISTEN_FDNAMES": "web", "LISTEN_FDS": count], passing: socket.handle, in: site.folder)
            let ended = try await server.ended(within: .seconds(20))
            #expect(ended.status == 3)
            #expect(ended.errors.contains(message), "\(ended.errors)")
        }
    }
}
